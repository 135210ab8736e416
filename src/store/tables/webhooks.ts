/** Addresses to which events are sent, what is sent there, and how each attempt went; kept for a month. */
import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, jsonb, pgTable, primaryKey, text, unique } from 'drizzle-orm/pg-core';
import type { EventType } from '../../rules/events.js';
import type { DeliveredType, DeliveryStatus, WebhookPauseReason, WebhookState } from '../../rules/webhooks.js';
import { users } from './accounts.js';
import { createdAt, idColumn, moment, position, textList, updatedAt } from './columns.js';

/** A secret that signs what is sent, encrypted under a key of the server. */
export interface StoredSecret {
  readonly sealed: string;
  /** In milliseconds; null for the current one. */
  readonly endsAt: number | null;
}

export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    id: idColumn('webhookEndpoint').primaryKey(),
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    url: text().notNull(),
    /** Empty for all types. */
    eventTypes: textList().$type<EventType[]>().notNull(),
    status: text().$type<WebhookState>().notNull(),
    pausedReason: text().$type<WebhookPauseReason>(),
    failingSince: moment(),
    /** The newest first. */
    secrets: jsonb().$type<readonly StoredSecret[]>().notNull(),
    /** The name of the key that all of them are encrypted under. */
    sealedBy: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    /** It is gone for everybody from then on; its deliveries are deleted a little at a time. */
    deletedAt: moment(),
  },
  (t) => [
    index('webhook_endpoints_of_user').on(t.userId, t.createdAt, t.id),
    index('webhook_endpoints_by_key').on(t.sealedBy),
    index('webhook_endpoints_deleted')
      .on(t.deletedAt)
      .where(sql`${t.deletedAt} is not null`),
    check('webhook_endpoints_status', sql`${t.status} in ('active', 'paused')`),
    check('webhook_endpoints_say_why_paused', sql`(${t.status} = 'paused') = (${t.pausedReason} is not null)`),
  ],
);

export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: idColumn('webhookDelivery').primaryKey(),
    endpointId: idColumn('webhookEndpoint')
      .notNull()
      .references(() => webhookEndpoints.id),
    /** Of a test, an identifier that no event has. */
    eventId: idColumn('event').notNull(),
    eventType: text().$type<DeliveredType>().notNull(),
    status: text().$type<DeliveryStatus>().notNull(),
    /** Of the present round: a redelivery begins another. */
    attemptsMade: integer().notNull().default(0),
    /** When it is to be sent; while somebody is sending it, when their claim ends. */
    dueAt: moment().notNull(),
    /** Whoever holds this sends it now. */
    claim: text(),
    createdAt: createdAt(),
    endedAt: moment(),
  },
  (t) => [
    unique('webhook_deliveries_once_an_event').on(t.endpointId, t.eventId),
    index('webhook_deliveries_in_order').on(t.endpointId, t.createdAt, t.id),
    index('webhook_deliveries_by_status').on(t.endpointId, t.status, t.createdAt, t.id),
    index('webhook_deliveries_waiting')
      .on(t.endpointId, t.dueAt)
      .where(sql`${t.status} = 'waiting'`),
    index('webhook_deliveries_by_age').on(t.createdAt),
    check('webhook_deliveries_status', sql`${t.status} in ('waiting', 'delivered', 'failed', 'skipped')`),
    check('webhook_deliveries_end', sql`(${t.status} = 'waiting') = (${t.endedAt} is null)`),
  ],
);

export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    deliveryId: idColumn('webhookDelivery')
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: 'cascade' }),
    number: integer().notNull(),
    startedAt: moment().notNull(),
    durationMs: integer().notNull(),
    responseStatus: integer(),
    error: text(),
    response: text(),
  },
  (t) => [primaryKey({ columns: [t.deliveryId, t.number] })],
);

/** One row: how far events have been made into deliveries. Whoever locks it is the one that does so. */
export const webhookCursor = pgTable(
  'webhook_cursor',
  { only: boolean().primaryKey().default(true), position: position().notNull() },
  (t) => [check('webhook_cursor_is_one', sql`${t.only}`)],
);

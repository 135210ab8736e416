/** Deliveries are kept for a month. A delivery that is waiting has a task with the same identifier. */
import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, jsonb, pgTable, primaryKey, text, unique } from 'drizzle-orm/pg-core';
import type { AccountEventType } from '../../rules/account-events.js';
import type { EventType } from '../../rules/events.js';
import type { DeliveredType, DeliveryStatus, WebhookPauseReason, WebhookState } from '../../rules/webhooks.js';
import { users } from './accounts.js';
import { createdAt, timestamp, position, textList, updatedAt } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

/** A secret that signs requests, encrypted with one of the server's keys. */
export interface StoredSecret {
  readonly sealed: string;
  /** When the secret expires, in milliseconds since 1970. Null for the current secret. */
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
    /** The event types that the endpoint receives. An empty list means all types. */
    eventTypes: textList().$type<EventType[]>().notNull(),
    /** The types of account events that the endpoint receives. An empty list means none. */
    accountEventTypes: textList().$type<AccountEventType[]>().notNull().default([]),
    status: text().$type<WebhookState>().notNull(),
    pausedReason: text().$type<WebhookPauseReason>(),
    failingSince: timestamp(),
    /** When the owner was last told that the endpoint has been failing for a day. */
    failureReportedAt: timestamp(),
    /** The endpoint's secrets, newest first. */
    secrets: jsonb().$type<readonly StoredSecret[]>().notNull(),
    /** The name of the server's key that encrypts all of these secrets. */
    keyName: text('sealed_by').notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    /** The last position among the deliveries that were deleted after a month. Null if none was deleted. */
    lastPosition: position(),
    /** True if the owner has saved searches, so events are enqueued only after they've been compared with them. */
    waitsForMatching: boolean().notNull().default(false),
    /** From this time on, no user can see the endpoint. Its deliveries are deleted in batches. */
    deletedAt: timestamp(),
  },
  (t) => [
    index('webhook_endpoints_of_user').on(t.userId, t.createdAt, t.id),
    index('webhook_endpoints_by_key').on(t.keyName),
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
    /** A test delivery has an ID that no event has. */
    eventId: idColumn<'event' | 'accountEvent'>('event').notNull(),
    eventType: text().$type<DeliveredType>().notNull(),
    status: text().$type<DeliveryStatus>().notNull(),
    /** The event's position. Null for test deliveries. */
    position: position(),
    /** The position of the event that was enqueued before this one. Null for the first. */
    previousPosition: position(),
    createdAt: createdAt(),
    endedAt: timestamp(),
  },
  (t) => [
    unique('webhook_deliveries_once_an_event').on(t.endpointId, t.eventId),
    index('webhook_deliveries_in_order').on(t.endpointId, t.createdAt, t.id),
    index('webhook_deliveries_by_position').on(t.endpointId, t.position),
    index('webhook_deliveries_by_status').on(t.endpointId, t.status, t.createdAt, t.id),
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
    startedAt: timestamp().notNull(),
    durationMs: integer().notNull(),
    responseStatus: integer(),
    error: text(),
    response: text(),
  },
  (t) => [primaryKey({ columns: [t.deliveryId, t.number] })],
);

/**
 * A table with a single row. Events up to its position have deliveries. The instance that locks the row inserts the
 * next ones.
 */
export const webhookCursor = pgTable(
  'webhook_cursor',
  {
    only: boolean().primaryKey().default(true),
    position: position().notNull(),
    /** The same, for the endpoints that wait for matching. */
    matchedPosition: position().notNull().default('0'),
  },
  (t) => [check('webhook_cursor_is_one', sql`${t.only}`)],
);

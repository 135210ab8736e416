/**
 * The events of jobs, bids, and accounts. They share one order. Events are never deleted, even if they belong to a
 * deleted draft.
 */
import { sql } from 'drizzle-orm';
import { check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { AccountEventType } from '../../rules/account-events.js';
import type { EventType } from '../../rules/events.js';
import { users } from './accounts.js';
import { timestamp, position } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';
import { jobStatus } from './jobs.js';

export const events = pgTable(
  'events',
  {
    id: idColumn('event').primaryKey(),
    jobId: idColumn('job').notNull(),
    sequence: integer().notNull(),
    type: text().$type<EventType>().notNull(),
    actorId: idColumn('user').references(() => users.id),
    /** The contractor whose bid the event is about. Other contractors can't read the event. */
    bidderId: idColumn('contractor'),
    fromStatus: jobStatus(),
    toStatus: jobStatus(),
    occurredAt: timestamp().notNull().defaultNow(),
    data: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    /** The job's owner, who never changes. The owner is stored in the event because a deleted draft has no row. */
    homeownerId: idColumn('homeowner').notNull(),
    /** `number_events` sets the position after the event is committed. The position never changes. */
    position: position(),
  },
  (t) => [
    uniqueIndex('events_in_order').on(t.jobId, t.sequence),
    uniqueIndex('events_by_position')
      .on(t.position)
      .where(sql`${t.position} is not null`),
    index('events_of_job_by_position')
      .on(t.jobId, t.position)
      .where(sql`${t.position} is not null`),
    index('events_of_homeowner_by_position')
      .on(t.homeownerId, t.position)
      .where(sql`${t.position} is not null`),
    index('events_without_position')
      .on(t.jobId, t.sequence)
      .where(sql`${t.position} is null`),
    check('events_are_numbered_from_one', sql`${t.sequence} >= 1`),
  ],
);

export const accountEvents = pgTable(
  'account_events',
  {
    id: idColumn('accountEvent').primaryKey(),
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    type: text().$type<AccountEventType>().notNull(),
    /** The admin who caused the event. Null if the service or anyone using the account caused it. */
    actorId: idColumn('user').references(() => users.id),
    occurredAt: timestamp().notNull(),
    data: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    /** `number_events` sets the position after the event is committed. No job event has the same one. */
    position: position(),
  },
  (t) => [
    uniqueIndex('account_events_by_position')
      .on(t.position)
      .where(sql`${t.position} is not null`),
    index('account_events_of_user_by_position')
      .on(t.userId, t.position)
      .where(sql`${t.position} is not null`),
    index('account_events_without_position')
      .on(t.id)
      .where(sql`${t.position} is null`),
  ],
);

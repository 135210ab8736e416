/** What happened to jobs and bids, in order, for ever. The events of a deleted draft stay. */
import { sql } from 'drizzle-orm';
import { check, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { EventType } from '../../rules/events.js';
import { users } from './accounts.js';
import { idColumn, moment } from './columns.js';
import { jobStatus } from './jobs.js';

export const events = pgTable(
  'events',
  {
    id: idColumn('event').primaryKey(),
    jobId: idColumn('job').notNull(),
    sequence: integer().notNull(),
    type: text().$type<EventType>().notNull(),
    actorId: idColumn('user').references(() => users.id),
    /** Whose bid an event is about; what happens to a bid is not for other contractors. */
    bidderId: idColumn('contractor'),
    fromStatus: jobStatus(),
    toStatus: jobStatus(),
    occurredAt: moment().notNull().defaultNow(),
    data: jsonb().$type<Record<string, unknown>>().notNull().default({}),
  },
  (t) => [
    uniqueIndex('events_in_order').on(t.jobId, t.sequence),
    check('events_are_numbered_from_one', sql`${t.sequence} >= 1`),
  ],
);

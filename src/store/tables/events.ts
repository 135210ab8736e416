/** What happened to jobs and bids, in order, for ever. The events of a deleted draft stay. */
import { sql } from 'drizzle-orm';
import { check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { EventType } from '../../rules/events.js';
import { users } from './accounts.js';
import { idColumn, moment, position } from './columns.js';
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
    /** Whose job it is, which never changes; it is known of deleted drafts too. */
    homeownerId: idColumn('homeowner').notNull(),
    /** The place among all events. It is given after the commit, by `number_events`, and never changes. */
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

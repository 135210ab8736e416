/** Reviews by contractor, in list order. The events are the source, and a trigger copies the reviews here. */
import { check, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';
import { contractors, users } from './accounts.js';
import { timestamp } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';
import { jobs } from './jobs.js';

export const reviews = pgTable(
  'reviews',
  {
    id: idColumn('review').primaryKey(),
    jobId: idColumn('job')
      .notNull()
      .unique('reviews_one_a_job')
      .references(() => jobs.id),
    contractorId: idColumn('contractor')
      .notNull()
      .references(() => contractors.id),
    authorId: idColumn('user')
      .notNull()
      .references(() => users.id),
    rating: integer(),
    review: text(),
    createdAt: timestamp().notNull(),
  },
  (t) => [
    index('reviews_of_contractor').on(t.contractorId, t.createdAt, t.id),
    check('reviews_say_something', sql`${t.rating} is not null or ${t.review} is not null`),
  ],
);

/** The queue: what is to be done after a commit. A row is deleted once it is done. */
import { index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { byteOrderedText, createdAt, moment } from './columns.js';

export const tasks = pgTable(
  'tasks',
  {
    /** That of the row which the task is about, such as a delivery: it is queued once. */
    id: byteOrderedText().primaryKey(),
    kind: text().notNull(),
    /** Whom the task is for, such as a webhook endpoint. Each key has few places, so that no other waits for it. */
    key: byteOrderedText().notNull(),
    runAt: moment().notNull().defaultNow(),
    /** Attempts that failed. */
    attempts: integer().notNull().default(0),
    /** While an instance runs the task, when another one may take it over. */
    leasedUntil: moment(),
    createdAt: createdAt(),
  },
  (t) => [index('tasks_by_key').on(t.kind, t.key, t.runAt)],
);

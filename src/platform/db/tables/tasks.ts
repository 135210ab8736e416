/** The queue: the work to do after a commit. A row is deleted once its work is done. */
import { index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { byteOrderedText, createdAt, moment } from './columns.js';

export const tasks = pgTable(
  'tasks',
  {
    /** The ID of the row that the task is about, so each row is queued only once. */
    id: byteOrderedText().primaryKey(),
    kind: text().notNull(),
    /** The key groups tasks. Each key has only a few places, so a busy key doesn't hold up the others. */
    key: byteOrderedText().notNull(),
    runAt: moment().notNull().defaultNow(),
    /** The number of failed attempts. */
    attempts: integer().notNull().default(0),
    /** When another instance may take over a task that is running. */
    leasedUntil: moment(),
    createdAt: createdAt(),
  },
  (t) => [index('tasks_by_key').on(t.kind, t.key, t.runAt)],
);

/** The queue of work to do after a commit. A finished task's row is deleted. */
import { index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { byteOrderedText, createdAt, timestamp } from './columns.js';

export const tasks = pgTable(
  'tasks',
  {
    /** The ID of the row that the task is about. Each row is queued at most once. */
    id: byteOrderedText().primaryKey(),
    kind: text().notNull(),
    /** Groups tasks. A busy key has only a few slots, so it can't hold up other keys. */
    key: byteOrderedText().notNull(),
    runAt: timestamp().notNull().defaultNow(),
    attempts: integer().notNull().default(0),
    /** When another server may take over the running task. */
    leasedUntil: timestamp(),
    createdAt: createdAt(),
  },
  (t) => [index('tasks_by_key').on(t.kind, t.key, t.runAt)],
);

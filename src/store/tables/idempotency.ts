/** The first answers to calls that came with a key, kept for a day so that a second try gets the same. */
import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { users } from './accounts.js';
import { createdAt, idColumn } from './columns.js';

export const idempotencyRecords = pgTable(
  'idempotency_records',
  {
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    operation: text().notNull(),
    key: text().notNull(),
    /** A keyed digest of the input: inputs may hold passwords, so nothing is kept that could be guessed at. */
    inputSeal: text().notNull(),
    answer: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ name: 'idempotency_key_used', columns: [t.userId, t.operation, t.key] }),
    index('idempotency_records_by_age').on(t.createdAt),
  ],
);

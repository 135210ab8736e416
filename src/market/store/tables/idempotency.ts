/** The results of calls with an idempotency key. They're kept for a day, so a retry gets the same result. */
import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { users } from './accounts.js';
import { createdAt } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

export const idempotencyRecords = pgTable(
  'idempotency_records',
  {
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    operation: text().notNull(),
    key: text().notNull(),
    /** An HMAC of the input, so nobody can guess the input. The input may contain passwords. */
    inputHmac: text('input_seal').notNull(),
    answer: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ name: 'idempotency_key_used', columns: [t.userId, t.operation, t.key] }),
    index('idempotency_records_by_age').on(t.createdAt),
  ],
);

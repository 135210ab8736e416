/** Log-ins. A session lives until it is revoked or too old; its refresh tokens are kept only as their SHA-256. */
import { index, pgTable, text } from 'drizzle-orm/pg-core';
import { users } from './accounts.js';
import { createdAt, idColumn, moment } from './columns.js';

export const sessions = pgTable(
  'sessions',
  {
    id: idColumn('session').primaryKey(),
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    createdAt: createdAt(),
    /** No refresh carries a session beyond this; of an API key without an end it is infinity. */
    endsAt: moment().notNull(),
    revokedAt: moment(),
  },
  (t) => [index('sessions_of_user').on(t.userId), index('sessions_by_end').on(t.endsAt)],
);

export const refreshTokens = pgTable(
  'refresh_tokens',
  {
    hash: text().primaryKey(),
    sessionId: idColumn('session')
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
    expiresAt: moment().notNull(),
    /** A used token is kept, so that its second use is distinguished from a stranger's guess. */
    usedAt: moment(),
  },
  (t) => [index('refresh_tokens_of_session').on(t.sessionId)],
);

/**
 * A key for programs. It opens a session of its own, which has no refresh tokens and ends when the key does, so that
 * what is checked of a session, and what ends one, holds for keys too.
 */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: idColumn('apiKey').primaryKey(),
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    sessionId: idColumn('session')
      .notNull()
      .unique('api_keys_one_a_session')
      .references(() => sessions.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** The secret is kept as its SHA-256 alone. */
    secretHash: text().notNull().unique('api_keys_by_secret'),
    createdAt: createdAt(),
    /** To the minute, and written a little later than the use. */
    lastUsedAt: moment(),
  },
  (t) => [index('api_keys_in_order').on(t.userId, t.createdAt, t.id)],
);

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
    /** No refresh carries a session beyond this. */
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
    /** A used token is kept, so that its second use can be told from a stranger's guess. */
    usedAt: moment(),
  },
  (t) => [index('refresh_tokens_of_session').on(t.sessionId)],
);

export type Session = typeof sessions.$inferSelect;

/** A session is active until it's revoked or expires. Only a refresh token's SHA-256 hash is stored. */
import { sql } from 'drizzle-orm';
import { index, pgEnum, pgTable, text } from 'drizzle-orm/pg-core';
import { API_KEY_ACCESSES } from '../../rules/entities/api-key.js';
import { users } from './accounts.js';
import { createdAt, timestamp } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

export const sessions = pgTable(
  'sessions',
  {
    id: idColumn('session').primaryKey(),
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    createdAt: createdAt(),
    /** Refreshing can't extend a session past this time. Infinity for an API key that doesn't expire. */
    endsAt: timestamp().notNull(),
    revokedAt: timestamp(),
    /** The User-Agent header of the login request. */
    program: text(),
  },
  (t) => [
    index('sessions_of_user').on(t.userId),
    index('sessions_by_end').on(t.endsAt),
    index('sessions_in_order')
      .on(t.userId, t.createdAt, t.id)
      .where(sql`revoked_at is null`),
  ],
);

export const refreshTokens = pgTable(
  'refresh_tokens',
  {
    hash: text().primaryKey(),
    sessionId: idColumn('session')
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
    expiresAt: timestamp().notNull(),
    /** Used tokens are kept, so a reused token can be told apart from an unknown one. */
    usedAt: timestamp(),
  },
  (t) => [
    index('refresh_tokens_of_session').on(t.sessionId),
    index('refresh_tokens_unused')
      .on(t.sessionId)
      .where(sql`used_at is null`),
  ],
);

export const apiKeyAccess = pgEnum('api_key_access', API_KEY_ACCESSES);

/**
 * Each API key has its own session without refresh tokens, so the usual checks and the usual ways to end a session also
 * apply to keys.
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
    /** The SHA-256 hash of the secret, which itself isn't stored. */
    secretHash: text().notNull().unique('api_keys_by_secret'),
    access: apiKeyAccess().notNull().default('full'),
    createdAt: createdAt(),
    /** Accurate to the minute. Written shortly after the key is used. */
    lastUsedAt: timestamp(),
  },
  (t) => [index('api_keys_in_order').on(t.userId, t.createdAt, t.id)],
);

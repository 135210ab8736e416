/** What has run out is thrown away, a little at a time, by whichever instance comes first. */
import { sql } from 'drizzle-orm';
import type { Db } from './database.js';
import { statement, type Values } from './statement.js';
import { idempotencyRecords } from './tables/idempotency.js';
import { refreshTokens, sessions } from './tables/sessions.js';

/** Long enough that a stolen refresh token is still known as one, and short enough that tables stay small. */
const KEPT_DAYS_AFTER_END = 7;
const IDEMPOTENCY_HOURS = 24;
const BATCH = 5_000;

const dropRecords = statement((db, _: Values<object>) =>
  db
    .delete(idempotencyRecords)
    .where(
      sql`(user_id, operation, key) in (select user_id, operation, key from idempotency_records
        where created_at < now() - interval '${sql.raw(String(IDEMPOTENCY_HOURS))} hours'
          limit ${sql.raw(String(BATCH))})`,
    )
    .returning({ key: idempotencyRecords.key }),
);

const dropTokens = statement((db, _: Values<object>) =>
  db
    .delete(refreshTokens)
    .where(
      sql`hash in (select hash from refresh_tokens
        where expires_at < now() - interval '${sql.raw(String(KEPT_DAYS_AFTER_END))} days'
          limit ${sql.raw(String(BATCH))})`,
    )
    .returning({ hash: refreshTokens.hash }),
);

/** Their refresh tokens go with them. */
const dropSessions = statement((db, _: Values<object>) =>
  db
    .delete(sessions)
    .where(
      sql`id in (select id from sessions
        where ends_at < now() - interval '${sql.raw(String(KEPT_DAYS_AFTER_END))} days'
          limit ${sql.raw(String(BATCH))})`,
    )
    .returning({ id: sessions.id }),
);

export async function tidy(db: Db): Promise<{ records: number; tokens: number; sessions: number }> {
  return {
    records: (await dropRecords(db, {})).length,
    tokens: (await dropTokens(db, {})).length,
    sessions: (await dropSessions(db, {})).length,
  };
}

/** Deletes expired rows, a little at a time, by whichever instance comes first. */
import { sql } from 'drizzle-orm';
import { WEBHOOKS } from '../rules/limits.js';
import type { Db } from './database.js';
import { statement, type Values } from './statement.js';
import { idempotencyRecords } from './tables/idempotency.js';
import { refreshTokens, sessions } from './tables/sessions.js';
import { webhookDeliveries, webhookEndpoints } from './tables/webhooks.js';

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

/** Of deleted endpoints all, and of all others what is too old, be it sent or not. Their attempts go with them. */
const dropDeliveries = statement((db, _: Values<object>) =>
  db
    .delete(webhookDeliveries)
    .where(
      sql`id in (select id from webhook_deliveries
          where created_at < now() - interval
            '${sql.raw(String(WEBHOOKS.deliveriesKeptDays))} days' limit ${sql.raw(String(BATCH))})
        or id in (select d.id from webhook_endpoints w join webhook_deliveries d on d.endpoint_id = w.id
          where w.deleted_at is not null limit ${sql.raw(String(BATCH))})`,
    )
    .returning({ id: webhookDeliveries.id }),
);

/** Nothing is made for an endpoint that is deleted, but for what an instance was just about to commit. */
const dropEndpoints = statement((db, _: Values<object>) =>
  db
    .delete(webhookEndpoints)
    .where(
      sql`deleted_at < now() - interval '1 hour'
        and not exists (select from webhook_deliveries d where d.endpoint_id = "webhook_endpoints"."id")`,
    )
    .returning({ id: webhookEndpoints.id }),
);

/** How many of each were deleted. */
export interface Tidied {
  readonly records: number;
  readonly tokens: number;
  readonly sessions: number;
  readonly deliveries: number;
  readonly endpoints: number;
}

export async function tidy(db: Db): Promise<Tidied> {
  return {
    records: (await dropRecords(db, {})).length,
    tokens: (await dropTokens(db, {})).length,
    sessions: (await dropSessions(db, {})).length,
    deliveries: (await dropDeliveries(db, {})).length,
    endpoints: (await dropEndpoints(db, {})).length,
  };
}

/** Deletes expired rows, a little at a time, by whichever instance comes first. */
import { sql, type SQL } from 'drizzle-orm';
import { WEBHOOKS } from '../rules/limits.js';
import type { Db } from './database.js';
import { recordIsTooOld } from './idempotency.js';
import { statement, type Values } from './statement.js';
import { idempotencyRecords } from './tables/idempotency.js';
import { refreshTokens, sessions } from './tables/sessions.js';
import { webhookDeliveries, webhookEndpoints } from './tables/webhooks.js';

/** Not while a server starts, and soon afterwards: some servers are replaced before an hour is over. */
const FIRST_AFTER_MS = 60_000;
const EVERY_MS = 60 * 60 * 1000;
/** For so long a stolen refresh token of a session that has ended is still known as one. */
const KEPT_DAYS_AFTER_END = 7;
/** What one statement deletes, so that it ends long before its time-out. */
const BATCH = 5_000;
const BATCHES_MAX = 1_000;

const batch = sql.raw(`limit ${BATCH}`);
const daysAgo = (days: number): SQL => sql.raw(`now() - interval '${days} days'`);

const dropRecords = statement((db, _: Values<object>) =>
  db
    .delete(idempotencyRecords)
    .where(
      sql`(user_id, operation, key) in (select user_id, operation, key from idempotency_records
        where ${recordIsTooOld} ${batch})`,
    )
    .returning({ key: idempotencyRecords.key }),
);

/**
 * Not before their session has ended, or the theft of one that was used long ago would go unnoticed: it would be a
 * stranger to a session that goes on. A session ends by itself, and so its tokens are bounded.
 */
const dropTokens = statement((db, _: Values<object>) =>
  db
    .delete(refreshTokens)
    .where(
      // `offset 0` has the tokens of each such session looked up, in place of all tokens read.
      sql`hash in (select t.hash from sessions s
        cross join lateral (select hash from refresh_tokens where session_id = s.id offset 0) t
        where s.ends_at < ${daysAgo(KEPT_DAYS_AFTER_END)} ${batch})`,
    )
    .returning({ hash: refreshTokens.hash }),
);

/** Those with tokens wait: however many one has, they are deleted in batches and not by the session's cascade. */
const dropSessions = statement((db, _: Values<object>) =>
  db
    .delete(sessions)
    .where(
      sql`id in (select s.id from sessions s where s.ends_at < ${daysAgo(KEPT_DAYS_AFTER_END)}
        and not exists (select from refresh_tokens t where t.session_id = s.id) ${batch})`,
    )
    .returning({ id: sessions.id }),
);

/** What is too old, be it sent or not. Its attempts go with it. */
const dropOldDeliveries = statement((db, _: Values<object>) =>
  db
    .delete(webhookDeliveries)
    .where(
      sql`id in (select id from webhook_deliveries
        where created_at < ${daysAgo(WEBHOOKS.deliveriesKeptDays)} ${batch})`,
    )
    .returning({ id: webhookDeliveries.id }),
);

const dropDeliveriesOfDeleted = statement((db, _: Values<object>) =>
  db
    .delete(webhookDeliveries)
    .where(
      sql`id in (select d.id from webhook_endpoints w join webhook_deliveries d on d.endpoint_id = w.id
        where w.deleted_at is not null ${batch})`,
    )
    .returning({ id: webhookDeliveries.id }),
);

/** Nothing is made for an endpoint that is deleted, but for what an instance was just about to commit. */
const dropEndpoints = statement((db, _: Values<object>) =>
  db
    .delete(webhookEndpoints)
    .where(
      sql`id in (select w.id from webhook_endpoints w where w.deleted_at < now() - interval '1 hour'
        and not exists (select from webhook_deliveries d where d.endpoint_id = w.id) ${batch})`,
    )
    .returning({ id: webhookEndpoints.id }),
);

/** In this order: what refers to something goes before it. */
const DROPS = {
  records: dropRecords,
  tokens: dropTokens,
  sessions: dropSessions,
  oldDeliveries: dropOldDeliveries,
  deliveriesOfDeleted: dropDeliveriesOfDeleted,
  endpoints: dropEndpoints,
} as const;

type Kind = keyof typeof DROPS;
type OnFailure = (kind: Kind, error: unknown) => void;

/** How many of each were deleted. */
type Tidied = Readonly<Record<Kind, number>>;

/** One kind whose rows cannot be deleted keeps none of the others. */
export async function tidy(db: Db, onFailure: OnFailure, signal?: AbortSignal): Promise<Tidied> {
  const tidied: Record<Kind, number> = {
    records: 0,
    tokens: 0,
    sessions: 0,
    oldDeliveries: 0,
    deliveriesOfDeleted: 0,
    endpoints: 0,
  };
  for (const kind of Object.keys(DROPS) as Kind[]) {
    try {
      for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
        if (signal?.aborted) return tidied;
        const dropped: readonly unknown[] = await DROPS[kind](db, {});
        tidied[kind] += dropped.length;
        if (dropped.length < BATCH) break;
      }
    } catch (error) {
      onFailure(kind, error);
    }
  }
  return tidied;
}

/** Tidies soon, and then every hour, until it is closed. */
export function keepTidy(db: Db, onFailure: OnFailure): { close(): Promise<void> } {
  const closing = new AbortController();
  let running: Promise<unknown> | undefined;
  const look = () => {
    running ??= tidy(db, onFailure, closing.signal).finally(() => (running = undefined));
  };
  const first = setTimeout(look, FIRST_AFTER_MS);
  const looking = setInterval(look, EVERY_MS);
  return {
    close: async () => {
      clearTimeout(first);
      clearInterval(looking);
      closing.abort();
      await running;
    },
  };
}

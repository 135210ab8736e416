/** Deletes expired rows in small batches. Any instance can run this cleanup. */
import { sql, type SQL } from 'drizzle-orm';
import { HOUSEKEEPING, MAIL, WEBHOOKS } from '../rules/market-limits.js';
import type { Db } from '../../platform/db/database.js';
import { recordIsTooOld } from './idempotency-records.js';
import { builder, statement, type Placeholders } from '../../platform/db/statement.js';
import { idempotencyRecords } from './tables/idempotency.js';
import { FOREVER, mails } from './tables/mails.js';
import { refreshTokens, sessions } from './tables/sessions.js';
import { webhookDeliveries, webhookEndpoints } from './tables/webhooks.js';

const batch = sql.raw(`limit ${HOUSEKEEPING.batchRows}`);
const daysAgo = (days: number): SQL => sql.raw(`now() - interval '${days} days'`);

/** Checks each record again, because its key may be used again while this statement waits for it. */
const dropRecords = statement('dropRecords', { key: idempotencyRecords.key }, (_: Placeholders<object>, fields) =>
  builder
    .delete(idempotencyRecords)
    .where(
      sql`(user_id, operation, key) in (select user_id, operation, key from idempotency_records
        where ${recordIsTooOld} ${batch}) and ${recordIsTooOld}`,
    )
    .returning(fields),
);

/**
 * Keeps the used tokens of active sessions, because reusing one is a sign of theft. Without its row, a reused token
 * would look like an unknown one. Every session expires, so the number of its tokens is limited.
 */
const dropTokens = statement('dropTokens', { hash: refreshTokens.hash }, (_: Placeholders<object>, fields) =>
  builder
    .delete(refreshTokens)
    .where(
      // With `offset 0`, Postgres looks up the tokens of each of these sessions instead of reading all tokens.
      sql`hash in (select t.hash from sessions s
        cross join lateral (select hash from refresh_tokens where session_id = s.id offset 0) t
        where s.ends_at < ${daysAgo(HOUSEKEEPING.keptDaysAfterEnd)} ${batch})`,
    )
    .returning(fields),
);

/**
 * Keeps sessions that still have tokens. Deleting such a session would delete all its tokens in one statement instead
 * of in batches.
 */
const dropSessions = statement('dropSessions', { id: sessions.id }, (_: Placeholders<object>, fields) =>
  builder
    .delete(sessions)
    .where(
      sql`id in (select s.id from sessions s where s.ends_at < ${daysAgo(HOUSEKEEPING.keptDaysAfterEnd)}
        and not exists (select from refresh_tokens t where t.session_id = s.id) ${batch})`,
    )
    .returning(fields),
);

/**
 * The database deletes these deliveries' attempts. This statement deletes their tasks and stores the last position. A
 * delivery that was sent again only recently still has a newer task. One that is being sent again is locked.
 */
const dropOldDeliveries = statement('dropOldDeliveries', { id: webhookDeliveries.id }, (_: Placeholders<object>) =>
  withTheirTasks(sql`select d.id from webhook_deliveries d
    where d.created_at < ${daysAgo(WEBHOOKS.deliveriesKeptDays)} and not exists (select from tasks t
      where t.id = d.id and t.created_at >= ${daysAgo(WEBHOOKS.deliveriesKeptDays)}) ${batch}
    for update of d skip locked`),
);

const dropDeliveriesOfDeleted = statement(
  'dropDeliveriesOfDeleted',
  { id: webhookDeliveries.id },
  (_: Placeholders<object>) =>
    withTheirTasks(sql`select d.id from webhook_endpoints w join webhook_deliveries d on d.endpoint_id = w.id
      where w.deleted_at is not null ${batch}`),
);

const withTheirTasks = (ids: SQL) => sql`with dropped as (
    delete from webhook_deliveries where id in (${ids}) returning id, endpoint_id, position
  ), ended as (delete from tasks using dropped where tasks.id = dropped.id), kept as (
    update webhook_endpoints w set last_position = greatest(w.last_position, last.position)
    from (select endpoint_id, max(position) as position from dropped group by endpoint_id) last
    where w.id = last.endpoint_id and last.position is not null)
  select id from dropped`;

/**
 * Deletes an endpoint's row only after an hour, because another instance may still commit a delivery to the deleted
 * endpoint.
 */
const dropEndpoints = statement('dropEndpoints', { id: webhookEndpoints.id }, (_: Placeholders<object>, fields) =>
  builder
    .delete(webhookEndpoints)
    .where(
      sql`id in (select w.id from webhook_endpoints w where w.deleted_at < now() - interval '1 hour'
        and not exists (select from webhook_deliveries d where d.endpoint_id = w.id) ${batch})`,
    )
    .returning(fields),
);

/**
 * Deletes old emails, whether they were sent or not, because their links expired long before. Emails that wait for
 * support's decision are kept.
 */
const dropMails = statement('dropMails', { id: mails.id }, (_: Placeholders<object>, fields) =>
  builder
    .delete(mails)
    .where(
      sql`id in (select id from mails where created_at < ${daysAgo(MAIL.keptDays)}
        and expires_at is distinct from ${FOREVER} ${batch})`,
    )
    .returning(fields),
);

/** Rows that refer to other rows come first. */
const DROPS = {
  records: dropRecords,
  tokens: dropTokens,
  sessions: dropSessions,
  oldDeliveries: dropOldDeliveries,
  deliveriesOfDeleted: dropDeliveriesOfDeleted,
  endpoints: dropEndpoints,
  mails: dropMails,
} as const;

type Kind = keyof typeof DROPS;
type OnFailure = (kind: Kind, error: unknown) => void;

type DropCounts = Readonly<Record<Kind, number>>;

/** If deleting one kind of row fails, the other kinds are still deleted. */
export async function deleteExpired(db: Db, onFailure: OnFailure, signal?: AbortSignal): Promise<DropCounts> {
  const counts: Record<Kind, number> = {
    records: 0,
    tokens: 0,
    sessions: 0,
    oldDeliveries: 0,
    deliveriesOfDeleted: 0,
    endpoints: 0,
    mails: 0,
  };
  for (const kind of Object.keys(DROPS) as Kind[]) {
    try {
      for (let batches = 0; batches < HOUSEKEEPING.batchesMax; batches += 1) {
        if (signal?.aborted) return counts;
        const rows: readonly unknown[] = await DROPS[kind](db, {});
        counts[kind] += rows.length;
        if (rows.length < HOUSEKEEPING.batchRows) break;
      }
    } catch (error) {
      onFailure(kind, error);
    }
  }
  return counts;
}

export function startCleanup(db: Db, onFailure: OnFailure): { close(): Promise<void> } {
  const closing = new AbortController();
  let running: Promise<unknown> | undefined;
  const clean = () => {
    running ??= deleteExpired(db, onFailure, closing.signal).finally(() => (running = undefined));
  };
  const first = setTimeout(clean, HOUSEKEEPING.firstAfterMs);
  const repeated = setInterval(clean, HOUSEKEEPING.everyMs);
  return {
    close: async () => {
      clearTimeout(first);
      clearInterval(repeated);
      closing.abort();
      await running;
    },
  };
}

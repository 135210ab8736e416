/** The queue's SQL: enqueues tasks, leases them to servers, and ends them. */
import { sql, type SQL } from 'drizzle-orm';
import type { Db } from '../db/database.js';
import { statement, type Placeholders } from '../db/statement.js';
import { tasks } from '../db/tables/tasks.js';
import { QUEUE } from '../service-limits.js';

/** A task that this server runs while it holds the lease. */
export interface Task {
  readonly id: string;
  readonly key: string;
  readonly attempts: number;
  readonly leasedUntil: string;
}

const insertTaskList = statement(
  'insertTaskList',
  {},
  ($: Placeholders<{ kind: string; list: string }>) => sql`insert into tasks (id, kind, key)
    select id, ${$('kind')}, key from json_to_recordset(${$('list')}::json) as list (id text, key text)
    on conflict (id) do update set run_at = now(), created_at = now()
      where tasks.leased_until is null or tasks.leased_until <= now()`,
);

/**
 * A waiting task becomes due now, counts as new, and keeps its attempt count. A running task doesn't change.
 */
export async function insertTasks(tx: Db, kind: string, list: readonly Pick<Task, 'id' | 'key'>[]) {
  await insertTaskList(tx, { kind, list: JSON.stringify(list) });
}

interface DatedTask extends Pick<Task, 'id' | 'key'> {
  readonly kind: string;
}

/** Enqueues or reschedules a task. A server that is running it loses its lease. */
export const queueTaskAt = statement(
  'queueTaskAt',
  {},
  ($: Placeholders<DatedTask & { runAt: string }>) => sql`insert into tasks (id, kind, key, run_at)
    values (${$('id')}, ${$('kind')}, ${$('key')}, ${$('runAt')}::timestamptz)
    on conflict (id) do update set run_at = excluded.run_at, leased_until = null, attempts = 0`,
);

export const deleteTaskOf = statement(
  'deleteTaskOf',
  {},
  ($: Placeholders<DatedTask>) =>
    sql`delete from tasks where kind = ${$('kind')} and key = ${$('key')} and id = ${$('id')}`,
);

interface Claim {
  readonly kind: string;
  /** The keys of all tasks that this server runs, as a Postgres array. */
  readonly running: string;
  readonly slowKeys: string;
  /** True to claim slow keys' tasks, false for all others. */
  readonly isSlow: boolean;
  readonly slotsPerKey: number;
  readonly slots: number;
  readonly leaseSeconds: number;
}

const IS_DUE = sql.raw('run_at <= now() and (leased_until is null or leased_until <= now())');

/** The kinds that have due tasks. One poll serves all kinds. */
export const selectDueKinds = statement(
  'selectDueKinds',
  { kind: sql<string>`kinds.kind` },
  ($: Placeholders<{ kinds: string }>) => sql`select kind from unnest(${$('kinds')}::text[]) as kinds (kind)
    where exists (select from tasks where tasks.kind = kinds.kind and ${IS_DUE})`,
);

/**
 * Claims due tasks. A skip scan finds the keys, however many tasks each has. Keys come in random order, so no key waits
 * for busier ones.
 */
export function claimTasks(mayRun: (key: SQL) => SQL = () => sql`true`) {
  return statement(
    'claimTasks',
    { id: tasks.id, key: tasks.key, attempts: tasks.attempts, leasedUntil: sql<string>`tasks.leased_until` },
    ($: Placeholders<Claim>) => sql`with recursive keys as (
      (select key from tasks where kind = ${$('kind')} order by key limit 1)
      union all
      select next.key from keys cross join lateral (
        select key from tasks where kind = ${$('kind')} and key > keys.key order by key limit 1) next
    ), free as (
      select key, ${$('slotsPerKey')}::int - cardinality(array_positions(${$('running')}::text[], key)) as slots
      from keys where (key = any(${$('slowKeys')}::text[])) = ${$('isSlow')}::boolean
    ), chosen as (
      select key, slots from free
      where slots > 0
        and exists (select from tasks where kind = ${$('kind')} and key = free.key and ${IS_DUE})
        and ${mayRun(sql`free.key`)}
      order by random() limit ${$('slots')}::int
    ), claimed as (
      select next.id from chosen cross join lateral (
        select id from tasks where kind = ${$('kind')} and key = chosen.key and ${IS_DUE}
        order by run_at limit chosen.slots for update skip locked) next
      limit ${$('slots')}::int
    )
    update tasks set leased_until = now() + make_interval(secs => ${$('leaseSeconds')}::int)
    from claimed where tasks.id = claimed.id
    returning tasks.id, tasks.key, tasks.attempts, tasks.leased_until`,
  );
}

/** For the rest of the transaction. */
export const waitBriefly = statement(
  'waitBriefly',
  {},
  (_: Placeholders<object>) => sql`set local lock_timeout = '${sql.raw(String(QUEUE.lockWaitMs))}ms'`,
);

const isHeld = ($: Placeholders<Task>) => sql`id = ${$('id')} and leased_until = ${$('leasedUntil')}::timestamptz`;

/** Deletes a task. This statement and the next one return no row if the lease is lost. */
export const deleteTask = statement(
  'deleteTask',
  { id: tasks.id },
  ($: Placeholders<Task>) => sql`delete from tasks where ${isHeld($)} returning id`,
);

export const requeueTask = statement(
  'requeueTask',
  { id: tasks.id },
  ($: Placeholders<Task & { retryAfterSeconds: number }>) => sql`update tasks set leased_until = null,
      attempts = ${$('attempts')}::int, run_at = now() + make_interval(secs => ${$('retryAfterSeconds')}::float8)
    where ${isHeld($)} returning id`,
);

/** Which tasks run, when, and how often, on two servers that share one database. */
import { sql as drizzleSql } from 'drizzle-orm';
import postgres, { type Sql } from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openQueue, type Queue, type TaskEnd, type TaskKind } from '../../../src/platform/queue/queue.js';
import { QUEUE } from '../../../src/platform/service-limits.js';
import type { Task } from '../../../src/platform/queue/tasks.js';
import { LONG_TIMEOUTS } from '../../setup/long-timeouts.js';
import { freshDatabase, type FreshDatabase } from '../../setup/postgres.js';
import { until } from '../security/until.js';

const LIMITS = { slots: 6, slotsPerKey: 2, slotsOfSlowKeys: 2, leaseSeconds: 300 };
const RETRY_AFTER_SECONDS = [60, 3_600];

interface Run extends Task {
  readonly stop: AbortSignal;
  end(end: TaskEnd): void;
}

let database: FreshDatabase;
let sql: Sql;
let queues: Queue[];
/** All started tasks on any server, in order. */
let runs: Run[];
/** A task's immediate outcome. Undefined for tasks that the test ends. */
let endOf: (task: Task) => TaskEnd | undefined;
beforeEach(async () => {
  database = await freshDatabase();
  sql = postgres({ ...database.connection, max: 1, fetch_types: false });
  [runs, queues] = [[], []];
  endOf = () => undefined;
});
afterEach(async () => {
  const closed = Promise.all(queues.map((queue) => queue.close()));
  endOf = () => ({ outcome: 'not run' });
  for (const run of runs) run.end({ outcome: 'not run' });
  await closed;
  await sql.end();
  await database.drop();
});

function open(): Queue {
  const run = (task: Task, stop: AbortSignal) =>
    new Promise<TaskEnd>((end) => {
      runs.push({ ...task, stop, end });
      const atOnce = endOf(task);
      if (atOnce) end(atOnce);
    });
  const kind: TaskKind = {
    limits: LIMITS,
    mayRun: (key) => drizzleSql`not exists (select from tasks p where p.kind = 'pause' and p.key = ${key})`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    run: (_, task, stop) => run(task, stop),
  };
  const queue = openQueue({
    connection: database.connection,
    databaseWatch: { problem: undefined, onOpen: () => {} },
    log: { warn: (problem: unknown) => expect.unreachable(JSON.stringify(problem)) },
    kinds: { webhook: kind },
    timeouts: LONG_TIMEOUTS,
  });
  queues.push(queue);
  return queue;
}

const given = (key: string, count: number, sinceSeconds = 0) =>
  sql`insert into tasks (id, kind, key, run_at)
    select ${key} || n, 'webhook', ${key}, now() - make_interval(secs => ${sinceSeconds})
    from generate_series(1, ${count}::int) n`;
const waiting = async () => Number((await sql`select count(*)::int from tasks`)[0]?.count);
const rowOf = async (id: string) =>
  (await sql`select *, run_at - now() > '0' as is_later from tasks where id = ${id}`)[0];
const keysOf = (some: readonly Run[]) => some.map(({ key }) => key);
const begun = (count: number) => until(() => runs.length >= count);

it('a task whose end waits for a lock keeps no other task waiting, and ends once', async () => {
  open();
  await given('locked', 1);
  await begun(1);
  const caller = postgres({ ...database.connection, max: 1, fetch_types: false });
  await caller.begin(async (tx) => {
    await tx`select from tasks where key = 'locked' for update`;
    runs[0]?.end({ outcome: 'done' });
    await until(async () => (await sql`select from pg_locks where not granted`).length > 0);
    endOf = () => ({ outcome: 'done' });
    await given('free', 3);
    await until(async () => (await waiting()) === 1);
  });
  await until(async () => (await waiting()) === 0);
  expect(keysOf(runs).toSorted()).toEqual(['free', 'free', 'free', 'locked']);
  await caller.end();
});

it('the code that enqueues tasks doesn’t wait for the queue', async () => {
  const queue = open();
  const ask = () => queue.db.send({ name: 'one', text: 'select 1' }, []);
  await ask();
  const reserved = await sql.reserve();
  await reserved`begin`;
  await reserved`lock table tasks in access exclusive mode`;
  const blocked = async () =>
    (await reserved`select from pg_locks where relation = 'tasks'::regclass and not granted`).length;
  await until(async () => (await blocked()) === 1);
  await ask();
  expect(await blocked()).toBe(1);
  await reserved`rollback`;
  reserved.release();
});

describe('slots', () => {
  it('are few for each key, however many of its tasks wait, and however long', async () => {
    await given('busy', 1_000, 3_600);
    await given('other', 1);
    open();
    await until(() => keysOf(runs).includes('other'));
    expect(keysOf(runs).toSorted()).toEqual(['busy', 'busy', 'other']);
    runs.find(({ key }) => key === 'busy')?.end({ outcome: 'done' });
    await begun(4);
    expect(runs[3]?.key).toBe('busy');
  });

  it('of slow keys are separate from the others, and each slow key has its turn', async () => {
    const slow = ['anna', 'ben', 'carla'];
    for (const [at, key] of slow.entries()) await given(key, 20, 3_600 - at);
    open();
    await begun(LIMITS.slots);
    await given('quick', 1);
    for (const run of runs) run.end({ outcome: 'done', isSlow: true });
    await begun(LIMITS.slots + LIMITS.slotsOfSlowKeys + 1);
    const next = keysOf(runs.slice(LIMITS.slots));
    expect(next).toHaveLength(LIMITS.slotsOfSlowKeys + 1);
    expect(next.filter((key) => key === 'quick')).toHaveLength(1);
    expect(new Set(next)).toHaveLength(next.length);
    // The busy keys still have many of the oldest tasks.
    endOf = ({ key }) => (key === 'quick' ? undefined : { outcome: 'done' });
    for (const run of runs) run.end({ outcome: 'done' });
    await until(async () => (await waiting()) === 0);
    const half = keysOf(runs.slice(LIMITS.slots, LIMITS.slots + 27));
    expect(new Set(half.filter((key) => key !== 'quick'))).toEqual(new Set(slow));
  });
});

describe('a task', () => {
  it('is run once, whichever instance claims it', async () => {
    endOf = () => ({ outcome: 'done' });
    for (let key = 0; key < 20; key += 1) await given(`key${key}-`, 50);
    open();
    open();
    await until(async () => (await waiting()) === 0);
    expect(runs).toHaveLength(1_000);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(1_000);
  });

  it('waits while its key is paused, and runs once it no longer is', async () => {
    await sql`insert into tasks (id, kind, key) values ('pause', 'pause', 'paused')`;
    await given('paused', 1, 3_600);
    await given('other', 1);
    open();
    await begun(1);
    runs[0]?.end({ outcome: 'done' });
    await given('last', 1);
    await begun(2);
    expect(keysOf(runs)).toEqual(['other', 'last']);
    await sql`delete from tasks where kind = 'pause'`;
    await begun(3);
    expect(runs[2]).toMatchObject({ key: 'paused', attempts: 0 });
  });

  it('that fails is retried after each delay of its kind, up to a tenth off, and then given up', async () => {
    endOf = () => ({ outcome: 'failed' });
    await given('key', 1);
    open();
    for (const [at, seconds] of RETRY_AFTER_SECONDS.entries()) {
      await until(async () => (await rowOf('key1'))?.attempts === at + 1);
      const [row] = await sql`select leased_until, extract(epoch from run_at - now())::float8 as after from tasks`;
      expect(row?.leased_until).toBeNull();
      expect(row?.after).toBeGreaterThan(seconds * (1 - QUEUE.retrySpread) - 10);
      expect(row?.after).toBeLessThanOrEqual(seconds * (1 + QUEUE.retrySpread));
      await sql`update tasks set run_at = now()`;
    }
    await until(async () => (await waiting()) === 0);
    expect(runs.map(({ attempts }) => attempts)).toEqual([0, 1, 2]);
  });

  it('of a killed instance is run by another once its lease has expired, and not before', async () => {
    await given('killed', 1);
    await given('alive', 1);
    await sql`update tasks set leased_until = now() + interval '1 minute' * (case key when 'alive' then 1 else -1 end)`;
    open();
    await begun(1);
    await given('last', 1);
    await begun(2);
    expect(keysOf(runs)).toEqual(['killed', 'last']);
  });

  it('writes nothing once another instance has taken it over', async () => {
    await given('key', 1);
    open();
    await begun(1);
    await sql`update tasks set leased_until = now() - interval '1 second'`;
    await begun(2);
    const written: string[] = [];
    const end = (name: string): TaskEnd => ({ outcome: 'done', write: async () => written.push(name) });
    runs[0]?.end(end('late'));
    runs[1]?.end(end('in time'));
    await until(async () => (await waiting()) === 0);
    expect(written).toEqual(['in time']);
  });

  it('is released by an instance that stops, so another runs it immediately, and no attempt is counted', async () => {
    await given('key', 1);
    const stopping = open();
    await begun(1);
    runs[0]?.stop.addEventListener('abort', () => runs[0]?.end({ outcome: 'not run' }));
    await stopping.close();
    expect(await rowOf('key1')).toMatchObject({ attempts: 0, leased_until: null, is_later: false });
    open();
    await begun(2);
  });
});

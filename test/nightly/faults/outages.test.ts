/**
 * Server faults other than kills: a pool without a free connection, a deadlock, a full disk, and a clock that jumps.
 * Also several servers that start at the same time, and a stop under load. Each time, callers get Retry-After, no
 * acknowledged call is lost, and the server recovers on its own. The servers and faults are real.
 * ../security/rate-limit.test.ts covers the loss and return of Redis. STORM=long runs more rounds.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReservedSql, Sql } from 'postgres';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { checkDatabase } from '../../setup/database/checker.js';
import { ADMIN, JWT_SECRET, type Json } from '../../setup/app.js';
import { needs } from '../../setup/needs.js';
import { until } from '../../platform/security/until.js';
import { clone, type Clone } from '../../app/clone.js';
import { ownDatabase, type OwnDatabase } from '../../app/own-database.js';
import { start, startServer, type Environment } from '../../app/processes.js';
import { durablePostgres } from '../../faults/durable-postgres.js';
import type { Fields, Member, Op } from './storm/history.js';
import { onSmallDisk } from './storm/small-disk.js';
import { gather } from './storm/storm.js';
import { openWire } from './storm/wire.js';

const TERM_ROUNDS = process.env.STORM === 'long' ? 20 : 3;

let project: Clone;
beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const environment = (url: string, more: Environment = {}): Environment => ({
  DATABASE_URL: url,
  JWT_SECRET,
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'error',
  ADMIN_EMAIL: ADMIN.email,
  ADMIN_PASSWORD: ADMIN.password,
  ...more,
});

async function anOwnDatabase(): Promise<OwnDatabase> {
  const database = await ownDatabase();
  closing.push(() => database.drop());
  return database;
}

interface Calls {
  readonly url: string;
  readonly owner: Member;
  /** Sends once through REST. Returns the status, or the error code of a broken connection. */
  call(
    op: Op,
    job: string | undefined,
    body: Fields | undefined,
    key: string,
  ): Promise<{ status: number | string; data: Fields | null; saysWhen: boolean }>;
}

/** A known owner keeps their session, which outlives the server. */
async function callsOf(url: string, known?: Member): Promise<Calls> {
  const owner = known ?? (await gather([url], 1)).lanes[0]?.owner;
  if (!owner) throw new Error('Nobody signed up.');
  const wire = openWire([url]);
  closing.push(() => wire.close());
  return {
    url,
    owner,
    call: async (op, job, body, key) => {
      const attempt = await wire.send({ op, by: owner, job, body }, key, 0, 'rest');
      return 'lost' in attempt ? { status: attempt.lost, data: null, saysWhen: false } : attempt;
    },
  };
}

const DRAFT = {
  title: 'Sink',
  description: 'It drips',
  category: 'plumbing',
  urgency: 'standard',
  addressLine1: '1 Main',
  city: 'Austin',
  state: 'TX',
};
const read = async (url: string, path: string, token: string): Promise<{ status: number; body: Json }> => {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: await response.json() };
};

it("a pool blocked by others' locks: all calls are refused, and then each succeeds once", async () => {
  const database = await anOwnDatabase();
  const { call, url } = await callsOf(
    await startServer(project, environment(database.url, { DATABASE_POOL_SIZE: '3' })).url,
  );
  const hold = await aloneOn(database.sql);
  await hold`begin`;
  await hold`lock table jobs in access exclusive mode`;
  const keys = Array.from({ length: 12 }, (_, number) => `taken-${number}`);
  const refused = await Promise.all(keys.map((key) => call('create', undefined, DRAFT, key)));
  // Callers who only wait for their own earlier calls get 429.
  expect(refused.filter(({ status, saysWhen }) => !saysWhen || (status !== 503 && status !== 429))).toEqual([]);
  expect(refused.some(({ status }) => status === 503)).toBe(true);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await hold`rollback`;
  hold.release();

  const released = performance.now();
  await until(async () => (await call('create', undefined, DRAFT, 'first')).status === 201);
  const tookMs = performance.now() - released;
  expect(tookMs).toBeLessThan(2_000);
  expect(
    (await Promise.all(keys.map((key) => call('create', undefined, DRAFT, key)))).map(({ status }) => status),
  ).toEqual(keys.map(() => 201));
  expect(await database.sql`select count(*)::int as jobs from jobs`).toEqual([{ jobs: keys.length + 1 }]);
  expect(await checkDatabase(database.sql)).toEqual([]);
});

it('a deadlock that the server loses is retried, and the effect happens once', async () => {
  const database = await anOwnDatabase();
  const { call, owner } = await callsOf(await startServer(project, environment(database.url)).url);
  const job: string = (await call('create', undefined, DRAFT, 'draft')).data?.id;
  const rival = await aloneOn(database.sql);
  // The backend that checks for a deadlock first is the one that gives way. The rival never checks.
  await rival`set deadlock_timeout = '1min'`;
  await rival`begin`;
  await rival`select from token_balances where user_id = ${owner.userId} for update`;
  const published = call('publish', job, undefined, 'publish');
  await until(
    async () =>
      (
        await rival`select from pg_stat_activity where datname = current_database()
          and application_name = 'job-marketplace' and wait_event_type = 'Lock'`
      ).length > 0,
  );
  await rival`select from jobs where id = ${job} for update`;
  await rival`commit`;
  rival.release();

  expect(await published).toMatchObject({ status: 200, data: { status: 'open', tokensCharged: 5 } });
  await until(
    async () =>
      (await database.sql`select deadlocks::int from pg_stat_database where datname = current_database()`)[0]
        ?.deadlocks === 1,
  );
  expect(await database.sql`select count(*)::int as charges from token_transfers where reason = 'publish'`).toEqual([
    { charges: 1 },
  ]);
  expect(await database.sql`select count(*)::int as publications from events where type = 'job.published'`).toEqual([
    { publications: 1 },
  ]);
  expect(await checkDatabase(database.sql)).toEqual([]);
});

onSmallDisk(
  'a disk that is full: reads go on, writes are refused with Retry-After, and once there is room nothing is missing',
  300_000,
  async (disk) => {
    const postgres = await durablePostgres();
    closing.push(() => postgres.remove());
    await postgres.start();
    const sql = postgres.open('operator');
    closing.push(() => sql.end());
    postgres.own(disk.folder);
    await sql.unsafe(`create tablespace small location '${disk.folder}'`);
    await sql`alter database marketplace set default_tablespace = small`;

    const server = startServer(project, environment(postgres.url));
    const { call, url, owner } = await callsOf(await server.url);
    disk.fill();
    const made: string[] = [];
    const refused: { key: string; body: Fields }[] = [];
    for (let number = 0; refused.length < 10; number += 1) {
      if (number === 500) throw new Error('The disk never filled.');
      // Incompressible data takes its full size on disk.
      const key = `full-${number}`;
      const body = { ...DRAFT, description: randomBytes(3_000).toString('base64') };
      const { status, data, saysWhen } = await call('create', undefined, body, key);
      expect(status === 201 || (status === 503 && saysWhen)).toBe(true);
      if (data) made.push(data.id);
      else refused.push({ key, body });
    }
    expect((await read(url, '/v1/jobs', owner.token)).body.pagination.total).toBe(made.length);
    expect((await read(url, '/v1/tokens', owner.token)).body).toMatchObject({ balance: 10 });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);

    disk.free();
    for (const { key, body } of refused) {
      const { status, data } = await call('create', undefined, body, key);
      expect(status).toBe(201);
      made.push(data?.id);
    }
    expect((await sql`select id from jobs order by id`).map(({ id }) => id)).toEqual(made.sort());
    expect(await checkDatabase(sql)).toEqual([]);
    expect((await server.stop()).output).not.toContain('"level":"error"');
  },
);

needs('faketime').it(
  'a server’s clock that jumps: access tokens run out or come too early, refreshing goes on, and nothing else minds',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'marketplace-clock-'));
    closing.push(() => rmSync(folder, { recursive: true }));
    const clock = join(folder, 'clock');
    const set = (offset: string) => writeFileSync(clock, `${offset}\n`);
    set('+0');
    const preload = spawnSync('faketime', ['-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' }).stdout.trim();
    const database = await anOwnDatabase();
    const server = start(
      project,
      [process.execPath, 'dist/main.js'],
      environment(database.url, {
        LD_PRELOAD: preload,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: '1',
        DONT_FAKE_MONOTONIC: '1',
      }),
    );
    const { url, owner } = await callsOf(await server.url);
    const me = async (token: string) => (await read(url, '/v1/me', token)).status;
    const logIn = async () =>
      (await post(`${url}/v1/auth/login`, { email: 'homeowner.1@example.test', password: 'a password for the storm' }))
        .body;
    expect(await me(owner.token)).toBe(200);

    set('+16m');
    expect(await me(owner.token)).toBe(401);
    const later = await logIn();
    expect(await me(later.token)).toBe(200);
    const refreshed = await post(`${url}/v1/auth/refresh`, { refresh_token: later.refresh_token });
    expect(refreshed.status).toBe(200);

    // A token from the future is rejected. Its owner uses the refresh token instead, whose times are in the database.
    set('-1d');
    expect(await me(refreshed.body.token)).toBe(401);
    const earlier = await post(`${url}/v1/auth/refresh`, { refresh_token: refreshed.body.refresh_token });
    expect(earlier.status).toBe(200);
    expect(await me(earlier.body.token)).toBe(200);
    expect(await me((await logIn()).token)).toBe(200);
    set('+0');
    expect(await me(owner.token)).toBe(200);
    expect(await checkDatabase(database.sql)).toEqual([]);
    expect((await server.stop()).output).not.toContain('"level":"error"');
  },
);

it("a server that is stopped while its database doesn't respond ends, and doesn't wait for it", async () => {
  const database = await durablePostgres();
  closing.push(() => database.remove());
  await database.start();
  const server = startServer(project, environment(database.url, { LOG_LEVEL: 'info' }));
  await server.url;
  database.freeze();
  closing.push(() => database.thaw());
  const began = performance.now();
  const { code, output } = await server.stop();
  expect(code, output).toBe(0);
  expect(performance.now() - began).toBeLessThan(45_000);
});

it('four servers that start on an empty database migrate it once, and all are ready', async () => {
  const database = await anOwnDatabase();
  const urls = await Promise.all(Array.from({ length: 4 }, () => startServer(project, environment(database.url)).url));
  expect(await Promise.all(urls.map(async (url) => (await fetch(`${url}/readyz`)).status))).toEqual([
    200, 200, 200, 200,
  ]);
  const { entries } = JSON.parse(readFileSync('schema/migrations/meta/_journal.json', 'utf8')) as {
    entries: unknown[];
  };
  expect(
    await database.sql`select count(*)::int as applied, count(distinct created_at)::int as different
      from drizzle.__drizzle_migrations`,
  ).toEqual([{ applied: entries.length, different: entries.length }]);
});

it(
  `SIGTERM under load, ${TERM_ROUNDS} times: no connection is reset, and every acknowledged write is there`,
  { timeout: 300_000 + TERM_ROUNDS * 30_000 },
  async () => {
    const database = await anOwnDatabase();
    let known: Member | undefined;
    for (let round = 1; round <= TERM_ROUNDS; round += 1) {
      const server = startServer(project, environment(database.url));
      const { call, owner } = await callsOf(await server.url, known);
      known = owner;
      const before = await jobsIn(database.sql);
      let made = 0;
      const ends = Array.from({ length: 20 }, async (_, caller) => {
        for (let number = 0; ; number += 1) {
          const { status, saysWhen } = await call('create', undefined, DRAFT, `${round}-${caller}-${number}`);
          if (status === 201) made += 1;
          // Twenty calls from one user may wait too long for each other. They try again.
          else if (!saysWhen) return status;
        }
      });
      await until(() => made > 100);
      const { code } = await server.stop();
      expect(new Set(await Promise.all(ends))).toEqual(new Set(['ECONNREFUSED']));
      expect(code).toBe(0);
      expect((await jobsIn(database.sql)) - before).toBe(made);
    }
    expect(await checkDatabase(database.sql)).toEqual([]);
  },
);

it('SIGTERM while commits wait for an unreachable standby: the server ends, and each call is there once', async () => {
  const postgres = await durablePostgres();
  closing.push(() => postgres.remove());
  await postgres.start();
  const sql = postgres.open('operator');
  closing.push(() => sql.end());
  const server = startServer(project, environment(postgres.url));
  const { call, owner } = await callsOf(await server.url);
  let made = 0;
  const unanswered = Array.from({ length: 5 }, async (_, caller) => {
    for (let number = 0; ; number += 1) {
      const key = `waits-${caller}-${number}`;
      if ((await call('create', undefined, DRAFT, key)).status !== 201) return key;
      made += 1;
    }
  });
  await until(() => made > 50);
  await sql`alter system set synchronous_standby_names = 'nobody'`;
  await sql`select pg_reload_conf()`;
  // The transaction that numbers events waits, too. Only it holds this lock.
  await until(
    async () =>
      (
        await sql`select from pg_stat_activity join pg_locks using (pid)
          where wait_event = 'SyncRep' and locktype = 'advisory' and objid = 7203119`
      ).length > 0,
  );
  expect((await server.stop()).code).toBe(1);
  await sql`alter system reset synchronous_standby_names`;
  await sql`select pg_reload_conf()`;
  const again = await callsOf(await startServer(project, environment(postgres.url)).url, owner);
  for (const key of await Promise.all(unanswered))
    await until(async () => (await again.call('create', undefined, DRAFT, key)).status === 201);
  expect(await jobsIn(sql)).toBe(made + unanswered.length);
});

/** The driver forgets a reservation that must first open its connection. */
async function aloneOn(sql: Sql): Promise<ReservedSql> {
  await sql`select 1`;
  return sql.reserve();
}

async function jobsIn(sql: Sql): Promise<number> {
  const [row] = await sql<[{ jobs: number }]>`select count(*)::int as jobs from jobs`;
  return row.jobs;
}

async function post(address: string, body: object): Promise<{ status: number; body: Json }> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

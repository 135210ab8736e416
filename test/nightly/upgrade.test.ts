/**
 * A rolling upgrade from the previous release: two of its servers run behind HAProxy, under load. Meanwhile, the new
 * release migrates the database and replaces them one after another. No request fails, and every acknowledged write is
 * there.
 */
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Json } from '../story/answer.js';
import { checkDatabase } from '../setup/database/checker.js';
import { freeAddress, startProxy, type Proxy } from '../deploy/proxy.js';
import { migrateUpTo, migrations } from '../setup/database/migrate-up-to.js';
import { needs } from '../setup/needs.js';
import { until } from '../platform/security/until.js';
import { readiness, signUp } from '../app/callers.js';
import { clone, type Clone } from '../app/clone.js';
import { ownDatabase, type OwnDatabase } from '../app/own-database.js';
import { start, startServer, type Environment, type Started } from '../app/processes.js';
import { temporaryFolder } from '../setup/temporary-folder.js';
import { printFigures } from './figures.js';

/** The previous release, by its commit, and the last migration that it knows. */
const BEFORE = { commit: 'f3899df', migration: '0030_release_before_tasks' };
const PROJECT = join(import.meta.dirname, '../..');
const CALLERS = 8;
/** Long enough for HAProxy's check: three failures in a row, a second apart, and at most as many successes. */
const NOTICED_AFTER_MS = 5_000;
/** The number of requests while the new release's servers are restarted one after another. */
const RESTART_REQUESTS = Number(process.env.RESTART_REQUESTS ?? 20_000);
/** The number of requests between steps, to check that the two releases run side by side. */
const SIDE_BY_SIDE = Number(process.env.UPGRADE_REQUESTS ?? 1_000);

let project: Clone;
let before: ReturnType<typeof temporaryFolder>;
let database: OwnDatabase;
let proxy: Proxy;
let addresses: string[];
let servers: Started[];
beforeAll(async () => {
  project = clone();
  before = temporaryFolder('release-before');
  const archive = execFileSync('git', ['archive', BEFORE.commit], { cwd: PROJECT, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', before.path], { input: archive });
  symlinkSync(join(PROJECT, 'node_modules'), join(before.path, 'node_modules'));
  execFileSync('npm', ['run', 'build'], { cwd: before.path, stdio: 'ignore' });
  database = await ownDatabase();
});
afterAll(async () => {
  await proxy?.stop();
  await database.drop();
  project.remove();
  before.remove();
});

interface Load {
  readonly requests: () => number;
  stop(): Promise<{ failures: readonly string[]; created: readonly string[]; cancelled: readonly string[] }>;
}

/** Each caller writes a draft, edits and reads it, looks at the list, and publishes and cancels one draft in ten. */
async function openLoad(url: string, names: string): Promise<Load> {
  const failures: string[] = [];
  const created: string[] = [];
  const cancelled: string[] = [];
  let requests = 0;
  let isOpen = true;
  async function call(token: string, method: string, path: string, body?: object): Promise<Json | undefined> {
    requests += 1;
    try {
      const answer = await fetch(`${url}/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text) as Json;
      failures.push(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    } catch (error) {
      failures.push(`${method} ${path}: ${String(error)} ${String((error as Error).cause)}`);
    }
    return undefined;
  }
  async function act(token: string): Promise<void> {
    for (let n = 0; isOpen; n += 1) {
      const job = await call(token, 'POST', '/jobs', DRAFT);
      if (job === undefined) continue;
      created.push(job.id);
      await call(token, 'PUT', `/jobs/${job.id}`, { title: 'Paint the fence twice' });
      await call(token, 'GET', `/jobs/${job.id}`);
      await call(token, 'GET', '/jobs?per_page=20');
      if (n % 10 !== 0) continue;
      await call(token, 'POST', `/jobs/${job.id}/publish`);
      if (await call(token, 'POST', `/jobs/${job.id}/cancel`)) cancelled.push(job.id);
    }
  }
  const people = [];
  for (let n = 0; n < CALLERS; n += 1) people.push(await signUp(url, `${names}${n}@example.test`));
  const acting = people.map(({ token }) => act(token));
  return {
    requests: () => requests,
    stop: async () => {
      isOpen = false;
      await Promise.all(acting);
      return { failures, created, cancelled };
    },
  };
}

const DRAFT = {
  title: 'Paint the fence',
  description: 'White, both sides.',
  category: 'painting',
  urgency: 'standard',
  address_line1: '12 Elm Street',
  city: 'Austin',
  state: 'TX',
};

const environment = (): Environment => ({
  NODE_ENV: 'production',
  BCRYPT_COST: '10',
  DATABASE_URL: database.url,
  JWT_SECRET: 'a secret that every instance shares',
  RATE_LIMITS: 'off',
  TRUST_PROXY_HOPS: '1',
  LOG_LEVEL: 'warn',
  MIGRATE_ON_START: 'off',
  LAME_DUCK_SECONDS: '5',
});

async function open(folder: string, address: string): Promise<Started> {
  const server = startServer({ folder }, { ...environment(), PORT: address.split(':')[1] });
  await until(async () => (await readiness(`http://${address}`).catch(() => 0)) === 200);
  return server;
}

async function replace(at: number, folder: string): Promise<void> {
  expect((await servers[at]!.stop()).code).toBe(0);
  servers[at] = await open(folder, addresses[at]!);
  await sleep(NOTICED_AFTER_MS);
}

needs('haproxy').it('no request fails while a release takes the place of the one before', async () => {
  await migrateUpTo(database.sql, migrations().findIndex(({ tag }) => tag === BEFORE.migration) + 1);
  addresses = [await freeAddress(), await freeAddress()];
  servers = await Promise.all(addresses.map((address) => open(before.path, address)));
  proxy = await startProxy(addresses, { REQUESTS_PER_ADDRESS: '100000' });
  await until(async () => (await fetch(`${proxy.url}/healthz`)).status === 200);
  const load = await openLoad(proxy.url, 'before');
  const some = async () => {
    const upTo = load.requests() + SIDE_BY_SIDE;
    await until(() => load.requests() >= upTo);
  };
  await some();
  // The new release waits for its schema, while the other server keeps running.
  expect((await servers[0]!.stop()).code).toBe(0);
  const ready = open(project.folder, addresses[0]!);
  await some();
  const migrated = await start(project, [process.execPath, 'dist/commands/migrate.js'], environment()).ended;
  expect(migrated.code, migrated.output).toBe(0);
  servers[0] = await ready;
  await sleep(NOTICED_AFTER_MS);
  // The previous release on the new schema, and again after a rollback.
  await some();
  await replace(0, before.path);
  await some();
  await replace(0, project.folder);
  await some();
  await replace(1, project.folder);
  await some();
  const { failures, created, cancelled } = await load.stop();
  printFigures(`${load.requests()} requests, ${created.length} jobs created, ${failures.length} requests failed`);
  expect(failures).toEqual([]);
  expect(load.requests()).toBeGreaterThanOrEqual(5 * SIDE_BY_SIDE);
  const rows = await database.sql<{ id: string; title: string; status: string }[]>`select id, title, status from jobs`;
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(created));
  expect(new Set(rows.map(({ title }) => title))).toEqual(new Set(['Paint the fence twice']));
  expect(new Set(rows.filter(({ status }) => status === 'cancelled').map(({ id }) => id))).toEqual(new Set(cancelled));
  expect(await checkDatabase(database.sql)).toEqual([]);
});

needs('haproxy').it('no request fails while servers are restarted one after another', async () => {
  servers = await Promise.all(addresses.map((address) => open(project.folder, address)));
  await sleep(NOTICED_AFTER_MS);
  const load = await openLoad(proxy.url, 'again');
  let restarts = 0;
  for (; load.requests() < RESTART_REQUESTS; restarts += 1) await replace(restarts % 2, project.folder);
  const { failures, created } = await load.stop();
  printFigures(`${load.requests()} requests during ${restarts} restarts, ${failures.length} requests failed`);
  expect(failures).toEqual([]);
  const [{ count = 0 } = {}] = await database.sql<{ count: number }[]>`
    select count(*)::int from jobs where id in ${database.sql(created)}`;
  expect(count).toBe(created.length);
  expect(await checkDatabase(database.sql)).toEqual([]);
});

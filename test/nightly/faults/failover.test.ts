/**
 * The failover drill: two servers behind HAProxy, with and without PgBouncer, Redis, and a primary with a synchronous
 * standby. Under the load of the storm's clients, each is killed in turn and restored as an operator would do it. For
 * the primary, the standby is promoted. No acknowledged write is lost or doubled, and no server needs a restart.
 * FAILOVER_ROUNDS=2 also fails over to the rebuilt first cluster.
 */
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { VARIABLES } from '../../../src/app/config.js';
import { ADMIN, JWT_SECRET } from '../../setup/app.js';
import { checkDatabase } from '../../setup/database/checker.js';
import { startBouncer } from '../../deploy/bouncer.js';
import { freeAddress, startProxy } from '../../deploy/proxy.js';
import { needs } from '../../setup/needs.js';
import { createRedisServer } from '../../platform/security/redis-server.js';
import { until } from '../../platform/security/until.js';
import { seedFrom } from '../../setup/random/seed.js';
import { logIn, readiness } from '../../app/callers.js';
import { clone, type Clone } from '../../app/clone.js';
import { printFigures } from '../figures.js';
import { NAME, openClusters } from './failover/clusters.js';
import { openLoad, withLostSendings } from './failover/load.js';
import { openMovingAddress } from './failover/moving-address.js';
import { subscribe } from './live/subscriber.js';
import { isRead, succeeded } from './storm/history.js';
import { openInstances } from './storm/instances.js';
import { readRows } from './storm/rows.js';
import { findingsIn } from './storm/verdict.js';

const ROUNDS = Number(process.env.FAILOVER_ROUNDS ?? 1);
const SEED = String(seedFrom(process.env.FAILOVER_SEED));
const CLIENTS = 12;
/** Between steps of the drill. */
const OPERATIONS = 150;
/** A lost machine closes no connections. Calls that wait for its response give up after a while. */
const EVERYWHERE_WITHIN_SECONDS = 16;

let project: Clone;
beforeAll(() => void (project = clone()));
afterAll(() => project.remove());

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function drill(withBouncer: boolean): Promise<void> {
  const clusters = await openClusters();
  closing.push(() => clusters.remove());
  const { port } = clusters.primary;
  const address = await openMovingAddress(port);
  closing.push(() => address.close());
  const itself = `postgres://${NAME}@127.0.0.1:${address.port}/${NAME}`;
  const bouncer = withBouncer
    ? await startBouncer({ host: '127.0.0.1', port, username: NAME, database: NAME })
    : undefined;
  closing.push(() => bouncer?.remove());
  const redisAddress = await freeAddress();
  const redis = createRedisServer(redisAddress.split(':')[1]);
  await redis.start();
  closing.push(() => redis.remove());
  const budgets = Object.keys(VARIABLES).filter((name) => name.startsWith('RATE_LIMIT_'));
  const instances = await openInstances(project, 2, {
    ...(bouncer ? { DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: itself } : { DATABASE_URL: itself }),
    REDIS_URL: `redis://${redisAddress}`,
    ...Object.fromEntries(budgets.map((name) => [name, '1000000'])),
    TRUST_PROXY_HOPS: '1',
    JWT_SECRET,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  });
  closing.push(() => instances.stop());
  const addresses = instances.urls.map((url) => new URL(url).host);
  const proxy = await startProxy(addresses, { REQUESTS_PER_ADDRESS: '100000' });
  closing.push(() => proxy.stop());
  const throughProxy = async () => (await fetch(`${proxy.url}/healthz`)).status;
  await until(async () => (await throughProxy()) === 200);
  const load = await openLoad(proxy.url, SEED, CLIENTS);
  closing.push(() => load.close());
  const subscribers = instances.urls.map((url) => subscribe([url], load.admin, 0, '0'));
  closing.push(() => Promise.all(subscribers.map((each) => each.stop())));

  // Without PgBouncer, a server waits for the lost machine until it times out.
  const backWithinSeconds = withBouncer ? 3 : 5;
  const late: string[] = [];
  async function step(what: string, fault: { kill(): unknown; notice(): unknown; repair(): unknown }) {
    await load.more(OPERATIONS);
    load.forgetPauses();
    await fault.kill();
    await fault.notice();
    await fault.repair();
    const repairedMs = performance.now();
    const heard = subscribers.map(({ seen }) => seen.length);
    const seconds = async (isSo: () => boolean | Promise<boolean>) => {
      await until(isSo, 60_000);
      return (performance.now() - repairedMs) / 1000;
    };
    const areReady = async () => (await Promise.all(instances.urls.map(readiness))).every((status) => status === 200);
    const [back, backEverywhere] = await Promise.all([
      seconds(() => load.succeededAtMs.reads > repairedMs && load.succeededAtMs.writes > repairedMs),
      seconds(async () => subscribers.every(({ seen }, at) => seen.length > heard[at]!) && (await areReady())),
    ]);
    const figures =
      `kill -9 of ${what}: reads and writes back after ${back.toFixed(2)} s, both servers ready and sending events ` +
      `after ${backEverywhere.toFixed(2)} s; no write for ${(load.longestPauseMs() / 1000).toFixed(2)} s at most`;
    printFigures(figures);
    if (back > backWithinSeconds || backEverywhere > EVERYWHERE_WITHIN_SECONDS) late.push(figures);
  }
  /** As an operator sees it: no server is in use anymore. */
  const untilAllAreAway = () => until(async () => (await readiness(proxy.url)) === 503);

  for (let round = 1; round <= ROUNDS; round += 1) {
    await step('a server', {
      kill: () => instances.kill(round % 2),
      notice: () => load.more(OPERATIONS),
      repair: () => instances.revive(round % 2),
    });
    await step('Redis', { kill: () => redis.kill(), notice: () => load.more(OPERATIONS), repair: () => redis.start() });
    if (bouncer)
      await step('PgBouncer', { kill: () => bouncer.stop(), notice: untilAllAreAway, repair: () => bouncer.start() });
    const { body: ended } = await logIn(proxy.url, 'homeowner.1@example.test', 'a password for the storm');
    await post(`${proxy.url}/v1/auth/logout`, {}, String(ended.token));
    await step('the primary', {
      kill: () => {
        address.lose();
        clusters.primary.kill();
      },
      notice: untilAllAreAway,
      repair: async () => {
        await clusters.standby.psql(`alter system set synchronous_standby_names = ''`, 'select pg_reload_conf()');
        await clusters.standby.promote();
        address.moveTo(clusters.standby.port);
        bouncer?.reload((text) => text.replace(/port=\d+/, `port=${clusters.standby.port}`));
      },
    });
    const statuses = instances.urls.flatMap((url) => [
      fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${String(ended.token)}` } }),
      post(`${url}/v1/auth/refresh`, { refresh_token: ended.refresh_token }),
    ]);
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    const listening = `select count(*) from pg_stat_activity
      where application_name = 'job-marketplace events' and query ilike 'listen%'`;
    expect(await clusters.standby.psql(listening)).toBe(String(instances.urls.length));
    await clusters.replace();
  }
  await load.more(OPERATIONS);
  await load.stop();

  const sql = postgres(`postgres://${NAME}@127.0.0.1:${clusters.primary.port}/${NAME}`, { max: 1, onnotice: () => {} });
  closing.push(() => sql.end());
  const rows = await readRows(sql);
  const findings = findingsIn(withLostSendings(load.history), rows, load.people);
  const writes = load.history.filter((entry) => !isRead(entry.request.op) && succeeded(entry)).length;
  const ofKind = (kind: string) => findings.filter((finding) => finding.kind === kind).length;
  printFigures(
    `FAILOVER_SEED=${SEED}: ${writes} writes acknowledged, ${ofKind('lost')} lost, ${ofKind('doubled')} doubled, ` +
      `${findings.length} findings; ${rows.events.length} events`,
  );
  expect(findings.slice(0, 20)).toEqual([]);
  expect(await checkDatabase(sql)).toEqual([]);
  const positions = await sql<{ position: string }[]>`select position::text from events order by events.position`;
  await until(() => subscribers.every(({ seen }) => seen.at(-1)?.position === positions.at(-1)?.position));
  for (const { seen } of subscribers)
    expect(seen.map(({ position }) => position)).toEqual(positions.map(({ position }) => position));
  expect(instances.complaints()).toEqual([]);
  expect(late).toEqual([]);
}

function post(address: string, body: object, token?: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  return fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
}

for (const withBouncer of [true, false])
  needs('pgbouncer').it(
    `what was acknowledged survives the loss of each part, ${withBouncer ? 'behind PgBouncer' : 'without a pooler'}`,
    () => drill(withBouncer),
    300_000 * (1 + ROUNDS),
  );

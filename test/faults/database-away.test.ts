/**
 * Postgres stops under load. Callers get a message and a 503 from both APIs. The log and the metrics show the operator
 * what is down, since when, and for which calls. A server at capacity has another message.
 */
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { homeowner } from '../story/cast.js';
import { JWT_SECRET, openTestApp, type GraphqlAnswer, type Json } from '../setup/app.js';
import { metricsOf } from '../setup/metrics.js';
import { folderInMemory } from '../setup/temporary-folder.js';
import { until } from '../platform/security/until.js';
import { patiently, patientUrl, signUp } from '../app/callers.js';
import { clone, type Clone } from '../app/clone.js';
import { startServer } from '../app/processes.js';
import { durablePostgres } from './durable-postgres.js';

let project: Clone;
beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const DOCUMENT = 'query Who { viewer { user { id } tokens { available } } }';

interface Seen {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Json;
}

/** Calls one after another until it is stopped. */
function caller(call: () => Promise<Response>) {
  const seen: Seen[] = [];
  let isOver = false;
  const calling = (async () => {
    while (!isOver) {
      const response = await call();
      seen.push({
        status: response.status,
        retryAfter: response.headers.get('retry-after'),
        body: await response.json(),
      });
    }
  })();
  const count = (status: number) => seen.filter((one) => one.status === status).length;
  return { seen, count, stop: () => ((isOver = true), calling) };
}

it(
  'if the database stops under load, the server reports it within seconds, and its return too',
  { timeout: 300_000 },
  async () => {
    const postgres = await durablePostgres(folderInMemory());
    closing.push(() => postgres.remove());
    await postgres.start();
    const server = startServer(project, { DATABASE_URL: patientUrl(postgres.url), JWT_SECRET, RATE_LIMITS: 'off' });
    const url = await server.url;
    const { token } = await signUp(url, 'hanna@example.test');
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const me = (await (await fetch(`${url}/v1/me`, { headers })).json()) as Json;

    const byGraphql = caller(() =>
      fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query: DOCUMENT }) }),
    );
    const byRest = caller(() => fetch(`${url}/v1/jobs`, { headers }));
    const both = [byGraphql, byRest];
    closing.push(() => Promise.all(both.map(({ stop }) => stop())));
    await until(() => both.every(({ count }) => count(200) > 20));
    expect((await metricsOf(url)).value('database_up')).toBe(1);

    const stoppingAt = Date.now();
    await postgres.stop('immediate');
    await until(() => server.output().includes('database unreachable'));
    await until(() => both.every(({ count }) => count(503) > 20));
    const during = await metricsOf(url);
    const startedAt = Date.now();
    await postgres.start();
    await until(() => server.output().includes('database reachable again'));
    const again = both.map(({ count }) => count(200));
    await until(() => both.every(({ count }, at) => count(200) > (again[at] ?? 0) + 20));
    await Promise.all(both.map(({ stop }) => stop()));

    const refusedByGraphql = byGraphql.seen.filter(({ status }) => status !== 200);
    const refusedByRest = byRest.seen.filter(({ status }) => status !== 200);
    expect(
      new Set([...refusedByGraphql, ...refusedByRest].map(({ status, retryAfter }) => `${status} ${retryAfter}`)),
    ).toEqual(new Set(['503 1']));
    const words = 'The database can’t be reached. Try again shortly.';
    expect(new Set(refusedByGraphql.map(({ body }) => body.errors[0].message))).toEqual(new Set([words]));
    expect(new Set(refusedByRest.map(({ body }) => body.error))).toEqual(new Set([words]));
    // Every 200 had a complete response.
    expect(byGraphql.seen.filter(({ status, body }) => status === 200 && body.errors)).toEqual([]);

    expect(during.value('database_up')).toBe(0);
    expect(during.value('database_away_seconds')).toBeGreaterThan(0);
    expect(during.value('overloads_total', { cause: 'database_away' })).toBeGreaterThan(40);
    expect(during.value('overloads_total', { cause: 'beyond_capacity' })).toBe(0);
    expect(during.value('database_failures_total', { cause: 'database_away' })).toBeGreaterThan(40);
    for (const [operation, api] of [
      ['viewer', 'graphql'],
      ['jobs', 'rest'],
    ] as const) {
      const labels = { operation, api, code: 'OVERLOADED' };
      expect(during.value('operation_seconds_count', labels)).toBeGreaterThan(20);
      expect(during.value('request_errors_total', { api, code: 'OVERLOADED' })).toBeGreaterThan(20);
    }
    expect((await metricsOf(url)).value('database_up')).toBe(1);

    const { output } = await server.stop();
    const lines = output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Json);
    const [away, ...moreAway] = lines.filter(({ msg }) => msg.startsWith('database unreachable'));
    const [back, ...moreBack] = lines.filter(({ msg }) => msg === 'database reachable again');
    expect([moreAway, moreBack]).toEqual([[], []]);
    expect([away.level, back.level]).toEqual(['warn', 'info']);
    expect(back.since).toBe(away.since);
    expect(Date.parse(away.since)).toBeGreaterThanOrEqual(stoppingAt);
    expect(Date.parse(away.since)).toBeLessThanOrEqual(startedAt);
    expect(back.seconds).toBeGreaterThan(0);

    const refused = lines.filter(
      ({ operation, codes }) => ['viewer', 'jobs'].includes(operation) && codes?.includes('OVERLOADED'),
    );
    expect(refused.length).toBe(refusedByGraphql.length + refusedByRest.length);
    const known = { level: 'warn', status: 503, codes: ['OVERLOADED'], cause: 'database_away', user: me.user.id };
    expect(refused.find(({ api }) => api === 'graphql')).toMatchObject({
      ...known,
      operation: 'viewer',
      document: 'Who',
      documentHash: createHash('sha256').update(DOCUMENT).digest('hex'),
      ms: expect.any(Number),
    });
    expect(refused.find(({ api }) => api === 'rest')).toMatchObject({ ...known, operation: 'jobs' });
  },
);

it(
  'if the database freezes, waiting calls fail, and everything works again once it thaws',
  { timeout: 300_000 },
  async () => {
    const postgres = await durablePostgres(folderInMemory());
    closing.push(() => postgres.remove());
    await postgres.start();
    // A call that has to open a connection to the frozen database takes this long to fail.
    const databaseUrl = `${postgres.url}?connect_timeout=20`;
    const server = startServer(project, { DATABASE_URL: databaseUrl, JWT_SECRET, RATE_LIMITS: 'off' });
    const url = await server.url;
    const { token } = await signUp(url, 'hanna@example.test');
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const listJobs = () => fetch(`${url}/v1/jobs`, { headers });
    const logIn = () =>
      fetch(`${url}/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'hanna@example.test', password: 'a password for this test' }),
      });
    const draft = (key: string) => () =>
      fetch(`${url}/v1/jobs`, {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': key },
        body: JSON.stringify({ title: 'Sink', description: 'It drips.' }),
      });
    const calls = [listJobs, logIn, draft('one'), draft('two'), draft('three')];
    const all = () => calls.map((call) => call());
    // Prepares the statements, so each later call uses a connection that was already open.
    const before = await Promise.all([listJobs, logIn, draft('zero')].map(patiently));
    expect(before.map(statusOf)).toEqual([200, 200, 201]);

    postgres.freeze();
    closing.push(() => postgres.thaw());
    const first = await Promise.all(all());
    expect(first.map(statusOf)).toEqual([503, 503, 503, 503, 503]);
    expect((await Promise.all(first.map((one) => one.text()))).join()).not.toContain('at capacity');
    await until(() => server.output().includes('database unreachable'));
    expect((await Promise.all(all())).map(statusOf)).toEqual([503, 503, 503, 503, 503]);

    postgres.thaw();
    await until(() => server.output().includes('database reachable again'));
    const again = await Promise.all(calls.map(patiently));
    expect(again.map(statusOf)).toEqual([200, 200, 201, 201, 201]);
    const jobs = (await (await fetch(`${url}/v1/jobs`, { headers })).json()) as Json;
    // Calls in progress at the freeze may have been carried out, but only once.
    expect(jobs.pagination.total).toBe(4);
  },
);

function statusOf({ status }: Response): number {
  return status;
}

it('a server at capacity says so, and doesn’t blame the database', async () => {
  const app = await openTestApp({ DATABASE_POOL_SIZE: '1' }, { quotas: { databaseQueue: { total: 1 } } });
  closing.push(() => app.close());
  const hanna = await homeowner(app, 'Hanna');
  // The driver drops a reservation that has to open its connection first.
  await app.sql`select 1`;
  const hold = await app.sql.reserve();
  await hold`begin`;
  await hold`lock table jobs in access exclusive mode`;
  const ask = () => app.graphql('{ jobs { nodes { id } } }', { token: hanna.token });
  // The server's own work may take both slots at first. Then the call fails and is repeated.
  const answered = async (): Promise<GraphqlAnswer> => {
    const answer = await ask();
    return answer.status === 503 ? answered() : answer;
  };
  const first = answered();
  // The metrics can't show this, because their own statements on jobs wait for the same lock.
  const waiting = () =>
    app.sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%listJobs%'`;
  await until(async () => (await waiting()).length === 1);
  // There is room for one more call, which may be the server's own work.
  const more = [ask(), ask(), ask()];
  const refused = await Promise.race(more);
  await hold`rollback`;
  hold.release();

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(refused.errors?.map(({ message }) => message)).toEqual(['The service is at capacity. Try again shortly.']);
  await Promise.all([first, ...more]);
  const metrics = await metricsOf(app.url);
  expect(metrics.value('overloads_total', { cause: 'beyond_capacity' })).toBeGreaterThan(0);
  expect(metrics.value('overloads_total', { cause: 'database_away' })).toBe(0);
  expect(metrics.value('quota_refusals_total', { quota: 'databaseQueue', bound: 'server' })).toBeGreaterThan(0);
  expect(metrics.value('database_up')).toBe(1);
  const line = app.logged.map((each) => JSON.parse(each) as Json).find(({ codes }) => codes?.includes('OVERLOADED'));
  expect(line).toMatchObject({ level: 'warn', operation: 'jobs', cause: 'beyond_capacity', user: hanna.userId });
  expect(app.logged.filter((each) => each.includes('database unreachable'))).toEqual([]);
});

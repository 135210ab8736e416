/** How much of the server one caller may hold through both APIs, and how much others still get. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { head, openConnection } from '../../attacks/raw-connection.js';
import { homeowner, type Person } from '../../story/cast.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { until } from '../security/until.js';

/** The metrics read their figures from the database once. Later, these statements would take connections. */
vi.mock('../../../src/market/rules/market-limits.js', async (original) => {
  const limits = await original<typeof import('../../../src/market/rules/market-limits.js')>();
  return { ...limits, FIGURES: { ...limits.FIGURES, everyMs: 3_600_000, marketEveryMs: 3_600_000 } };
});

const APP = 'https://app.example.test';

let app: TestApp;
let hanna: Person;
let henry: Person;
beforeAll(async () => {
  app = await openTestApp(
    { QUOTA_REQUESTS_PER_USER: '3', QUOTA_REQUESTS_PER_ADDRESS: '5', DATABASE_POOL_SIZE: '5', CORS_ORIGINS: APP },
    { quotas: { databaseQueue: { perAddress: 4 } } },
  );
  hanna = await homeowner(app, 'Hanna');
  henry = await homeowner(app, 'Henry');
});
afterAll(() => app.close());

const read = (person: Person, from = 0) => app.rest('GET', '/v1/me', { token: person.token, from });
const query = (person: Person, from = 0) => app.graphql('{ viewer { user { id } } }', { token: person.token, from });
const inUse = (quota: string) => app.metric(`quota_in_use{quota="${quota}"}`);

async function whilePeopleAreLocked(work: () => Promise<void>): Promise<void> {
  await app.sql.begin(async (tx) => {
    await tx`lock table users in access exclusive mode`;
    await work();
  });
}

describe('requests in progress', () => {
  it.each(['/v1/me', '/graphql', '/graphql/stream'])(
    'over a quota are refused in a way that a page can read, including with a preflight: %s',
    async (path) => {
      const { url } = await app.another({}, { requests: { perAddress: 0 } });
      const ask = (method: string, headers = {}) => fetch(url + path, { method, headers: { origin: APP, ...headers } });
      const preflight = await ask('OPTIONS', { 'access-control-request-method': 'POST' });
      expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
        204,
        expect.stringContaining('POST'),
      ]);
      const { status, headers } = await ask('POST');
      expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([429, APP, 'Origin']);
      expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
    },
  );

  it("over one user's quota get a 429 in both APIs, and another user at that address is served", async () => {
    await Promise.all([read(hanna), read(henry)]);
    const waiting: Promise<{ status: number }>[] = [];
    await whilePeopleAreLocked(async () => {
      waiting.push(read(hanna), read(hanna), query(hanna));
      await until(async () => (await inUse('requests')) === 3);
      const rest = await read(hanna);
      expect([rest.status, rest.body.details.code, rest.headers.get('retry-after')]).toEqual([
        429,
        'RATE_LIMITED',
        '1',
      ]);
      expect(rest.body.error).toBe(
        'You can have at most 3 requests in progress at the same time. Wait for some to finish, then try again.',
      );
      const graphql = await query(hanna);
      expect([graphql.status, graphql.errors?.[0]?.extensions.code, graphql.headers.get('retry-after')]).toEqual([
        429,
        'RATE_LIMITED',
        '1',
      ]);
      waiting.push(read(henry));
      await until(async () => (await inUse('requests')) === 4);
    });
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await app.metric('quota_refusals_total{quota="requests",bound="user"}')).toBe(2);
  });

  it("over an address's quota get a 429, but never for the operator or another address", async () => {
    const waiting: Promise<{ status: number }>[] = [];
    await whilePeopleAreLocked(async () => {
      waiting.push(read(hanna), read(hanna), read(hanna), read(henry), read(henry));
      await until(async () => (await inUse('requests')) === 5);
      for (const path of ['/v1/me', '/v1/jobs']) {
        const { status, body } = await app.rest('GET', path, { from: 0 });
        expect([status, body.details.code]).toEqual([429, 'RATE_LIMITED']);
      }
      for (const path of ['/healthz', '/readyz']) expect((await app.rest('GET', path, { from: 0 })).status).toBe(200);
      expect((await app.rest('GET', '/v1/me', { from: 1 })).status).toBe(401);
    });
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });
});

describe('the database', () => {
  it('has a limited number of waiting calls per address, and stays available to others and operators', async () => {
    await Promise.all([read(hanna, 0), read(henry, 1)]);
    const waits = await app.metric('queue_wait_seconds_count{queue="databaseQueue"}');
    const waiting: Promise<{ status: number }>[] = [];
    await whilePeopleAreLocked(async () => {
      waiting.push(...[hanna, hanna, hanna, henry, henry].map((person) => read(person)));
      // One address may use four of five connections at the same time.
      await until(async () => (await inUse('databaseQueue')) === 1);
      expect(await app.metric('database_connections_busy')).toBe(4);
      expect((await app.rest('GET', '/readyz')).body).toEqual({ status: 'ready', busy: false });
    });
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await app.metric('queue_wait_seconds_count{queue="databaseQueue"}')).toBe(
      (Number.isNaN(waits) ? 0 : waits) + 1,
    );
  });
});

describe('searches', () => {
  it('have one connection in five, so those from many addresses leave the others to everybody', async () => {
    const waiting: Promise<{ status: number }>[] = [];
    await app.sql.begin(async (tx) => {
      await tx`lock table job_search in access exclusive mode`;
      waiting.push(...[0, 1, 2, 3].map((from) => app.rest('GET', '/v1/jobs?search=ab', { token: hanna.token, from })));
      await until(async () => (await inUse('databaseQueue')) === 3);
      expect((await read(hanna, 5)).status).toBe(200);
    });
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

describe('unread responses', () => {
  it("over a user's quota are cut off, and another user's at that address stay open", async () => {
    await Promise.all([read(hanna), read(henry)]);
    const { url, quotas } = await app.another(
      {},
      { requests: { perUser: 20, perAddress: 20 }, unreadBytes: { perUser: 3_000 } },
    );
    const ask = (path: string, { token }: Person) => head('GET', path, [`Authorization: Bearer ${token}`]);
    const [greedy, modest] = [await openConnection(url, 3), await openConnection(url, 3)];
    await app.sql.begin(async (tx) => {
      await tx`lock table api_keys in access exclusive mode`;
      // Later responses on a connection wait for the first one, which waits for the lock.
      modest.send(ask('/v1/api-keys', henry) + ask('/v1/me', henry));
      await until(() => quotas.unreadBytes.inUse() > 0);
      greedy.send(ask('/v1/api-keys', hanna) + ask('/v1/me', hanna).repeat(10));
      await greedy.closed;
    });
    for (let answers = 0; answers < 2; answers += 1) expect((await modest.answer()).status).toBe(200);
    await until(() => quotas.unreadBytes.inUse() === 0);
    modest.hangUp();
  });

  it.each(['answerMs', 'stalledMs'])('that take too long are cut off: %s', async (timeout) => {
    const { url } = await app.another({ answerMs: 600_000, stalledMs: 600_000, [timeout]: 300 });
    const cut = () => app.logged.filter((line) => line.includes('response not read by the client')).length;
    const before = cut();
    const client = await openConnection(url, 3);
    client.socket.pause();
    client.send(head('GET', '/graphql/playground/graphiql.js', ['Accept-Encoding: identity']));
    await until(() => cut() === before + 1);
    client.socket.resume();
    await client.closed;
  });

  it("over an address's quota are cut off, and others stay open", async () => {
    const { url, quotas } = await app.another({}, { unreadBytes: { perAddress: 6_000_000 } });
    const ask = head('GET', '/graphql/playground/graphiql.js', ['Accept-Encoding: identity']);
    const first = await openConnection(url, 3);
    first.socket.pause();
    first.send(ask);
    await until(async () => quotas.unreadBytes.inUse() > 0);
    const second = await openConnection(url, 3);
    second.socket.pause();
    second.send(ask);
    second.socket.resume();
    await second.closed;
    expect(quotas.unreadBytes.inUse()).toBeGreaterThan(0);
    first.socket.resume();
    expect((await first.answer()).status).toBe(200);
    await until(async () => quotas.unreadBytes.inUse() === 0);
    first.hangUp();
  });

  it("over the whole server's limit are cut off, starting with the address that holds the most", async () => {
    const { url, quotas } = await app.another({}, { unreadBytes: { total: 9_000_000 } });
    const ask = head('GET', '/graphql/playground/graphiql.js', ['Accept-Encoding: identity']);
    const open = async (from: number) => {
      const connection = await openConnection(url, from);
      connection.socket.pause();
      connection.send(ask);
      return connection;
    };
    const [greedy, more] = [await open(4), await open(4)];
    const modest = await open(5);
    greedy.socket.resume();
    more.socket.resume();
    await Promise.all([greedy.closed, more.closed]);
    modest.socket.resume();
    expect((await modest.answer()).status).toBe(200);
    await until(async () => quotas.unreadBytes.inUse() === 0);
    modest.hangUp();
  });
});

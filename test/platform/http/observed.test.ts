/** What operators see of completed and refused calls: log lines and metrics. */
import { createHash } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMetrics } from '../../../src/platform/telemetry/metrics.js';
import { RequestRecord } from '../../../src/platform/telemetry/record.js';
import { refuse } from '../../../src/market/rules/errors.js';
import { contractor, homeowner, type Person } from '../../story/cast.js';
import { JWT_SECRET, openTestApp, type Json, type TestApp } from '../../setup/app.js';
import { givenJob, gather } from '../../story/journey.js';
import { metricsOf } from '../../setup/metrics.js';
import { until } from '../security/until.js';
import { STATES, STATES_IN_DISPUTE, statesIn } from '../../story/specified.js';
import { VERSION } from '../../../src/platform/version.js';

/** On a busy machine, counting the market can take longer than a request for the metrics waits. */
vi.mock('../../../src/market/rules/market-limits.js', async (original) => {
  const limits = await original<typeof import('../../../src/market/rules/market-limits.js')>();
  return { ...limits, FIGURES: { ...limits.FIGURES, databaseWaitMs: 60_000 } };
});

let app: TestApp;
let hanna: Person;
let carlos: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
  carlos = await contractor(app, 'Carlos');
});
afterAll(() => app.close());

/** The request's log line, which is written when its response is finished. */
async function lineOf({ headers }: { headers: Headers }, { logged } = app): Promise<Json> {
  const id = headers.get('x-request-id') ?? '';
  const lines = () => logged.filter((line) => line.includes(id)).map((line) => JSON.parse(line) as Json);
  await until(() => lines().some(({ msg }) => msg === 'answered'));
  const [line, ...others] = lines().filter(({ msg }) => msg === 'answered');
  expect(others).toEqual([]);
  return line;
}

const DRAFT = {
  title: 'Sink',
  description: 'It drips.',
  category: 'plumbing',
  urgency: 'standard',
  address_line1: '1 Main Street',
  city: 'Austin',
  state: 'TX',
};
async function openJob(): Promise<{ job: string; bid: string }> {
  const job = (await app.rest('POST', '/v1/jobs', { token: hanna.token, body: DRAFT })).body.id;
  await app.rest('POST', `/v1/jobs/${job}/publish`, { token: hanna.token });
  const bid = (await app.rest('POST', `/v1/jobs/${job}/bids`, { token: carlos.token, body: { amount: 90 } })).body.id;
  return { job, bid };
}

describe('a traceparent', () => {
  const TRACE = '0af7651916cd43dd8448eb211c80319c';
  const traceOf = async (traceparent: string, path = '/v1/jobs') => {
    const id = `trace.${Math.random().toString(36).slice(2)}`;
    await app.rest('GET', path, { token: hanna.token, headers: { traceparent, 'x-request-id': id } });
    const line = () => app.logged.find((each) => each.includes(id));
    await until(() => line() !== undefined);
    return (JSON.parse(line() ?? '{}') as { traceId?: string }).traceId;
  };

  it("has its trace ID in the request's log line, unless it is malformed", async () => {
    expect(await traceOf(`00-${TRACE}-b7ad6b7169203331-01`)).toBe(TRACE);
    for (const malformed of [
      `00-${TRACE}-b7ad6b7169203331`,
      `00-${TRACE.toUpperCase()}-b7ad6b7169203331-01`,
      `ff-${TRACE}-b7ad6b7169203331-01`,
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE}-b7ad6b7169203331-01-"}`,
    ])
      expect(await traceOf(malformed), malformed).toBeUndefined();
  });
});

describe("a request's log line", () => {
  it('names the operation, the API, the user, and the outcome', async () => {
    const { job, bid } = await openJob();
    const refused = await app.rest('POST', `/v1/jobs/${job}/award`, { token: carlos.token, body: { bid_id: bid } });
    expect(await lineOf(refused)).toMatchObject({
      level: 'info',
      api: 'rest',
      operation: 'awardJob',
      codes: ['FORBIDDEN'],
      user: carlos.userId,
      status: 403,
      ms: expect.any(Number),
    });
    const query = `mutation Award { awardJob(id: "${job}", input: { bidId: "${bid}" }) { __typename } }`;
    const awarded = await app.graphql(query, { token: hanna.token });
    expect(awarded.errors).toBeUndefined();
    const line = await lineOf(awarded);
    expect(line).toMatchObject({
      level: 'info',
      api: 'graphql',
      operation: 'awardJob',
      user: hanna.userId,
      document: 'Award',
      documentHash: createHash('sha256').update(query).digest('hex'),
      status: 200,
    });
    expect(line).not.toHaveProperty('codes');
  });

  it('names every operation in a document and every code of its errors', async () => {
    const query = 'query Both { lifecycle { __typename } a: job(id: "job_x") { id } b: users { nodes { id } } }';
    const line = await lineOf(await app.graphql(query, { token: hanna.token }));
    expect(line.operation.split(' ').toSorted()).toEqual(['job', 'lifecycle', 'users']);
    expect(line.codes.toSorted()).toEqual(['FORBIDDEN', 'NOT_FOUND']);
  });

  it('shows what was refused before any operation was reached', async () => {
    const line = await lineOf(await app.graphql('query Wrong { nothing }', { token: hanna.token }));
    expect(line).toMatchObject({ api: 'graphql', codes: ['VALIDATION_FAILED'], documentHash: expect.any(String) });
    expect(line).not.toHaveProperty('operation');
    const csrf = await fetch(`${app.url}/graphql?query=%7B__typename%7D`);
    expect(await lineOf(csrf)).toMatchObject({ status: 400, codes: ['MALFORMED_REQUEST'] });
    expect(await lineOf(await app.rest('GET', '/v1/nothing'))).toMatchObject({ api: 'rest', codes: ['NOT_FOUND'] });
  });

  it('shows why a call got a 401, and its address', async () => {
    const refused = await app.rest('GET', '/v1/me');
    expect(await lineOf(refused)).toMatchObject({ reason: 'missing', address: '127.0.0.1', level: 'info' });
    const bad = await app.graphql('{ viewer { id } }', { token: `${hanna.token}x` });
    expect(await lineOf(bad)).toMatchObject({ codes: ['UNAUTHENTICATED'], reason: 'invalid' });
    expect(await lineOf(await app.rest('GET', '/v1/me', { token: hanna.token }))).not.toHaveProperty('reason');
  });

  it('names the limit that a login has reached, and the account whose password was wrong', async () => {
    const limited = await openTestApp({
      RATE_LIMITS: 'on',
      TRUST_PROXY_HOPS: '1',
      RATE_LIMIT_LOG_IN_PER_ACCOUNT_AND_ADDRESS: '1',
      RATE_LIMIT_LOG_IN_FAILURES_PER_ACCOUNT: '2',
      RATE_LIMIT_LOG_IN_PER_ADDRESS: '3',
    });
    const { email, userId } = await homeowner(limited, 'Hanna');
    const spent = async () => (await metricsOf(limited.url)).value('rate_limited_total');
    expect(await spent()).toBe(0);
    const rest = async (account: string, address: string) =>
      limited.rest('POST', '/v1/auth/login', {
        body: { email: account, password: 'wrong' },
        headers: { 'x-forwarded-for': address },
      });
    const graphql = async (account: string, address: string) =>
      limited.graphql(`mutation { logIn(input: { email: "${account}", password: "wrong" }) { token } }`, {
        headers: { 'x-forwarded-for': address },
      });
    const limits = async (address: string) => [
      (await rest(email, address)).body.details.limit,
      (await graphql(email, address)).errors?.[0]?.extensions.limit,
    ];
    const [ofBoth, ofAccount, ofAddress] = [
      'logInPerAccountAndAddress',
      'logInFailuresPerAccount',
      'logInPerAddress',
    ] as const;
    expect(await limits('192.0.2.1')).toEqual([undefined, ofBoth]);
    expect(await limits('192.0.2.2')).toEqual([undefined, ofBoth]);
    expect(await limits('192.0.2.3')).toEqual([ofAccount, ofBoth]);
    await rest('nobody@example.test', '192.0.2.1');
    expect(await limits('192.0.2.1')).toEqual([ofAddress, ofAddress]);
    expect(await spent()).toBe(6);
    expect((await metricsOf(limited.url)).value('rate_limited_total', { limit: ofBoth })).toBe(3);

    const logged = (code: string) =>
      limited.logged
        .map((line) => JSON.parse(line) as Json)
        .filter(({ operation, codes }) => operation === 'logIn' && codes?.includes(code))
        .map(({ limit, account, address }) => ({ limit, account, address }));
    await until(() => logged('RATE_LIMITED').length === 6);
    // They're refused before anything is looked up.
    expect(logged('RATE_LIMITED').map(({ limit, account }) => [limit, account])).toEqual(
      [ofBoth, ofBoth, ofAccount, ofBoth, ofAddress, ofAddress].map((limit) => [limit, undefined]),
    );
    expect(logged('INVALID_CREDENTIALS')).toEqual([
      { account: userId, address: '192.0.2.1' },
      { account: userId, address: '192.0.2.2' },
      { account: undefined, address: '192.0.2.1' },
    ]);
    await limited.close();
  });

  it('names the API key that was used', async () => {
    const { body } = await app.rest('POST', '/v1/api-keys', { token: hanna.token, body: { name: 'Export' } });
    for (const _ of ['looked up', 'remembered']) {
      const line = await lineOf(await app.rest('GET', '/v1/jobs', { token: body.secret }));
      expect(line).toMatchObject({ apiKey: body.api_key.id, user: hanna.userId });
    }
  });

  it('distinguishes a token from the future, which different clocks cause, from one with another secret', async () => {
    const { iat, ...claims } = jwt.decode(hanna.token) as { iat: number };
    const { header } = jwt.decode(hanna.token, { complete: true }) ?? {};
    const token = jwt.sign({ ...claims, iat: iat + 3_600 }, JWT_SECRET, { header: header ?? { alg: 'HS256' } });
    const refused = await app.rest('GET', '/v1/me', { token });
    expect(refused).toMatchObject({ status: 401, body: { details: { reason: 'invalid' } } });
    expect(await lineOf(refused)).toMatchObject({ reason: 'issued_in_future' });
  });

  it("has the database's SQLSTATE, which distinguishes a full disk from full memory", async () => {
    const ill = await openTestApp();
    const olive = await homeowner(ill, 'Olive');
    for (const code of ['53100', '53200']) {
      await ill.sql.unsafe(`create or replace function fail() returns trigger language plpgsql as
        $$ begin raise 'no room' using errcode = '${code}'; end $$`);
      await ill.sql`create or replace trigger fail before insert on jobs execute function fail()`;
      const body = { title: 'Sink', description: 'It drips.' };
      const refused = await ill.rest('POST', '/v1/jobs', { token: olive.token, body });
      expect(refused.status).toBe(503);
      expect(await lineOf(refused, ill)).toMatchObject({ cause: 'database_full', sqlstate: code });
    }
    const failures = (sqlstate: string) => ({ cause: 'database_full', sqlstate });
    const metrics = await metricsOf(ill.url);
    expect(metrics.value('database_failures_total', failures('53100'))).toBe(1);
    expect(metrics.value('database_failures_total', failures('53200'))).toBe(1);
    await ill.close();
  });

  it('is omitted for a routine probe, and written for any other', async () => {
    const probed = await openTestApp();
    const probe = async (path: string) => (await fetch(`${probed.url}${path}`)).status;
    const all = ['/readyz', '/healthz', '/readyz', '/metrics', '/readyz'];
    for (const path of all) expect(await probe(path)).toBe(200);
    await probed.sql`alter schema drizzle rename to elsewhere`;
    for (const _ of ['first', 'second']) expect(await probe('/readyz')).toBe(503);
    // A 503 from /readyz doesn't count as a server error.
    expect((await metricsOf(probed.url)).value('http_server_errors_total')).toBeNaN();
    await probed.sql`alter schema elsewhere rename to drizzle`;
    for (const path of all) expect(await probe(path)).toBe(200);
    const lines = () =>
      probed.logged.filter((line) => line.includes('"answered"')).map((line) => JSON.parse(line) as Json);
    const changes = () => probed.logged.filter((line) => / ready/.test(line)).length;
    await until(() => lines().length >= 2 && changes() >= 2);
    expect(lines().map(({ level, status, route }) => [level, status, route])).toEqual([
      ['warn', 503, 'GET /readyz'],
      ['warn', 503, 'GET /readyz'],
    ]);
    await probed.close();
  });

  it('has the status 499 for a client that left before the response, and so do the metrics', async () => {
    const route = 'PUT /v1/me';
    const count = async (status: string) =>
      (await metricsOf(app.url)).value('http_request_seconds_count', { route, status }) || 0;
    const before = await count('200');
    const caller = new AbortController();
    const headers = { authorization: `Bearer ${hanna.token}`, 'content-type': 'application/json' };
    await app.sql.begin(async (tx) => {
      await tx`select from users where id = ${hanna.userId} for update`;
      const body = JSON.stringify({ user: { first_name: 'Hanna' } });
      const asked = fetch(`${app.url}/v1/me`, { method: 'PUT', headers, body, signal: caller.signal });
      asked.catch(() => {}); // Its failure is expected below.
      await until(async () => (await app.metric('database_lock_waits')) > 0);
      caller.abort();
      await expect(asked).rejects.toThrow();
      await until(async () => (await count('499')) === 1);
    });
    const line = app.logged.map((text) => JSON.parse(text) as Json).find(({ status }) => status === 499);
    expect(line).toMatchObject({ level: 'warn', route, msg: 'client disconnected before the response' });
    expect(await count('200')).toBe(before);
  });

  it('is an error if the failure is ours', async () => {
    const ill = await openTestApp();
    await ill.sql`drop table token_transfers cascade`;
    const answer = await ill.rest('POST', '/v1/auth/signup/homeowner', {
      body: { email: 'new@example.test', password: 'a password', first_name: 'N', last_name: 'N' },
    });
    expect(answer.status).toBe(500);
    const lines = () => ill.logged.map((line) => JSON.parse(line) as Json).filter(({ codes }) => codes);
    await until(() => lines().length > 0);
    expect(lines()).toMatchObject([{ level: 'error', operation: 'signUpHomeowner', codes: ['INTERNAL'] }]);
    await ill.close();
  });
});

describe('the metrics', () => {
  it('time every operation by name, API, and code, spelled alike in both APIs', async () => {
    const count = async (operation: string, api: string, code: string) =>
      (await metricsOf(app.url)).value('operation_seconds_count', { operation, api, code }) || 0;
    const cases = [
      ['createJob', 'rest', 'OK', () => app.rest('POST', '/v1/jobs', { token: hanna.token, body: DRAFT })],
      ['jobs', 'rest', 'UNAUTHENTICATED', () => app.rest('GET', '/v1/jobs')],
      ['jobs', 'graphql', 'OK', () => app.graphql('{ jobs { nodes { id } } }', { token: hanna.token })],
      [
        'deleteJob',
        'graphql',
        'NOT_FOUND',
        () => app.graphql('mutation { deleteJob(id: "x") { __typename } }', { token: hanna.token }),
      ],
      ['none', 'graphql', 'VALIDATION_FAILED', () => app.graphql('{ nothing }')],
      ['none', 'rest', 'NOT_FOUND', () => app.rest('GET', '/v1/nothing')],
    ] as const;
    for (const [operation, api, code, call] of cases) {
      const before = await count(operation, api, code);
      await call();
      await until(async () => (await count(operation, api, code)) === before + 1);
    }
  });

  it('count jobs by progress, and those in dispute', async () => {
    const own = await openTestApp();
    const people = await gather(own);
    for (const state of STATES) await givenJob(own, state, people);
    for (const from of ['draft', 'open'] as const) {
      const { id } = await givenJob(own, from, people);
      await own.rest('POST', `/v1/jobs/${id}/complete`, { token: people.admin.token, body: { reason: 'It ends.' } });
    }
    const metrics = await metricsOf(own.url);
    for (const status of STATES)
      expect(metrics.value('market_jobs', { status }), status).toBe(status === 'completed' ? 3 : 1);
    // All except the one draft. The draft that an admin completed counts.
    expect(metrics.value('market_jobs_reached', { stage: 'published' })).toBe(STATES.length - 1 + 2);
    // In progress, approved, and canceled by its owner during the work.
    expect(metrics.value('market_jobs_reached', { stage: 'awarded' })).toBe(statesIn('award', 'work').length + 2);
    expect(metrics.value('market_jobs_reached', { stage: 'completed' })).toBe(3);
    expect(metrics.value('market_disputes_open')).toBe(STATES_IN_DISPUTE.length);
    await own.close();
  });

  it('count the market: jobs by status, what was published, awarded, and completed, disputes, tokens', async () => {
    const own = await openTestApp();
    const owner = await homeowner(own, 'Hanna');
    const job = (await own.rest('POST', '/v1/jobs', { token: owner.token, body: DRAFT })).body.id;
    await own.rest('POST', '/v1/jobs', { token: owner.token, body: DRAFT });
    await own.rest('POST', `/v1/jobs/${job}/publish`, { token: owner.token });
    await contractor(own, 'Carlos');
    const metrics = await metricsOf(own.url);
    expect(metrics.value('market_jobs', { status: 'draft' })).toBe(1);
    expect(metrics.value('market_jobs', { status: 'open' })).toBe(1);
    expect(metrics.value('market_jobs_reached', { stage: 'published' })).toBe(1);
    expect(metrics.value('market_jobs_reached', { stage: 'awarded' })).toBe(0);
    expect(metrics.value('market_jobs_reached', { stage: 'completed' })).toBe(0);
    expect(metrics.value('market_disputes_open')).toBe(0);
    expect(metrics.value('market_tokens', { state: 'available' })).toBe(5 + 25);
    expect(metrics.value('market_tokens', { state: 'held' })).toBe(0);
    await own.close();
  });

  it('count the whole market only every five minutes', async () => {
    const own = await openTestApp();
    const owner = await homeowner(own, 'Hanna');
    const realNow = performance.now.bind(performance);
    const now = vi.spyOn(performance, 'now');
    const drafts = async (minutesLater: number) => {
      now.mockImplementation(() => realNow() + minutesLater * 60_000);
      await own.rest('POST', '/v1/jobs', { token: owner.token, body: DRAFT });
      own.statements();
      const count = (await metricsOf(own.url)).value('market_jobs', { status: 'draft' });
      return [count, own.statements().filter((statement) => statement.includes('/* jobsByStatus */')).length];
    };
    try {
      expect(await drafts(0)).toEqual([1, 1]);
      expect(await drafts(4)).toEqual([1, 0]);
      expect(await drafts(6)).toEqual([3, 1]);
    } finally {
      now.mockRestore();
      await own.close();
    }
  });

  it('count what was refused for lack of capacity, including pages', async () => {
    const metrics = createMetrics({ budgets: [], streamEnds: [] });
    const page = new RequestRecord();
    page.addRefusal(refuse('OVERLOADED'));
    metrics.recordAnswer(page, 0.001);
    expect(await metrics.print()).toMatch(/^overloads_total\{cause="beyond_capacity"\} 1$/m);
  });

  it('have every quota and every budget from the start, because a rate needs a first value', async () => {
    const metrics = await metricsOf(app.url);
    expect(metrics.value('quota_refusals_total', { quota: 'hashingQueue', bound: 'server' })).toBe(0);
    expect(metrics.value('rate_limited_total', { limit: 'refresh' })).toBe(0);
  });

  it('say whether rates are counted in Redis, and nothing on a server without Redis', async () => {
    const inRedis = async (env: Record<string, string>) => {
      const own = await openTestApp({ RATE_LIMITS: 'on', ...env });
      const { all } = await metricsOf(own.url);
      await own.close();
      return all.find(({ name }) => name === 'rate_limits_in_redis')?.value;
    };
    expect(await inRedis({})).toBeNaN();
    expect(await inRedis({ REDIS_URL: 'redis://127.0.0.1:9' })).toBe(0);
  });

  it('time statements by name, and describe the build and its environment', async () => {
    const metrics = await metricsOf(app.url);
    for (const statement of ['insertUser', 'insertJob', 'selectActiveSession'])
      expect(metrics.value('database_statement_seconds_count', { statement })).toBeGreaterThan(0);
    expect(metrics.value('build_info', { version: VERSION, node: process.version })).toBe(1);
  });

  it('need the token if one is set, and otherwise are for this machine, but not through a proxy', async () => {
    const read = async ({ url }: TestApp, headers: Record<string, string> = {}) =>
      (await fetch(`${url}/metrics`, { headers })).status;
    const token = 'a-token-for-metrics';
    const guarded = await openTestApp({ METRICS_TOKEN: token });
    expect(await read(guarded)).toBe(403);
    expect(await read(guarded, { authorization: 'Bearer another-token' })).toBe(403);
    expect(await read(guarded, { authorization: `Bearer ${token}` })).toBe(200);
    expect(await read(guarded, { authorization: `Bearer ${token}`, 'x-forwarded-for': '203.0.113.9' })).toBe(200);
    await guarded.close();
    expect(await read(app)).toBe(200);
    for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-forwarded-proto', 'via'])
      expect(await read(app, { [header]: '203.0.113.9' }), header).toBe(403);
  });

  it('are rejected in production if no token is set', async () => {
    const open = await openTestApp({ NODE_ENV: 'production', BCRYPT_COST: '10' });
    const answer = await fetch(`${open.url}/metrics`, { headers: { authorization: 'Bearer undefined' } });
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
      403,
      'This server doesn’t serve metrics because METRICS_TOKEN isn’t set.',
    ]);
    await open.close();
  });

  it('contain nothing that a caller chose, however much they send', async () => {
    const word = 'xyzzy';
    await app.graphql(`query ${word} { ${word}: lifecycle { __typename } }`, { token: hanna.token });
    await app.graphql(`{ ${word} }`);
    await app.rest('GET', `/v1/${word}`);
    await app.rest('GET', `/v1/jobs?search=${word}`, { token: hanna.token });
    await app.rest('GET', '/v1/me', { headers: { 'x-request-id': word, 'user-agent': word } });
    const { all } = await metricsOf(app.url);
    expect(all.filter(({ name, labels }) => JSON.stringify({ name, labels }).includes(word))).toEqual([]);
    const statements = new Set(all.flatMap(({ labels }) => labels.statement ?? []));
    expect(statements.size).toBeLessThan(150);
    for (const statement of statements) expect(statement).toMatch(/^[a-zA-Z]+(?: total)?$/);
  });
});

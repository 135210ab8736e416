/** What callers get through HAProxy while no server is ready, or while a server doesn't respond. */
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { homeowner, type Person } from '../story/cast.js';
import { needs } from '../setup/needs.js';
import { until } from '../platform/security/until.js';
import { hearAsEvents, hearOverWebSocket, MY_EVENTS, stopAll } from '../platform/graphql/streams/clients.js';
import { freeAddress, startProxy, type Proxy } from './proxy.js';

const SINK = { title: 'Sink', description: 'It drips.' };
const CREATE = 'mutation { createJob(input: { title: "Tap", description: "It drips." }) { job { id } } }';

needs('haproxy').describe('behind HAProxy', () => {
  let app: TestApp;
  let hanna: Person;
  beforeAll(async () => {
    app = await openTestApp({ TRUST_PROXY_HOPS: '1' });
    hanna = await homeowner(app, 'Hanna');
    await app.rest('POST', '/v1/jobs', { token: hanna.token, body: SINK });
  });
  afterAll(async () => {
    stopAll();
    await app.close();
  });

  const host = () => new URL(app.url).host;

  async function call(proxy: Proxy, method: string, path: string, body?: object) {
    const headers = { authorization: `Bearer ${hanna.token}`, 'content-type': 'application/json' };
    const answer = await fetch(proxy.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const requestId = answer.headers.get('x-request-id');
    return { status: answer.status, body: (await answer.json()) as Json, requestId };
  }

  const loggedOf = (id: string | null) =>
    app.logged.map((line) => JSON.parse(line) as Json).find(({ requestId }) => requestId === id);

  async function readySeenBy({ metricsUrl }: Proxy): Promise<number> {
    const text = await (await fetch(metricsUrl)).text();
    const [, servers] = /^haproxy_backend_active_servers\{proxy="rest"\} (\d+)$/m.exec(text) ?? [];
    return Number(servers);
  }

  async function takeChanges(isWanted: boolean): Promise<void> {
    const setting = 'default_transaction_read_only';
    const { database } = app.database.connection;
    const sql = postgres({ ...app.database.connection, max: 1, onnotice: () => {} });
    await sql.unsafe(`set ${setting} = off`);
    await sql.unsafe(`alter database ${database} ${isWanted ? `reset ${setting}` : `set ${setting} = on`}`);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    await sql.end();
  }

  it('on a read-only database, Hanna can read and follow events, and the server itself rejects changes', async () => {
    // The second server isn't running and gets no requests.
    const proxy = await startProxy([host(), await freeAddress()]);
    await until(async () => (await readySeenBy(proxy)) === 1);
    const refusals = 'overloads_total{cause="database_read_only"}';
    const before = await app.metric(refusals);
    await takeChanges(false);
    await until(async () => (await readySeenBy(proxy)) === 0);
    expect(await call(proxy, 'GET', '/readyz')).toMatchObject({
      status: 503,
      body: { status: 'the database is read-only' },
    });

    const list = await call(proxy, 'GET', '/v1/jobs');
    expect([list.status, list.body.data.map(({ title }: Json) => title)]).toEqual([200, ['Sink']]);
    const graphql = await call(proxy, 'POST', '/graphql', { query: '{ jobs { nodes { title } } }' });
    expect(graphql).toMatchObject({ status: 200, body: { data: { jobs: { nodes: [{ title: 'Sink' }] } } } });
    for (const hear of [hearAsEvents, hearOverWebSocket]) {
      const heard = hear(proxy.url, hanna, MY_EVENTS, { after: '0' });
      await heard.count(1);
      expect(heard.events).toMatchObject([{ type: 'JOB_CREATED' }]);
      heard.stop();
    }
    for (const refused of [
      await call(proxy, 'POST', '/v1/jobs', SINK),
      await call(proxy, 'POST', '/graphql', { query: CREATE }),
    ]) {
      expect(refused.status).toBe(503);
      expect(JSON.stringify(refused.body)).toContain('The database is read-only at the moment');
      await until(() => loggedOf(refused.requestId) !== undefined);
      expect(loggedOf(refused.requestId)).toMatchObject({ status: 503, cause: 'database_read_only' });
    }
    expect(await app.metric(refusals)).toBe(before + 2);

    await takeChanges(true);
    await until(async () => (await readySeenBy(proxy)) === 1);
    expect((await call(proxy, 'POST', '/v1/jobs', SINK)).status).toBe(201);
    await proxy.stop();
  });

  it('a call that gets no response in time fails with 504, but a stream that’s silent as long continues', async () => {
    const proxy = await startProxy([host()], { ANSWER_WITHIN: '1s' });
    const streams = [hearAsEvents, hearOverWebSocket].map((hear) => hear(proxy.url, hanna, MY_EVENTS));
    await until(() => app.services.quotas.streams.inUse() === streams.length);
    const { body: job } = await app.rest('POST', '/v1/jobs', { token: hanna.token, body: SINK });
    await Promise.all(streams.map((stream) => stream.count(1)));
    await app.sql.begin(async (sql) => {
      await sql`select from jobs where id = ${job.id as string} for update`;
      for (let calls = 0; calls < 2; calls += 1)
        expect((await call(proxy, 'POST', `/v1/jobs/${job.id}/publish`)).status).toBe(504);
    });
    await app.rest('POST', '/v1/jobs', { token: hanna.token, body: SINK });
    await Promise.all(streams.map((stream) => stream.count(2)));
    await proxy.stop();
  });
});

/** What `deploy/haproxy.cfg` does for callers. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { request, type RequestOptions } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { isRepeatable } from '../../src/platform/call/operation.js';
import { ROUTES } from '../../src/rest/routes.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { head, jsonOf, openConnection, post, refusalIn, type RawConnection } from '../attacks/raw-connection.js';
import { homeowner, type Person } from '../story/cast.js';
import { needs } from '../setup/needs.js';
import { until } from '../platform/security/until.js';
import { temporaryFolder } from '../setup/temporary-folder.js';
import { CONFIGURATION, freeAddress, PATIENT, startProxy, writeCertificate, type Proxy } from './proxy.js';

const CALLER = 1;
const CALLERS_ADDRESS = '127.1.0.1';

needs('haproxy').describe('behind HAProxy', () => {
  let app: TestApp;
  let proxy: Proxy;
  let hanna: Person;
  beforeAll(async () => {
    app = await openTestApp({ TRUST_PROXY_HOPS: '1' });
    proxy = await startProxy([hostOf(app.url)], PATIENT);
    hanna = await homeowner(app, 'Hanna');
  });
  afterAll(async () => {
    await proxy.stop();
    await app.close();
  });

  const loggedOf = (id: string) =>
    app.logged.map((line) => JSON.parse(line) as Json).find(({ requestId }) => requestId === id);

  it('a caller’s address is the one they call from, whatever their headers say', async () => {
    const caller = await openConnection(proxy.url, CALLER);
    const forged = ['X-Forwarded-For: 203.0.113.7', 'X-Forwarded-For: 203.0.113.8', 'Forwarded: for=203.0.113.9'];
    caller.send(head('GET', '/v1/jobs', [...forged, 'X-Request-Id: forged-address-1']));
    expect(refusalIn(await caller.answer())).toEqual([401, 'UNAUTHENTICATED']);
    caller.hangUp();
    await until(() => loggedOf('forged-address-1') !== undefined);
    expect(loggedOf('forged-address-1')).toMatchObject({ address: CALLERS_ADDRESS });
  });

  it('a request keeps its ID or gets a new one, and both logs show it', async () => {
    const answer = await fetch(`${proxy.url}/v1/nothing`, { headers: { 'x-request-id': 'not valid "}' } });
    const id = answer.headers.get('x-request-id') ?? '';
    expect(id).toMatch(/^[\da-f-]{36}$/);
    await until(() => proxy.output().includes(id) && loggedOf(id) !== undefined);
  });

  it('the token of an unsubscribe link is in neither log', async () => {
    for (const path of ['/unsubscribe/secret.token', '//unsubscribe/secret.token?secret.token', '/v1/jobs?page=2'])
      await fetch(`${proxy.url}${path}`);
    await until(() => proxy.output().includes('GET /v1/jobs?page=2 HTTP/1.1'));
    expect(proxy.output()).toContain('"GET /unsubscribe/{token} HTTP/1.1"');
    expect(proxy.output() + app.logged.join('\n')).not.toContain('secret.token');
  });

  it.each(['/metrics', '/mailbox', '/METRICS', '/%6detrics', '//metrics', '/v1/metrics', '/metrics?x', '/mailbox/1'])(
    'an operator’s path returns 404 for others: %s',
    async (path) => {
      const caller = await openConnection(proxy.url);
      caller.send(head('GET', path));
      const answer = await caller.answer();
      expect(refusalIn(answer)).toEqual([404, 'NOT_FOUND']);
      expect(answer.body).not.toContain('build_info');
      caller.hangUp();
    },
  );

  it('a client can’t upgrade to a protocol other than WebSocket', async () => {
    const caller = await openConnection(proxy.url);
    caller.send(
      head('GET', '/healthz', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAA']),
    );
    expect(await caller.answer()).toMatchObject({ status: 200, body: expect.stringContaining('"ok"') as string });
    caller.hangUp();
  });

  it('pipelined requests get their responses in order', async () => {
    const caller = await openConnection(proxy.url);
    const paths = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? '/healthz' : '/v1/nothing'));
    caller.send(paths.map((path) => head('GET', path)).join(''));
    const statuses: number[] = [];
    for (const _ of paths) statuses.push((await caller.answer()).status);
    expect(statuses).toEqual(paths.map((path) => (path === '/healthz' ? 200 : 404)));
    caller.hangUp();
  });

  it('pipelined requests run one after another, so each can rely on the ones before', async () => {
    const caller = await openConnection(proxy.url);
    const asHanna = `Authorization: Bearer ${hanna.token}`;
    const create = post('/v1/jobs', JSON.stringify({ title: 'Tap', description: 'It drips.' }), [asHanna]);
    const count = Buffer.from(head('GET', '/v1/jobs', [asHanna]));
    caller.send(Buffer.concat(Array.from({ length: 10 }, () => [create, count]).flat()));
    for (let total = 1; total <= 10; total += 1) {
      expect((await caller.answer()).status).toBe(201);
      expect(jsonOf(await caller.answer()).pagination.total).toBe(total);
    }
    caller.hangUp();
  });

  it('subscriptions work over WebSockets and server-sent events', async () => {
    const query = 'subscription { myEvents { type } }';
    const authorization = `Bearer ${hanna.token}`;
    const socket = new WebSocket(`${proxy.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const messages: Json[] = [];
    socket.on('message', (text) => {
      const message = JSON.parse(String(text)) as Json;
      messages.push(message);
      if (message.type === 'connection_ack')
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
    });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }));
    const sse = await fetch(`${proxy.url}/graphql/stream`, {
      method: 'POST',
      headers: { authorization, accept: 'text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const reader = (sse.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    await until(() => app.services.quotas.streams.inUse() === 2);

    await app.rest('POST', '/v1/jobs', { token: hanna.token, body: { title: 'Sink', description: 'It drips.' } });
    let received = '';
    while (!received.includes('JOB_CREATED')) received += (await reader.read()).value;
    await until(() => messages.some(({ type }) => type === 'next'));
    expect(messages.at(-1)).toMatchObject({ payload: { data: { myEvents: { type: 'JOB_CREATED' } } } });
    await reader.cancel();
    socket.terminate();
    await until(() => app.services.quotas.streams.inUse() === 0);
  });

  it('the server rejects a body that is too large', async () => {
    const caller = await openConnection(proxy.url);
    caller.send(post('/v1/jobs', `"${'x'.repeat(140_000)}"`, [`Authorization: Bearer ${hanna.token}`]));
    expect(refusalIn(await caller.answer())).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    caller.hangUp();
  });
});

needs('haproxy').it('if no server is reachable, each API says so in its own format', async () => {
  const proxy = await startProxy([await freeAddress()]);
  const rest = await openConnection(proxy.url);
  rest.send(head('GET', '/v1/jobs', ['X-Request-Id: nobody-there-1']));
  const answer = await rest.answer();
  expect(refusalIn(answer)).toEqual([503, 'OVERLOADED']);
  expect(answer.headers.get('x-request-id')).toBe('nobody-there-1');
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'retry-after': '1',
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
  });
  rest.hangUp();
  const graphql = await fetch(`${proxy.url}/graphql`, { method: 'POST' });
  expect([graphql.status, graphql.headers.get('retry-after')]).toEqual([503, '1']);
  const requestId = graphql.headers.get('x-request-id');
  expect(await graphql.json()).toMatchObject({
    errors: [{ extensions: { code: 'OVERLOADED', status: 503, requestId } }],
  });
  await proxy.stop();
});

needs('haproxy').it('if a server is lost before it responds, the call fails with 502 and isn’t repeated', async () => {
  let calls = 0;
  const losing = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (/readyz|healthz/.test(String(bytes)))
        return socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      calls += 1;
      socket.destroy();
    });
  });
  await once(losing.listen(0, '127.0.0.1'), 'listening');
  const proxy = await startProxy([`127.0.0.1:${(losing.address() as AddressInfo).port}`]);
  const key = ['Idempotency-Key: a-key-that-has-no-effect'];
  const asked: [string, string[]][] = [
    ['/v1/jobs', []],
    ['/graphql', []],
    ...['/graphql', '/v1/webhooks', '/v1/api-keys', '/v1/auth/signup/homeowner'].map((path): [string, string[]] => [
      path,
      key,
    ]),
  ];
  for (const [path, headers] of asked) {
    calls = 0;
    const caller = await openConnection(proxy.url);
    caller.send(post(path, '{}', headers));
    const answer = await caller.answer();
    expect(answer.status).toBe(502);
    expect(JSON.stringify(jsonOf(answer))).toMatch(/OVERLOADED.*Idempotency-Key|Idempotency-Key.*OVERLOADED/);
    expect(calls).toBe(1);
    caller.hangUp();
  }
  await proxy.stop();
  losing.close();
});

needs('haproxy').it('a lost call closes a connection that has carried a response before', async () => {
  const losing = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (String(bytes).startsWith('GET')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      else socket.destroy();
    });
  });
  await once(losing.listen(0, '127.0.0.1'), 'listening');
  const proxy = await startProxy([`127.0.0.1:${(losing.address() as AddressInfo).port}`]);
  const caller = await openConnection(proxy.url);
  caller.send(head('GET', '/v1/jobs'));
  expect((await caller.answer()).status).toBe(200);
  caller.send(post('/v1/jobs', '{}'));
  await caller.closed;
  const metrics = await (await fetch(proxy.metricsUrl)).text();
  // The second request went to the server on the kept connection, and HAProxy added no response of its own.
  expect(metrics).toContain('haproxy_backend_loadbalanced_total{proxy="rest"} 2\n');
  expect(metrics).toContain('haproxy_backend_connection_reuses_total{proxy="rest"} 1\n');
  expect(metrics).toContain('haproxy_backend_http_responses_total{proxy="rest",code="2xx"} 1\n');
  expect(metrics).toContain('haproxy_backend_http_responses_total{proxy="rest",code="5xx"} 0\n');
  await proxy.stop();
  // HAProxy doesn't log the lost call, as docs/runbook.md says.
  expect(proxy.output()).toContain('"GET /v1/jobs HTTP/1.1"');
  expect(proxy.output()).not.toContain('POST /v1/jobs');
  losing.close();
});

it('calls that HAProxy repeats with a key happen only once', () => {
  const [, prefixes = ''] = /^ {2}acl heeds_key path_beg (.*)$/m.exec(readFileSync(CONFIGURATION, 'utf8')) ?? [];
  const repeated = ROUTES.filter(
    ({ method, path }) => method !== 'GET' && prefixes.split(' ').some((prefix) => `/v1${path}`.startsWith(prefix)),
  );
  expect(repeated.length).toBeGreaterThan(20);
  expect(repeated.filter(({ operation }) => !isRepeatable(operation)).map(({ path }) => path)).toEqual([]);
});

needs('haproxy').it('if a server is lost, another one gets the calls that can’t happen twice', async () => {
  const lost: string[] = [];
  const losing = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (/readyz|healthz/.test(String(bytes)))
        return socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      lost.push(String(bytes).split('\r\n', 1)[0] ?? '');
      socket.destroy();
    });
  });
  await once(losing.listen(0, '127.0.0.1'), 'listening');
  const app = await openTestApp({ TRUST_PROXY_HOPS: '1' });
  const hanna = await homeowner(app, 'Hanna');
  const proxy = await startProxy([`127.0.0.1:${(losing.address() as AddressInfo).port}`, hostOf(app.url)]);
  const headers = { authorization: `Bearer ${hanna.token}`, 'content-type': 'application/json' };
  const create = async (key: string) => {
    const response = await fetch(`${proxy.url}/v1/jobs`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': key },
      body: JSON.stringify({ title: 'Sink', description: 'It drips.' }),
    });
    return response.status;
  };
  const isLost = (method: string) => lost.some((line) => line.startsWith(method));
  const statuses: number[] = [];
  let created = 0;
  // The servers take turns. Without an extra read in every other round, each call would always go to the same server.
  for (let round = 0; !isLost('GET') || !isLost('POST'); round += 1) {
    for (let reads = 0; reads <= round % 2; reads += 1)
      statuses.push((await fetch(`${proxy.url}/v1/jobs`, { headers })).status);
    statuses.push(await create(`key-number-${(created += 1)}`));
  }
  expect(new Set(statuses)).toEqual(new Set([200, 201]));
  const { body } = await app.rest('GET', '/v1/jobs', { token: hanna.token });
  expect(body.pagination.total).toBe(created);
  const before = lost.length;
  while (lost.length === before) {
    const caller = await openConnection(proxy.url);
    caller.send(post('/v1/jobs', '{}'));
    statuses.push((await caller.answer()).status);
    caller.hangUp();
  }
  expect(statuses.at(-1)).toBe(502);
  await proxy.stop();
  losing.close();
  await app.close();
});

needs('haproxy').it('a missing body and a silent server both result in a JSON error', async () => {
  const silent = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (/readyz|healthz/.test(String(bytes)))
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  // Both wait a long time for each other.
  const impatient = await startProxy([address], { REQUEST_WITHIN: '3s' });
  const proxy = await startProxy([address], { ANSWER_WITHIN: '200ms' });
  for (const path of ['/v1/jobs', '/graphql']) {
    const slow = await openConnection(impatient.url);
    slow.send(head('POST', path, ['Content-Length: 100']));
    expect(refusalIn(await slow.answer())).toEqual([408, 'MALFORMED_REQUEST']);
    await slow.closed;
    const waiting = await openConnection(proxy.url);
    waiting.send(post(path, '{}'));
    const answer = await waiting.answer();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([504, '1']);
    expect(JSON.stringify(jsonOf(answer))).toContain('OVERLOADED');
    waiting.hangUp();
  }
  await proxy.stop();
  await impatient.stop();
  silent.close();
});

needs('haproxy').it('one address reaches its limit of connections, and another address is unaffected', async () => {
  const app = await openTestApp({ TRUST_PROXY_HOPS: '1' });
  const proxy = await startProxy([hostOf(app.url)], { CONNECTIONS_PER_ADDRESS: '5' });
  const isWell = async (connection: RawConnection) => {
    connection.send(head('GET', '/healthz'));
    expect((await connection.answer()).status).toBe(200);
  };
  const open: RawConnection[] = [];
  for (let n = 0; n < 5; n += 1) {
    const connection = await openConnection(proxy.url, CALLER);
    await isWell(connection);
    open.push(connection);
  }
  // HAProxy resets it, either before or after the client counts it as connected.
  await openConnection(proxy.url, CALLER).then(
    ({ closed }) => closed,
    () => {},
  );
  open.push(await openConnection(proxy.url, CALLER + 1));
  for (const connection of open) {
    await isWell(connection);
    connection.hangUp();
  }
  await proxy.stop();
  await app.close();
});

needs('haproxy').it(
  'one address reaches its limit of requests per second, and another address is unaffected',
  async () => {
    const app = await openTestApp({ TRUST_PROXY_HOPS: '1' });
    const proxy = await startProxy([hostOf(app.url)], { REQUESTS_PER_ADDRESS: '1' });
    for (const [at, path] of ['/healthz', '/graphql'].entries()) {
      const greedy = await openConnection(proxy.url, CALLER);
      const modest = await openConnection(proxy.url, CALLER + 1 + at);
      // On a busy machine, there may be only two within a second.
      greedy.send(head('GET', path).repeat(50));
      let answer = await greedy.answer();
      while (answer.status !== 429) answer = await greedy.answer();
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(JSON.stringify(jsonOf(answer))).toContain('"code":"RATE_LIMITED"');
      modest.send(head('GET', '/healthz'));
      expect((await modest.answer()).status).toBe(200);
      greedy.hangUp();
      modest.hangUp();
    }
    await proxy.stop();
    await app.close();
  },
);

needs('haproxy').it('with a certificate, it uses TLS and HTTP/2, and redirects plain HTTP', async () => {
  const app = await openTestApp({ TRUST_PROXY_HOPS: '1' });
  const folder = temporaryFolder('certificate');
  const file = join(folder.path, 'certificate.pem');
  writeCertificate(file);
  const secure = await freeAddress();
  const proxy = await startProxy([hostOf(app.url)], { BIND_TLS: secure, CERTIFICATE: file });

  const plain = await fetch(`${proxy.url}/v1/jobs?page=2`, { redirect: 'manual' });
  expect([plain.status, plain.headers.get('location')]).toEqual([308, `https://${hostOf(proxy.url)}/v1/jobs?page=2`]);
  const answer = await getByTls(`https://${secure}/healthz`);
  expect(answer).toMatchObject({ status: 200, headers: { 'strict-transport-security': 'max-age=31536000' } });
  const session = connectHttp2(`https://${secure}`, { rejectUnauthorized: false });
  const [headers] = (await once(session.request({ ':path': '/healthz' }), 'response')) as [Json];
  expect(headers[':status']).toBe(200);
  session.destroy();
  await proxy.stop();
  folder.remove();
  await app.close();
});

function hostOf(url: string): string {
  return new URL(url).host;
}

async function getByTls(url: string): Promise<{ status: number | undefined; headers: RequestOptions['headers'] }> {
  const call = request(url, { rejectUnauthorized: false }).end();
  const [answer] = await once(call, 'response');
  answer.resume();
  return { status: answer.statusCode, headers: answer.headers };
}

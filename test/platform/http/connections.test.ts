/** The limits of a port without a proxy, over real sockets. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REQUESTS_AHEAD_MAX } from '../../../src/platform/caller-limits.js';
import { homeowner, programOf, type Person } from '../../story/cast.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { until } from '../security/until.js';

const PING = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

interface Client {
  readonly socket: Socket;
  heard: string;
  readonly closed: Promise<unknown>;
  answers(count: number): Promise<string[]>;
}

async function open(url: string, from = '127.0.0.1'): Promise<Client> {
  const { port } = new URL(url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: from, noDelay: true });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const client: Client = {
    socket,
    heard: '',
    closed,
    async answers(count) {
      const statuses = () => client.heard.match(/HTTP\/1\.1 \d{3}/g) ?? [];
      while (statuses().length < count && !socket.destroyed) await Promise.race([once(socket, 'data'), closed]);
      return statuses().map((line) => line.slice(-3));
    },
  };
  socket.setEncoding('latin1').on('data', (text: string) => (client.heard += text));
  socket.on('error', () => {});
  await once(socket, 'connect');
  return client;
}

/** Sends a request that gets no response until the test releases a lock. */
async function held(work: (ask: string) => Promise<void>): Promise<void> {
  await app.sql.begin(async (tx) => {
    await tx`select from users where id = ${hanna.userId} for update`;
    const body = JSON.stringify({ user: { first_name: 'Hanna' } });
    await work(
      `PUT /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${hanna.token}\r\nContent-Type: ` +
        `application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
}

describe('requests sent ahead on a connection', () => {
  it('get responses in the order in which they were sent', async () => {
    const client = await open(app.url);
    const paths = ['/healthz', '/nowhere', '/healthz', '/v1/me'];
    client.socket.write(paths.map((path) => PING.replace('/healthz', path)).join(''));
    expect(await client.answers(4)).toEqual(['200', '404', '200', '401']);
    client.socket.destroy();
  });

  it('count as unread while their responses wait for an earlier one, and are limited', async () => {
    const { url, quotas } = await app.another({}, { unreadBytes: { perAddress: 100_000 } });
    const client = await open(url);
    await held(async (slow) => {
      client.socket.write(slow + PING);
      await until(() => quotas.unreadBytes.inUse() > 0);
      client.socket.write(PING.replace('/healthz', '/openapi.json'));
      await client.closed;
    });
    await until(() => quotas.unreadBytes.inUse() === 0);
  });

  it('count while a body is on its way, and not after their connection has closed', async () => {
    const { url, quotas } = await app.another();
    const client = await open(url);
    await held(async (slow) => {
      client.socket.write(`${slow}GET /openapi.json HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n`);
      await until(() => quotas.unreadBytes.inUse() > 100_000);
      client.socket.destroy();
      await until(() => quotas.unreadBytes.inUse() === 0);
    });
    const { token } = await programOf(app, hanna);
    const gone = await open(url);
    await app.sql.begin(async (tx) => {
      await tx`lock table api_keys in access exclusive mode`;
      const ask = (method: string) => `${method} /v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;
      gone.socket.write(ask('GET') + ask('HEAD'));
      await until(() => quotas.requests.inUse() === 2);
      gone.socket.destroy();
      await until(() => quotas.connections.inUse() === 0);
    });
    await until(() => quotas.requests.inUse() === 0);
    expect(quotas.unreadBytes.inUse()).toBe(0);
  });

  it('don’t open a stream after their connection has closed', async () => {
    const { token } = await programOf(app, hanna);
    const query = encodeURIComponent('subscription { myEvents { id } }');
    const ask = (path: string, accept: string) =>
      `GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: ${accept}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const { url, quotas } = await app.another();
    const streamsEnded = () => app.logged.filter((line) => line.includes('a stream ended')).length;
    const before = streamsEnded();
    await app.sql.begin(async (tx) => {
      await tx`lock table api_keys in access exclusive mode`;
      const client = await open(url);
      client.socket.write(ask('/v1/me', '*/*') + ask(`/graphql/stream?query=${query}`, 'text/event-stream'));
      await until(() => quotas.requests.inUse() === 2);
      client.socket.destroy();
      await until(() => quotas.connections.inUse() === 0);
    });
    await until(() => streamsEnded() > before);
    expect(quotas.streams.inUse()).toBe(0);
  });

  it('get up to sixteen responses, and one more closes the connection and reaches no handler', async () => {
    const { url, quotas } = await app.another();
    const [modest, greedy] = [await open(url), await open(url)];
    await held(async (slow) => {
      modest.socket.write(slow + PING.repeat(REQUESTS_AHEAD_MAX));
      const numbered = (n: number) => `GET /nowhere HTTP/1.1\r\nHost: a\r\nX-Request-Id: greedy-${n}\r\n\r\n`;
      greedy.socket.write(slow + Array.from({ length: REQUESTS_AHEAD_MAX + 5 }, (_, at) => numbered(at + 1)).join(''));
      await greedy.closed;
      await until(() => app.logged.some((line) => line.includes(`greedy-${REQUESTS_AHEAD_MAX}"`)));
    });
    expect(greedy.heard).toBe('');
    expect(app.logged.filter((line) => line.includes(`greedy-${REQUESTS_AHEAD_MAX + 1}"`))).toEqual([]);
    expect(await modest.answers(REQUESTS_AHEAD_MAX + 1)).toHaveLength(REQUESTS_AHEAD_MAX + 1);
    modest.socket.destroy();
    // Includes responses that were queued when their connection closed.
    await until(() => quotas.requests.inUse() === 0 && quotas.connections.inUse() === 0);
  });
});

describe('a connection whose client has finished sending', () => {
  it.each([
    ['is closed', '', []],
    ['is closed with a refusal of half a request', 'GET /healthz HTTP/1.1\r\nHo', ['400']],
  ])('%s', async (_, sent, statuses) => {
    const client = await open(app.url);
    client.socket.end(sent);
    await client.closed;
    expect(await client.answers(0)).toEqual(statuses);
  });
});

describe('a chunked body', () => {
  const head = (more = '') =>
    `POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: ` +
    `chunked\r\n${more}\r\n`;
  const chunks = (text: string, bytes: number) => {
    const parts = text.match(new RegExp(`.{1,${bytes}}`, 'gs')) ?? [];
    return `${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;
  };
  const body = (length: number) => JSON.stringify({ email: hanna.email, password: 'x'.repeat(length) });

  it('is read whole, however it is split, unless all of its chunks are tiny', async () => {
    for (const [length, bytes] of [
      [500, 1],
      [900, 7],
      [990, 64],
      [60_000, 64],
    ] as const) {
      const client = await open(app.url);
      client.socket.write(head() + chunks(body(length), bytes));
      expect(await client.answers(1)).toEqual([length > 1_000 ? '400' : '401']);
      client.socket.destroy();
    }
  });

  it('that is complete leaves its connection to the next request, and to the end of the connection', async () => {
    const client = await open(app.url);
    for (const answers of [1, 2, 3]) {
      client.socket.write(head() + chunks(body(10), 100));
      expect(await client.answers(answers)).toEqual(Array.from({ length: answers }, () => '401'));
    }
    client.socket.end();
    await client.closed;
  });

  it("with one byte per chunk is refused after a thousand chunks, and the rest isn't read", async () => {
    const client = await open(app.url);
    client.socket.write(head() + chunks(body(50_000), 1));
    expect(await client.answers(1)).toEqual(['413']);
    expect(client.heard).toContain('"code":"PAYLOAD_TOO_LARGE"');
    await client.closed;
  });
});

describe('connections', () => {
  it('from one address are closed over its quota, and another address has its own', async () => {
    const { url, quotas } = await app.another({}, { connections: { perAddress: 3 } });
    const first = await Promise.all(Array.from({ length: 3 }, () => open(url)));
    await until(() => quotas.connections.inUse() === 3);
    await (
      await open(url)
    ).closed;
    const other = await open(url, '127.0.0.9');
    for (const client of [...first, other]) {
      client.socket.write(PING);
      expect(await client.answers(1)).toEqual(['200']);
    }
    first[0]?.socket.destroy();
    await until(() => quotas.connections.inUse() === 3);
    const next = await open(url);
    next.socket.write(PING);
    expect(await next.answers(1)).toEqual(['200']);
  });

  it('are closed if all are taken, and counted', async () => {
    const { url, quotas } = await app.another({}, { connections: { total: 2 } });
    const first = [await open(url), await open(url, '127.0.0.9')];
    await until(() => quotas.connections.inUse() === 2);
    await (
      await open(url)
    ).closed;
    expect(await app.metric('quota_refusals_total{quota="connections",bound="server"}')).toBe(1);
    for (const client of first) {
      client.socket.write(PING);
      expect(await client.answers(1)).toEqual(['200']);
      client.socket.destroy();
    }
    await until(() => quotas.connections.inUse() === 0);
    const next = await open(url);
    next.socket.write(PING);
    expect(await next.answers(1)).toEqual(['200']);
    next.socket.destroy();
  });

  it('get all their responses from a server that stops', async () => {
    const stopping = await openTestApp({}, { sameDatabaseAs: app });
    const client = await open(stopping.url);
    let stopped: Promise<void> | undefined;
    await held(async (slow) => {
      client.socket.write(slow + PING);
      await until(() => stopping.logged.length > 0 || stopping.services.quotas.requests.inUse() > 0);
      stopped = stopping.close();
    });
    expect(await client.answers(2)).toEqual(['200', '200']);
    await client.closed;
    await stopped;
  });

  it("on which nothing was ever sent don't keep a server from stopping", async () => {
    const stopping = await openTestApp({}, { sameDatabaseAs: app });
    let stopped: Promise<void> | undefined;
    await held(async (slow) => {
      const busy = await open(stopping.url);
      busy.socket.write(slow);
      const unused = await open(stopping.url);
      await until(() => stopping.services.quotas.connections.inUse() === 2);
      stopped = stopping.close();
      await unused.closed;
      // The server closed the unused connection, but not this one.
      expect(busy.socket.destroyed).toBe(false);
    });
    await stopped;
  });
});

/** Connections and what is sent ahead on them, over real sockets. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { homeowner, type Person } from '../cast.js';
import { openTestApp, type TestApp } from '../app.js';
import { until } from '../security/until.js';

const PING = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
/** As `requestsAhead.perConnection` is, and one piece of what was read beyond it. */
const AHEAD_MAX = 16 + Math.ceil(1_024 / PING.length);

/** How many are sent ahead of a request that is held: `npm run nightly` sends more. */
const SENT_AHEAD = Number(process.env.SENT_AHEAD ?? 1_000);

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
  /** Settles once that many answers have come. */
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

/** A request that is not answered before the test lets go of a lock. */
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
  it('are answered one after another, a thousand as well as two, in the order they were sent in', async () => {
    const client = await open(app.url);
    const ids = Array.from({ length: 1_000 }, (_, i) => `ahead-of-${i}`);
    client.socket.write(ids.map((id) => PING.replace('\r\n\r\n', `\r\nX-Request-Id: ${id}\r\n\r\n`)).join(''));
    expect(new Set(await client.answers(1_000))).toEqual(new Set(['200']));
    expect(client.heard.match(/ahead-of-\d+/g)).toEqual(ids);
    client.socket.destroy();
  });

  it('are not read beyond their share while an earlier one is under way, and all are answered in the end', async () => {
    const { url, shares } = await app.another();
    const client = await open(url);
    await held(async (slow) => {
      client.socket.write(slow);
      client.socket.write(PING.repeat(SENT_AHEAD));
      await until(() => shares.requestsAhead.inUse() > 0);
      // Whatever else there is to read is read in the turns of the loop that a call from elsewhere takes.
      for (let call = 0; call < 20; call += 1) await (await fetch(`${url}/healthz`)).text();
      expect(shares.requestsAhead.inUse()).toBeLessThanOrEqual(AHEAD_MAX);
    });
    expect((await client.answers(SENT_AHEAD + 1)).length).toBe(SENT_AHEAD + 1);
    expect(shares.requestsAhead.inUse()).toBe(0);
    client.socket.destroy();
  });

  it('are forgotten at once when their caller resets the connection', async () => {
    const { url, shares } = await app.another();
    const client = await open(url);
    await held(async (slow) => {
      client.socket.write(slow + PING.repeat(5));
      await until(() => shares.requestsAhead.inUse() === 5);
      client.socket.resetAndDestroy();
      await until(() => shares.requestsAhead.inUse() === 0);
    });
  });

  it('are forgotten when the one under way is answered, of a caller who has left', async () => {
    const { url, shares } = await app.another();
    const client = await open(url);
    await held(async (slow) => {
      client.socket.write(slow + PING.repeat(SENT_AHEAD));
      await until(() => shares.requestsAhead.inUse() > 0);
      client.socket.destroy();
    });
    await until(() => shares.requestsAhead.inUse() === 0);
  });

  it('of one address are not read beyond its share, on however many connections they come', async () => {
    const { url, shares } = await app.another({}, { requestsAhead: { perAddress: 50 } });
    const clients = await Promise.all(Array.from({ length: 20 }, () => open(url)));
    const [greedy, modest] = [clients.slice(0, 3), clients.slice(3)];
    await held(async (slow) => {
      for (const { socket } of greedy) socket.write(slow + PING.repeat(20));
      await until(() => shares.requestsAhead.inUse() >= 50);
      for (const { socket } of modest) socket.write(PING);
      const other = await open(url, '127.0.0.9');
      other.socket.write(PING);
      expect(await other.answers(1)).toEqual(['200']);
      expect(modest.map(({ heard }) => heard)).toEqual(modest.map(() => ''));
      for (const { socket } of [...greedy, other]) socket.destroy();
    });
    for (const client of modest) expect(await client.answers(1)).toEqual(['200']);
    for (const { socket } of modest) socket.destroy();
  });
});

describe('of a connection whose caller says that no more comes', () => {
  it.each([
    ['a request under way is answered first', PING, ['200']],
    ['several are, in their order', `${PING}GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n`, ['200', '404']],
    [
      'thousands are, in their order',
      'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3_000),
      Array<string>(3_000).fill('404'),
    ],
    ['half a request is refused', 'GET /healthz HTTP/1.1\r\nHo', ['400']],
    ['nothing is left where nothing was sent', '', []],
  ])('%s, and then it is closed', async (_, sent, statuses) => {
    const client = await open(app.url);
    client.socket.end(sent);
    await client.closed;
    expect(await client.answers(0)).toEqual(statuses);
  });

  it('nothing is left once what it asked is answered, however many leave at once', async () => {
    const inUse = () => app.services.shares.connections.inUse('127.0.0.7');
    const clients = await Promise.all(Array.from({ length: 300 }, () => open(app.url, '127.0.0.7')));
    for (const { socket } of clients) socket.write(PING);
    await Promise.all(clients.map((client) => client.answers(1)));
    expect(inUse()).toBe(300);
    for (const { socket } of clients) socket.end();
    await Promise.all(clients.map(({ closed }) => closed));
    await expect.poll(inUse).toBe(0);
  });
});

describe('a body in chunks', () => {
  const head = (more = '') =>
    `POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: ` +
    `chunked\r\n${more}\r\n`;
  const chunks = (text: string, bytes: number) => {
    const parts = text.match(new RegExp(`.{1,${bytes}}`, 'gs')) ?? [];
    return `${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;
  };
  const body = (length: number) => JSON.stringify({ email: hanna.email, password: 'x'.repeat(length) });

  it('is read whole, however it is cut, as long as its chunks are not all tiny', async () => {
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

  it('that came whole leaves its connection to the next request, and to the end of the connection', async () => {
    const client = await open(app.url);
    for (const answers of [1, 2, 3]) {
      client.socket.write(head() + chunks(body(10), 100));
      expect(await client.answers(answers)).toEqual(Array.from({ length: answers }, () => '401'));
    }
    client.socket.end();
    await client.closed;
  });

  it('of a byte each is refused once there are a thousand, and nothing more is read of that connection', async () => {
    const client = await open(app.url);
    client.socket.write(head() + chunks(body(50_000), 1));
    expect(await client.answers(1)).toEqual(['413']);
    expect(client.heard).toContain('"code":"PAYLOAD_TOO_LARGE"');
    await client.closed;
  });
});

describe('connections', () => {
  it('of one address are closed beyond its share, and another address has its own', async () => {
    const { url, shares } = await app.another({}, { connections: { perAddress: 3 } });
    const first = await Promise.all(Array.from({ length: 3 }, () => open(url)));
    await until(() => shares.connections.inUse() === 3);
    await (
      await open(url)
    ).closed;
    const other = await open(url, '127.0.0.9');
    for (const client of [...first, other]) {
      client.socket.write(PING);
      expect(await client.answers(1)).toEqual(['200']);
    }
    first[0]?.socket.destroy();
    await until(() => shares.connections.inUse() === 3);
    const next = await open(url);
    next.socket.write(PING);
    expect(await next.answers(1)).toEqual(['200']);
  });

  it('with half a request give way to others before those that have been answered and are idle', async () => {
    const { url, shares } = await app.another({}, { connections: { total: 20 } });
    const idle = await Promise.all(Array.from({ length: 10 }, () => open(url)));
    // Their body comes in a read of its own.
    const head =
      'POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n' +
      'Content-Length: 2\r\n\r\n';
    for (const client of idle) {
      client.socket.write(head);
      await client.answers(1);
      client.socket.write('{}');
      await client.answers(2);
    }
    const half = await Promise.all(Array.from({ length: 10 }, (_, i) => open(url, `127.0.1.${i + 1}`)));
    for (const { socket } of half) socket.write('GET /healthz HTTP/1.1\r\nHo');
    await until(() => shares.connections.inUse() === 20);
    const late = await open(url, '127.0.2.1');
    late.socket.write(PING);
    expect(await late.answers(1)).toEqual(['200']);
    await Promise.all(half.map(({ closed }) => closed));
    for (const client of idle) {
      client.socket.write(PING);
      expect(await client.answers(3)).toEqual(['100', '400', '200']);
    }
  });

  it('that are idle give way where all are taken, but none with a request under way', async () => {
    const { url } = await app.another({}, { connections: { total: 5 } });
    await held(async (slow) => {
      const busy = await open(url);
      busy.socket.write(slow);
      const idle = await Promise.all(Array.from({ length: 4 }, () => open(url)));
      for (const client of idle) {
        client.socket.write(PING);
        await client.answers(1);
      }
      const late = await open(url);
      late.socket.write(PING);
      expect(await late.answers(1)).toEqual(['200']);
      await Promise.all(idle.map(({ closed }) => closed));
      expect(busy.socket.destroyed).toBe(false);
    });
    expect(app.logged.some((line) => line.includes('connection limit reached'))).toBe(true);
  });

  it('whose callers have reset them before they were accepted are closed, and what they sent is not read', async () => {
    const { port } = new URL(app.url);
    const { connections } = app.services.shares;
    const [inUse, before] = [connections.inUse(), app.logged.length];
    // The server shares this event loop, which stands until the callers have left.
    execFileSync(process.execPath, ['-e', RESETTING, port, PING.replace('/healthz', '/v1/me')]);
    const { socket, answers } = await open(app.url);
    socket.write(PING);
    expect(await answers(1)).toEqual(['200']);
    socket.destroy();
    await until(() => connections.inUse() === inUse);
    expect(app.logged.slice(before).filter((line) => line.includes('GET /v1/me'))).toEqual([]);
  });

  it('that one address opens beyond its share of a second are closed unread, and those of others are not', async () => {
    const crowded = await openTestApp({ SHARE_NEW_CONNECTIONS_PER_ADDRESS: '5' }, { sameDatabaseAs: app });
    const heardBy = async (from: string) => {
      const { socket, answers } = await open(crowded.url, from);
      socket.write(PING);
      const [status = 'closed'] = await answers(1).catch((): string[] => []);
      socket.destroy();
      return status;
    };
    const greedy = await Promise.all(Array.from({ length: 20 }, () => heardBy('127.0.0.5')));
    expect(greedy.toSorted()).toEqual([...Array(5).fill('200'), ...Array(15).fill('closed')]);
    expect(await heardBy('127.0.0.6')).toBe('200');
    expect(await (await fetch(`${crowded.url}/metrics`)).text()).toContain(
      'share_refusals_total{share="newConnections",bound="address"} 15',
    );
    await until(() => crowded.services.shares.newConnections.inUse('127.0.0.5') === 0);
    expect(await heardBy('127.0.0.5')).toBe('200');
    await crowded.close();
  });

  it('on which nothing was ever sent do not keep a server from stopping', async () => {
    const stopping = await openTestApp({}, { sameDatabaseAs: app });
    let stopped: Promise<void> | undefined;
    await held(async (slow) => {
      const busy = await open(stopping.url);
      busy.socket.write(slow);
      const unused = await open(stopping.url);
      await until(() => stopping.services.shares.connections.inUse() === 2);
      stopped = stopping.close();
      await unused.closed;
      // Not with those that are cut because the server has waited long enough.
      expect(busy.socket.destroyed).toBe(false);
    });
    await stopped;
  });
});

/** Opens twenty connections, sends a request on each, and resets them all. */
const RESETTING = `
  const [port, request] = process.argv.slice(1);
  for (let at = 0; at < 20; at += 1) {
    const socket = require('node:net').connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {}).once('connect', () => socket.write(request, () => socket.resetAndDestroy()));
  }`;

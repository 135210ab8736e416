/** A slow client loses its connection, and another client, which reads all the time, doesn't notice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { head, openConnection, refusalIn, type RawConnection } from '../../attacks/raw-connection.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { homeowner, type Person } from '../../story/cast.js';
import { atOnce } from '../../story/scenes.js';
import { until } from '../../platform/security/until.js';

let app: TestApp;
let hanna: Person;
const opened: RawConnection[] = [];

beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
});
afterAll(async () => {
  for (const one of opened) one.hangUp();
  await app.close();
});

async function connection(url = app.url, from?: number): Promise<RawConnection> {
  const one = await openConnection(url, from);
  opened.push(one);
  return one;
}

const READS_MIN = 5;
/** The machine is shared. A caller who had to wait for the attack would wait far longer. */
const READ_MS_MAX = 1_000;
const MEDIAN_READ_MS_MAX = 100;

/** Hanna reads all the time, and every read succeeds as usual. */
async function unnoticed<T>(attack: () => Promise<T>, url = app.url): Promise<T> {
  let over = false;
  const attacking = attack().finally(() => (over = true));
  attacking.catch(() => {}); // It is awaited at the end.
  const took: number[] = [];
  do {
    const began = performance.now();
    const { status } = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${hanna.token}` } });
    took.push(performance.now() - began);
    expect(status).toBe(200);
    await sleep(1);
  } while (!over || took.length < READS_MIN);
  took.sort((a, b) => a - b);
  expect(took.at(-1)).toBeLessThan(READ_MS_MAX);
  expect(took[Math.floor(took.length / 2)]).toBeLessThan(MEDIAN_READ_MS_MAX);
  return attacking;
}

/** The server's largest response: more than the system buffers for a client that doesn't read. */
const LARGE = '/graphql/playground/graphiql.js';

function dripping(all: readonly RawConnection[], drop: string): NodeJS.Timeout {
  return setInterval(() => {
    for (const one of all) one.send(drop);
  }, 50);
}

describe('a slow client loses its connection, and others continue: slow', () => {
  it('with the head of a request', async () => {
    const { url } = await app.another({ headMs: 400 });
    await unnoticed(async () => {
      const slow = await Promise.all(Array.from({ length: 100 }, () => connection(url)));
      const drip = dripping(slow, 'X-A: b\r\n');
      for (const one of slow) one.send('GET /v1/me HTTP/1.1\r\nHost: market.test\r\n');
      for (const one of slow) expect(refusalIn(await one.answer())).toEqual([400, 'MALFORMED_REQUEST']);
      clearInterval(drip);
      await Promise.all(slow.map(({ closed }) => closed));
    }, url);
  });

  it('with sending anything at all', async () => {
    const { url } = await app.another({ headMs: 400 });
    await unnoticed(async () => {
      const silent = await Promise.all(Array.from({ length: 100 }, () => connection(url)));
      await Promise.all(silent.map(({ closed }) => closed));
    }, url);
  });

  it('with a body, even a byte at a time', async () => {
    const { url } = await app.another({ headMs: 400, requestMs: 800 });
    await unnoticed(async () => {
      const slow = await Promise.all(Array.from({ length: 100 }, () => connection(url)));
      for (const one of slow)
        one.send(head('POST', '/v1/auth/login', ['Content-Type: application/json', 'Content-Length: 10000']));
      const drip = dripping(slow, ' ');
      for (const one of slow) expect(refusalIn(await one.answer())).toEqual([400, 'MALFORMED_REQUEST']);
      clearInterval(drip);
      await Promise.all(slow.map(({ closed }) => closed));
    }, url);
  });

  it('with reading a response, while a fast client gets all of it', async () => {
    const { url } = await app.another({ stalledMs: 300 });
    const readWhole = async () =>
      (await (await fetch(`${url}${LARGE}`, { headers: { 'accept-encoding': 'identity' } })).arrayBuffer()).byteLength;
    const whole = await readWhole();
    expect(whole).toBeGreaterThan(5_000_000);
    const left = () => app.logged.filter((entry) => entry.includes('response not read by the client')).length;
    const before = left();
    await unnoticed(async () => {
      // Ten addresses, because a single one may leave no more than forty million bytes unread.
      const slow = await Promise.all(Array.from({ length: 10 }, (_, at) => connection(url, at)));
      for (const one of slow) {
        one.socket.pause();
        one.send(head('GET', LARGE, ['Accept-Encoding: identity']));
      }
      await until(() => left() === before + slow.length);
      const [first] = slow;
      let bytes = 0;
      first?.socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
      first?.socket.resume();
      await first?.closed;
      expect(bytes).toBeLessThan(whole);
    }, url);
    expect(await readWhole()).toBe(whole);
  });

  it('between two requests', async () => {
    const { url } = await app.another({ idleMs: 300 });
    const one = await connection(url);
    one.send(head('GET', '/healthz'));
    expect((await one.answer()).status).toBe(200);
    await one.closed;
  });
});

describe('idle connections', () => {
  const served = async (url: string, from: number): Promise<RawConnection> => {
    const one = await connection(url, from);
    one.send(head('GET', '/healthz'));
    expect((await one.answer()).status).toBe(200);
    return one;
  };

  it('two thousand of them disturb nobody, and each still works', async () => {
    await unnoticed(async () => {
      const idle = await atOnce(Array.from({ length: 2_000 }), (_, at) => served(app.url, at), 100);
      for (const one of idle) one.send(head('GET', '/healthz'));
      for (const one of idle) expect((await one.answer()).status).toBe(200);
      for (const one of idle) one.hangUp();
    });
  });
});

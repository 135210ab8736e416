/**
 * What HTTP can do to a server: every broken request is refused in the documented form or its connection is closed, a
 * slow client loses its connection, and another client, which reads all the while, does not notice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { homeowner, type Person } from '../cast.js';
import { openTestApp, type TestApp } from '../app.js';
import { atOnce } from '../scenes.js';
import { until } from '../security/until.js';
import { BROKEN_HEADS, brokenBodies, type BrokenRequest } from './broken-requests.js';
import { head, jsonOf, openConnection, post, type RawConnection, type RawAnswer } from './raw-connection.js';
import { expectTimed } from '../timing.js';

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
/** The machine is shared; a caller who had to wait for the attack would wait far longer. */
const READ_MS_MAX = 1_000;
const MEDIAN_READ_MS_MAX = 100;

/** Hanna reads all the while, and every read is answered as ever. */
async function unnoticed<T>(attack: () => Promise<T>, url = app.url): Promise<T> {
  let over = false;
  const attacking = attack().finally(() => (over = true));
  attacking.catch(() => {}); // It is awaited in the end.
  const took: number[] = [];
  do {
    const began = performance.now();
    const { status } = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${hanna.token}` } });
    took.push(performance.now() - began);
    expect(status).toBe(200);
    await sleep(1);
  } while (!over || took.length < READS_MIN);
  took.sort((a, b) => a - b);
  expectTimed(() => {
    expect(took.at(-1)).toBeLessThan(READ_MS_MAX);
    expect(took[Math.floor(took.length / 2)]).toBeLessThan(MEDIAN_READ_MS_MAX);
  });
  return attacking;
}

/** Also checks the form: four keys, always all of them, and the request's own id. */
function refusalIn(answer: RawAnswer): readonly [number, string] {
  const body = jsonOf(answer);
  expect(Object.keys(body)).toEqual(['status', 'error', 'details', 'blocked_fields']);
  expect(body).toMatchObject({ status: answer.status, error: expect.stringMatching(/\S.*\.$/), blocked_fields: [] });
  expect(body.details.request_id).toBe(answer.headers.get('x-request-id'));
  for (const name of ['x-injected', 'set-cookie', 'x-b']) expect(answer.headers.has(name)).toBe(false);
  return [answer.status, body.details.code];
}

async function refuse({ bytes, refused, closes }: BrokenRequest): Promise<void> {
  const one = await connection();
  one.send(bytes);
  if (refused) expect(refusalIn(await one.answer())).toEqual(refused);
  if (closes) return one.closed;
  one.send(head('GET', '/healthz'));
  expect((await one.answer()).status).toBe(200);
  one.hangUp();
}

describe('refused in the documented form, while others go on: (timed)', () => {
  it.each(BROKEN_HEADS)('$what', (request) => unnoticed(() => refuse(request)));
});

describe('a body refused in the documented form, while others go on: (timed)', () => {
  it.each(brokenBodies('').map(({ what }, at) => ({ what, at })))('$what', ({ at }) =>
    unnoticed(() => refuse(brokenBodies(hanna.token)[at]!)),
  );

  it('and none of them has made a job', async () => {
    const [made] = await app.sql`select count(*)::int as jobs from jobs`;
    expect(made).toEqual({ jobs: 0 });
  });
});

describe('what is odd and right is answered (timed)', () => {
  const asHanna = () => `Authorization: Bearer ${hanna.token}`;
  const READ: [what: string, bytes: () => string][] = [
    ['the whole address, as a proxy asks', () => head('GET', 'http://market.test/v1/me', [asHanna()])],
    ['the whole address without a path', () => head('GET', 'HTTP://market.test')],
    [
      'two hundred headers, of which the last one counts',
      () => head('GET', '/v1/me', [...Array.from({ length: 198 }, () => 'a:'), asHanna()]),
    ],
    ['an upgrade that is passed over', () => head('GET', '/v1/me', [asHanna(), 'Connection: Upgrade', 'Upgrade: h2c'])],
    ['HTTP/1.0 without a Host', () => `GET /v1/me HTTP/1.0\r\n${asHanna()}\r\n\r\n`],
    ...['', 'a:', '[::1]:4000', '127.0.0.1:4000', 'xn--mnchen-3ya.market_test.'].map((host): [string, () => string] => [
      `the Host “${host}”`,
      () => `GET /v1/me HTTP/1.1\r\nHost: ${host}\r\n${asHanna()}\r\n\r\n`,
    ]),
    ['empty lines beforehand', () => `\r\n\r\n${head('GET', '/v1/me', [asHanna()])}`],
  ];
  it.each(READ)('%s', async (_what, bytes) => {
    const one = await connection();
    one.send(bytes());
    expect((await one.answer()).status).toBe(200);
  });

  it('a body in a hundred chunks, after a nod', async () => {
    const one = await connection();
    one.send(
      head('PUT', '/v1/me', [
        asHanna(),
        'Expect: 100-continue',
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
      ]),
    );
    for (const letter of JSON.stringify({ user: { phone: '7'.repeat(80) } })) one.send(`1\r\n${letter}\r\n`);
    one.send('0\r\n\r\n');
    expect(jsonOf(await one.answer()).user.phone).toBe('7'.repeat(80));
  });

  it('a thousand requests on one connection, one behind the other, in their order', async () => {
    const one = await connection();
    await unnoticed(async () => {
      one.send(
        Array.from({ length: 1_000 }, (_, i) => head('GET', '/healthz', [`X-Request-Id: number.${i}`])).join(''),
      );
      for (let i = 0; i < 1_000; i += 1) expect((await one.answer()).headers.get('x-request-id')).toBe(`number.${i}`);
    });
  });

  it('requests that were sent without waiting, of which each counts on those before it', async () => {
    const eager = await connection();
    const draft = JSON.stringify({ title: 'Sent without waiting', description: 'And read at once.' });
    const create =
      `POST /v1/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${hanna.token}\r\nContent-Type: ` +
      `application/json\r\nContent-Length: ${draft.length}\r\n\r\n${draft}`;
    const count = `GET /v1/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${hanna.token}\r\n\r\n`;
    eager.send(Array.from({ length: 10 }, () => create + count).join(''));
    for (let made = 1; made <= 10; made += 1) {
      expect((await eager.answer()).status).toBe(201);
      expect(jsonOf(await eager.answer()).pagination.total).toBe(made);
    }
  });

  it('a request behind one that closes the connection is nobody’s, and is not run', async () => {
    const one = await connection();
    const change = (phone: string, ...headers: string[]) =>
      Buffer.from(
        post('/v1/me', JSON.stringify({ user: { phone } }), [asHanna(), ...headers])
          .toString()
          .replace('POST', 'PUT'),
      );
    one.send(Buffer.concat([change('first', 'Connection: close'), change('smuggled')]));
    expect(jsonOf(await one.answer()).user.phone).toBe('first');
    await one.closed;
    expect((await app.rest('GET', '/v1/me', { token: hanna.token })).body.user.phone).toBe('first');
  });

  it('a whole request before nonsense is answered, and the connection is closed', async () => {
    const one = await connection();
    one.send(`${head('GET', '/v1/me', [asHanna()])}NONSENSE\r\n\r\n`);
    expect((await one.answer()).status).toBe(200);
    await one.closed;
  });
});

/** The largest thing that this server says: more than the system keeps for a reader who does not read. */
const LARGE = '/graphql/playground/graphiql.js';

function dripping(all: readonly RawConnection[], drop: string): NodeJS.Timeout {
  return setInterval(() => {
    for (const one of all) one.send(drop);
  }, 50);
}

describe('a slow client loses its connection, and others go on (timed)', () => {
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

  it('with saying anything at all', async () => {
    const { url } = await app.another({ headMs: 400 });
    await unnoticed(async () => {
      const silent = await Promise.all(Array.from({ length: 100 }, () => connection(url)));
      await Promise.all(silent.map(({ closed }) => closed));
    }, url);
  });

  it('with a body, be it a byte at a time', async () => {
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

  it('with taking an answer, while a quick one gets the whole of it', async () => {
    const { url } = await app.another({ stalledMs: 300 });
    const readWhole = async () =>
      (await (await fetch(`${url}${LARGE}`, { headers: { 'accept-encoding': 'identity' } })).arrayBuffer()).byteLength;
    const whole = await readWhole();
    expect(whole).toBeGreaterThan(5_000_000);
    const left = () => app.logged.filter((entry) => entry.includes('response not read by the client')).length;
    const before = left();
    await unnoticed(async () => {
      // From as many addresses: what one of them has not taken yet may be no more than forty million bytes.
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

describe('idle connections (timed)', () => {
  const served = async (url: string, from: number): Promise<RawConnection> => {
    const one = await connection(url, from);
    one.send(head('GET', '/healthz'));
    expect((await one.answer()).status).toBe(200);
    return one;
  };

  it('two thousand of them disturb nobody, and each is still good', async () => {
    await unnoticed(async () => {
      const idle = await atOnce(Array.from({ length: 2_000 }), (_, at) => served(app.url, at), 100);
      for (const one of idle) one.send(head('GET', '/healthz'));
      for (const one of idle) expect((await one.answer()).status).toBe(200);
      for (const one of idle) one.hangUp();
    });
  });
});

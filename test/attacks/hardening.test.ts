/**
 * HTTP-level attacks on a server. Every broken request gets a documented error, or its connection closes. Unusual but
 * valid requests succeed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { homeowner, type Person } from '../story/cast.js';
import { openTestApp, type TestApp } from '../setup/app.js';
import { BROKEN_HEADS, brokenBodies, type BrokenRequest } from './broken-requests.js';
import { head, jsonOf, openConnection, post, refusalIn, type RawConnection } from './raw-connection.js';

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

async function expectRefused({ bytes, refused, closes }: BrokenRequest): Promise<void> {
  const one = await connection();
  one.send(bytes);
  if (refused) expect(refusalIn(await one.answer())).toEqual(refused);
  if (closes) return one.closed;
  one.send(head('GET', '/healthz'));
  expect((await one.answer()).status).toBe(200);
  one.hangUp();
}

describe('refused in the documented format', () => {
  it.each(BROKEN_HEADS)('$what', expectRefused);
});

describe('a body refused in the documented format', () => {
  it.each(brokenBodies('').map(({ what }, at) => ({ what, at })))('$what', ({ at }) =>
    expectRefused(brokenBodies(hanna.token)[at]!),
  );

  it('and none of them has created a job', async () => {
    const [made] = await app.sql`select count(*)::int as jobs from jobs`;
    expect(made).toEqual({ jobs: 0 });
  });
});

describe('odd but correct requests get a response', () => {
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

  it('a body in a hundred chunks, after a 100 Continue', async () => {
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

  it("a request after one that closes the connection belongs to nobody, and isn't run", async () => {
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

  it('a complete request before garbage gets a response, and the connection is closed', async () => {
    const one = await connection();
    one.send(`${head('GET', '/v1/me', [asHanna()])}NONSENSE\r\n\r\n`);
    expect((await one.answer()).status).toBe(200);
    await one.closed;
  });
});

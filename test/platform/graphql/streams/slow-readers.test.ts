/** A client that doesn't read is cut off, and no other client notices. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Quotas } from '../../../../src/platform/quotas/quotas.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { homeowner, type Person } from '../../../story/cast.js';
import { DRAFT } from '../../../story/journey.js';
import { until } from '../../security/until.js';
import { connectAs, MY_EVENTS, untilOpen } from './clients.js';

/** More than the operating system buffers for an unread connection. */
const EVENTS = 6_000;
const BYTES_OF_EACH = 5_000;

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
  const job = (await app.rest('POST', '/v1/jobs', { token: hanna.token, body: DRAFT })).body.id;
  await app.sql`
    insert into events (id, job_id, sequence, type, actor_id, homeowner_id, data)
    select 'evt_' || lpad(n::text, 27, '0'), ${job}, 1000 + n, 'job.updated', ${hanna.userId}, ${hanna.profileId},
      jsonb_build_object('notes', repeat('x', ${BYTES_OF_EACH}::int))
    from generate_series(1, ${EVENTS}::int) n`;
  for (let left = 1; left > 0;) {
    const [waiting] = await app.sql`select count(*)::int as left from events where position is null`;
    left = waiting?.left;
  }
});
afterAll(() => app.close());

type Unread = (url: string, token?: string) => Promise<{ closed: Promise<unknown> }>;

const CHANNELS: [name: string, channel: string, open: Unread][] = [
  [
    'a WebSocket',
    'websocket',
    async (url, token = hanna.token) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      socket.on('error', () => {});
      const closed = once(socket, 'close');
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
      await once(socket, 'message');
      const payload = { query: MY_EVENTS, variables: { after: '0' } };
      socket.send(JSON.stringify({ type: 'subscribe', id: 'unread', payload }));
      socket.pause();
      return { closed };
    },
  ],
  [
    'server-sent events',
    'sse',
    async (url, token = hanna.token) => {
      const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` };
      const variables = encodeURIComponent('{"after":"0"}');
      const path = `/graphql/stream?query=${encodeURIComponent(MY_EVENTS)}&variables=${variables}`;
      const sent = request(url + path, { headers, agent: false }).end();
      sent.on('error', () => {});
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.pause();
      response.on('error', () => {});
      return { closed: once(response, 'close') };
    },
  ],
];

it.each(CHANNELS)(
  "%s that isn't read is cut off, and unread bytes are counted meanwhile",
  async (_name, channel, open) => {
    const { url, quotas } = await app.another({ stalledMs: 500 });
    const counted = unreadBytesOf(quotas);
    const other = connectAs(url, await homeowner(app, 'Olga'));
    const heard = other.subscribe(MY_EVENTS);
    await untilOpen({ quotas }, 1);
    const ends = `streams_ended_total{channel="${channel}",end="slow"}`;
    expect(await app.metric(ends)).toBe(0);
    await open(url);
    await until(() => counted.length > 0);
    // Few of each stream's events wait in memory. The server reads the rest once there is room.
    expect(counted[0]).toBeLessThan(4 * BYTES_OF_EACH);
    await untilOpen({ quotas }, 1);
    expect(await app.metric(ends)).toBe(1);
    expect(quotas.unreadBytes.inUse()).toBe(0);
    expect(heard.events).toEqual([]);
    await other.client.dispose();
  },
);

/** The total unread bytes after each response that has to wait or is cut off. Polling might miss a change. */
function unreadBytesOf({ unreadBytes }: Quotas): readonly number[] {
  const counted: number[] = [];
  const { take } = unreadBytes;
  vi.spyOn(unreadBytes, 'take').mockImplementation((...given) => {
    try {
      return take(...given);
    } finally {
      counted.push(unreadBytes.inUse());
    }
  });
  return counted;
}

it('a stream that may have no unread bytes is cut off immediately', async () => {
  const { url, quotas } = await app.another({}, { unreadBytes: { perUser: 1 } });
  for (const [, channel, open] of CHANNELS) {
    const ends = `streams_ended_total{channel="${channel}",end="slow"}`;
    const before = await app.metric(ends);
    const counted = unreadBytesOf(quotas);
    await open(url);
    await until(() => counted.length > 0);
    await until(() => quotas.streams.inUse() === 0);
    expect(await app.metric(ends)).toBe(before + 1);
  }
});

it("server-sent events that aren't read don't keep their connection open after a logout", async () => {
  const { email, password } = hanna;
  const { token } = (await app.rest('POST', '/v1/auth/login', { body: { email, password } })).body;
  const { url, quotas } = await app.another({ stalledMs: 20_000 });
  const counted = unreadBytesOf(quotas);
  const [, [, , open]] = CHANNELS as [unknown, (typeof CHANNELS)[number]];
  await open(url, token);
  await untilStuck(quotas, counted);
  await app.rest('POST', '/v1/auth/logout', { token });
  await until(() => quotas.streams.inUse() === 0);
  expect(await app.metric('streams_ended_total{channel="sse",end="session_ended"}')).toBe(1);
  await until(() => quotas.connections.inUse() === 0);
});

it.each([
  ['with their connection', 30_000, (socket: Socket) => socket.destroy()],
  ['when they take too long', 500, () => {}],
])('server-sent events behind another response free their unread bytes %s', async (_name, stalledMs, end) => {
  const { url, quotas } = await app.another({ stalledMs });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  const ask = (variables: object) =>
    `GET /graphql/stream?${new URLSearchParams({ query: MY_EVENTS, variables: JSON.stringify(variables) })} ` +
    `HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${hanna.token}\r\n\r\n`;
  socket.write(ask({}) + ask({ after: '0' }));
  await until(() => quotas.unreadBytes.inUse() > 0);
  end(socket);
  await until(() => quotas.streams.inUse() === 0);
  await until(() => quotas.unreadBytes.inUse() === 0);
});

/** Resolves once the buffers of an unread connection are full, so no response has left for a while. */
async function untilStuck({ unreadBytes }: Quotas, counted: readonly number[]): Promise<void> {
  let before = -1;
  let checks = 0;
  await until(() => {
    checks = counted.length === before && unreadBytes.inUse() > 0 ? checks + 1 : 0;
    before = counted.length;
    return checks === 40;
  });
}

it('a client that reads slowly but steadily gets everything, in order and once', async () => {
  const { client, subscribe } = connectAs(app.url, hanna);
  const heard = subscribe(MY_EVENTS, { after: '0' });
  await heard.count(EVENTS + 1);
  const positions = heard.events.map(({ position }) => Number(position));
  expect(positions).toEqual(positions.toSorted((one, other) => one - other));
  expect(new Set(positions).size).toBe(EVENTS + 1);
  await client.dispose();
});

/** WebSockets: who may open one, what clients may send, how a connection ends, and when clients reconnect. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import { WEB_SOCKET } from '../../../../src/platform/caller-limits.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { homeowner, type Person } from '../../../story/cast.js';
import { DRAFT } from '../../../story/journey.js';
import { until } from '../../security/until.js';
import { connectAs, hear, MY_EVENTS, untilOpen } from './clients.js';

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp({ CORS_ORIGINS: 'https://app.example' });
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

async function draft(by: Person = hanna): Promise<string> {
  return (await app.rest('POST', '/v1/jobs', { token: by.token, body: DRAFT })).body.id;
}

const PROTOCOL = 'graphql-transport-ws';
const INIT = (person: Person) => ({ type: 'connection_init', payload: { authorization: `Bearer ${person.token}` } });

/** A handwritten client that sends what the library's clients wouldn't. */
class Raw {
  readonly socket: WebSocket;
  readonly messages: Json[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #changed = () => {};

  constructor(url: string, protocol: string | string[] = PROTOCOL, options: ClientOptions = {}) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, protocol, options);
    this.socket.on('error', () => {});
    this.socket.on('message', (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString()));
      this.#changed();
    });
    this.closed = new Promise((resolve) =>
      this.socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
    );
  }

  async send(...messages: unknown[]): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open');
    for (const message of messages) this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async heard(type: string): Promise<Json> {
    for (;;) {
      const found = this.messages.find((message) => message.type === type);
      if (found) return found;
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
  }
}

/** Returns the HTTP response that refuses an upgrade. */
async function refused(url: string, options: ClientOptions = {}): Promise<{ status: number; body: Json }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, PROTOCOL, options);
  socket.on('error', () => {});
  const [, response] = (await once(socket, 'unexpected-response')) as [ClientRequest, IncomingMessage];
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode ?? 0, body: JSON.parse(text) };
}

describe('a client', () => {
  it('reconnects to another instance when its own stops, misses nothing, and receives nothing twice', async () => {
    const second = await app.another();
    const closing = await openTestApp({}, { sameDatabaseAs: app });
    const olga = await homeowner(app, 'Olga');
    const urls = [closing.url, second.url];
    const closes: number[] = [];
    const { client } = connectAs(closing.url, olga, {
      url: () => `${(urls.shift() ?? second.url).replace('http', 'ws')}/graphql`,
      retryAttempts: 3,
      retryWait: async () => {
        // The client is disconnected at this point.
        await draft(olga);
      },
    });
    client.on('closed', (event) => closes.push((event as { code: number }).code));
    // The client reads the payload again for each connection.
    const variables: Record<string, unknown> = {};
    const heard = hear((sink) =>
      client.subscribe(
        { query: MY_EVENTS, variables },
        {
          ...sink,
          next: (answer: Json) => {
            variables.after = answer.data.myEvents.position;
            sink.next(answer);
          },
        },
      ),
    );
    await untilOpen(closing.services, 1);
    const jobs = [await draft(olga), await draft(olga)];
    await heard.count(2);
    await closing.close();
    await untilOpen(second, 1);
    jobs.push(await draft(olga));
    await heard.count(4);
    expect(closes).toEqual([1012]);
    expect(heard.events.map(({ jobId }) => jobId).filter((id) => jobs.includes(id))).toEqual(jobs);
    expect(new Set(heard.events.map(({ id }) => id)).size).toBe(4);
    await client.dispose();
    await untilOpen(second, 0);
  });

  it.each([
    ['no token', undefined, 'This requires a token'],
    ['something else than a token', { token: 'nonsense' }, 'contain a valid token'],
    ['an API key that does not exist', { token: `jmk_${'a'.repeat(40)}` }, ''],
  ])("with %s gets a 4401 and doesn't reconnect", async (_what, person, words) => {
    const { closed, subscribe } = connectAs(app.url, person, { retryAttempts: 5 });
    const heard = subscribe(MY_EVENTS);
    const { code, reason } = await closed;
    expect([code, reason]).toEqual([4401, expect.stringContaining(words)]);
    expect(await heard.ended).toMatchObject({ code: 4401 });
  });

  it('whose session has ended gets a 4401', async () => {
    const olga = await homeowner(app, 'Olga');
    await app.rest('POST', '/v1/auth/logout', { token: olga.token });
    const { closed, subscribe } = connectAs(app.url, olga);
    subscribe(MY_EVENTS);
    expect(await closed).toMatchObject({ code: 4401, reason: 'The session has ended. Log in again.' });
  });

  it('that logs out gets a 4401, and one whose token expires gets a 4403 and may reconnect', async () => {
    const olga = await homeowner(app, 'Olga');
    const { closed, subscribe } = connectAs(app.url, olga);
    subscribe(MY_EVENTS);
    await untilOpen(app.services, 1);
    await app.rest('POST', '/v1/auth/logout', { token: olga.token });
    expect(await closed).toMatchObject({ code: 4401 });

    const shortLived = await app.another({ afterExpiryMs: -(15 * 60 - 1) * 1_000 });
    const expiring = connectAs(shortLived.url, await homeowner(app, 'Olga'));
    expiring.subscribe(MY_EVENTS);
    expect(await expiring.closed).toMatchObject({ code: 4403 });
  });

  it('may name its document by hash once that is known', async () => {
    const { client } = connectAs(app.url, hanna);
    const sha256Hash = createHash('sha256').update(MY_EVENTS).digest('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    const ask = (query: string) => hear((sink) => client.subscribe({ query, extensions }, sink));
    expect(await ask('').ended).toMatchObject([
      { message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } },
    ]);
    const whole = ask(MY_EVENTS);
    await untilOpen(app.services, 1);
    const named = ask('');
    await untilOpen(app.services, 2);
    await draft();
    await Promise.all([whole.count(1), named.count(1)]);
    await client.dispose();
    await untilOpen(app.services, 0);
  });
});

describe('an upgrade', () => {
  it("from another origin is refused; from an allowed origin or the server's own it isn't", async () => {
    const foreign = await refused(app.url, { origin: 'https://elsewhere.example' });
    expect([foreign.status, foreign.body.errors[0].extensions.code]).toEqual([403, 'FORBIDDEN']);
    for (const origin of ['https://app.example', app.url]) {
      const raw = new Raw(app.url, PROTOCOL, { origin });
      await raw.send(INIT(hanna));
      await raw.heard('connection_ack');
      raw.socket.terminate();
    }
  });

  it('to another path, or to another protocol, is ignored', async () => {
    for (const [path, upgrade] of [
      ['/v1/me', 'websocket'],
      ['/graphql?query=%7B__typename%7D', 'h2c'],
    ] as const) {
      const headers = {
        connection: 'Upgrade',
        upgrade,
        authorization: `Bearer ${hanna.token}`,
        'apollo-require-preflight': 'a',
      };
      const sent = request(app.url + path, { headers }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      expect([path, response.statusCode]).toEqual([path, 200]);
      response.resume();
    }
  });

  it('without a proper handshake is refused in the documented format', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const sent = request(`${app.url}/graphql`, { headers }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const part of response) text += String(part);
    expect(response.statusCode).toBe(400);
    expect(JSON.parse(text).errors[0].extensions).toMatchObject({ code: 'MALFORMED_REQUEST', status: 400 });
    expect(response.headers['x-request-id']).toBeDefined();
  });

  it("over an address's quota fails with a 429, and one that closes frees its place", async () => {
    const { url, quotas } = await app.another({}, { webSockets: { perAddress: 2 } });
    const two = [new Raw(url), new Raw(url)];
    await Promise.all(two.map(({ socket }) => once(socket, 'open')));
    expect(await refused(url)).toMatchObject({
      status: 429,
      body: { errors: [{ extensions: { code: 'RATE_LIMITED' } }] },
    });
    two[0]!.socket.close();
    await two[0]!.closed;
    while (quotas.webSockets.inUse() > 1) await new Promise((resolve) => setImmediate(resolve));
    const third = new Raw(url);
    await once(third.socket, 'open');
    for (const { socket } of [...two, third]) socket.terminate();
  });

  it("over one person's quota is closed with 1013", async () => {
    const { url } = await app.another({}, { webSockets: { perUser: 1 } });
    const one = new Raw(url);
    await one.send(INIT(hanna));
    await one.heard('connection_ack');
    const another = new Raw(url);
    await another.send(INIT(hanna));
    expect(await another.closed).toMatchObject({ code: 1013 });
    one.socket.terminate();
  });
});

describe('a WebSocket on which', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const subscribe = (id = 'one') => ({ type: 'subscribe', id, payload: { query: MY_EVENTS } });
  // A close frame holds a reason of 123 bytes.
  const WIDE = '漢'.repeat(60);
  const CLOSES: [what: string, send: (raw: Raw) => Promise<void>, code: number][] = [
    ['someone subscribes before they say who they are', (raw) => raw.send(subscribe()), 4401],
    ['someone says twice who they are', (raw) => raw.send(INIT(hanna), INIT(hanna)), 4429],
    ['a message is no JSON', (raw) => raw.send('{'), 4400],
    ['a message is nested deeply', (raw) => raw.send(`{"type":"ping","payload":{"a":${nested(7_000)}}}`), 4400],
    ['a message has a name twice', (raw) => raw.send('{"type":"ping","type":"subscribe"}'), 4400],
    ['a message has a name of 60 wide characters twice', (raw) => raw.send(`{"${WIDE}":1,"${WIDE}":2}`), 4400],
    ['a message is of no kind', (raw) => raw.send({ type: 'wish' }), 4400],
    ['a message is one that servers send', (raw) => raw.send({ type: 'connection_ack' }), 4400],
    [
      'a message is not text',
      async ({ socket }) => {
        await once(socket, 'open');
        socket.send(Buffer.from('{}'), { binary: true });
      },
      4400,
    ],
    ['a message is too long', (raw) => raw.send({ ...INIT(hanna), more: 'x'.repeat(40_000) }), 1009],
    ['there are too many messages', (raw) => raw.send(...Array.from({ length: 500 }, () => ({ type: 'pong' }))), 4429],
    [
      'there are too many pings',
      async ({ socket }) => {
        await once(socket, 'open');
        for (let ping = 0; ping < 500; ping += 1) socket.ping();
      },
      4429,
    ],
    [
      'a message has too many fragments, of which more are behind it',
      async (raw) => {
        await raw.send({ type: 'ping', payload: { text: 'x'.repeat(850) } });
        for (let fragment = 0; fragment < 3_000; fragment += 1) raw.socket.send(' ', { fin: false });
      },
      1008,
    ],
    [
      'a subscription bears the name of another',
      async (raw) => {
        await raw.send(INIT(hanna));
        await raw.heard('connection_ack');
        await raw.send(subscribe(), subscribe());
      },
      4409,
    ],
    [
      'a subscription bears the long name of one that is open',
      async (raw) => {
        await raw.send(INIT(hanna));
        await raw.heard('connection_ack');
        await raw.send(subscribe('i'.repeat(WEB_SOCKET.idCharactersMax)));
        await untilOpen(app.services, 1);
        await raw.send(subscribe('i'.repeat(WEB_SOCKET.idCharactersMax)));
      },
      4409,
    ],
  ];
  it.each(CLOSES)('%s is closed', async (_what, send, code) => {
    const raw = new Raw(app.url);
    await send(raw);
    expect((await raw.closed).code).toBe(code);
    await untilOpen(app.services, 0);
  });

  it('nobody authenticates is closed with 4408', async () => {
    const { url } = await app.another({ webSocketInitMs: 20 });
    expect((await new Raw(url).closed).code).toBe(4408);
  });

  it('no protocol was agreed on is closed with 4406', async () => {
    expect((await new Raw(app.url, []).closed).code).toBe(4406);
  });

  it('nobody answers pings is cut off, and one on which someone does stays open', async () => {
    const { url, quotas } = await app.another({ webSocketPingMs: 10_000 });
    const dead = new Raw(url, PROTOCOL, { autoPong: false });
    const alive = new Raw(url);
    await Promise.all([dead, alive].map((raw) => raw.send(INIT(hanna))));
    await alive.heard('connection_ack');
    expect((await dead.closed).code).toBe(1006);
    await alive.send(subscribe());
    await untilOpen({ quotas }, 1);
    await draft();
    await alive.heard('next');
    alive.socket.terminate();
  });

  it('a subscription has a very long name refuses only that subscription', async () => {
    const raw = new Raw(app.url);
    await raw.send(INIT(hanna));
    await raw.heard('connection_ack');
    await raw.send(subscribe('i'.repeat(1_000)));
    expect((await raw.heard('error')).payload[0].extensions.code).toBe('VALIDATION_FAILED');
    expect(raw.socket.readyState).toBe(WebSocket.OPEN);
    raw.socket.terminate();
  });

  it('a client completes a subscription sends no more of it, and continues the others', async () => {
    const raw = new Raw(app.url);
    await raw.send(INIT(hanna));
    await raw.heard('connection_ack');
    await raw.send(subscribe('one'), subscribe('two'));
    await untilOpen(app.services, 2);
    await raw.send({ type: 'complete', id: 'one' });
    await untilOpen(app.services, 1);
    await draft();
    expect((await raw.heard('next')).id).toBe('two');
    expect(raw.messages.filter(({ id }) => id === 'one')).toEqual([]);
    raw.socket.terminate();
    await untilOpen(app.services, 0);
  });
});

describe('a subscription that is completed while it is being opened', () => {
  const SUBSCRIBE = { type: 'subscribe', id: 'a', payload: { query: MY_EVENTS } };
  const COMPLETE = { type: 'complete', id: 'a' };
  const ended = () => app.logged.filter((line) => JSON.parse(line).msg === 'a stream ended').length;

  /** Sends messages while no session can be checked. All of them arrive before any subscription opens. */
  async function sendWhileOpening(...messages: object[]): Promise<Raw> {
    const raw = new Raw(app.url);
    await raw.send(INIT(hanna));
    await raw.heard('connection_ack');
    await app.sql.begin(async (sql) => {
      await sql`lock table sessions in access exclusive mode`;
      app.services.live.activeSessions.forgetAll();
      await raw.send(...messages, { type: 'ping' });
      await Promise.race([raw.heard('pong'), raw.closed]);
    });
    return raw;
  }

  it('ends once it is open, and its ID may be used again', async () => {
    const before = ended();
    const raw = await sendWhileOpening(SUBSCRIBE, COMPLETE);
    await until(() => ended() === before + 1);
    expect(app.services.quotas.streams.inUse()).toBe(0);
    await raw.send(SUBSCRIBE);
    await untilOpen(app.services, 1);
    await draft();
    await raw.heard('next');
    raw.socket.terminate();
    await untilOpen(app.services, 0);
  });

  it('closes the connection if its ID is reused before then, and no stream outlives the connection', async () => {
    const before = ended();
    const raw = await sendWhileOpening(SUBSCRIBE, COMPLETE, SUBSCRIBE);
    raw.socket.close();
    expect((await raw.closed).code).toBe(4409);
    await until(() => ended() === before + 1);
    expect(app.services.quotas.streams.inUse()).toBe(0);
  });
});

describe('a refusal on a WebSocket', () => {
  const lines = (message: string) => app.logged.map((text) => JSON.parse(text)).filter(({ msg }) => msg === message);

  it('is logged and counted, once per subscription', async () => {
    const counted = () => app.metric('request_errors_total{api="graphql",code="VALIDATION_FAILED"}');
    const [linesBefore, before] = [lines('a subscription was refused').length, await counted()];
    const { client, subscribe } = connectAs(app.url, hanna);
    const errors = await subscribe('subscription Own($after: String) { myEvents(after: $after) { id } }', {
      after: 'yesterday',
    }).ended;
    const raw = new Raw(app.url);
    await raw.send(INIT(hanna));
    await raw.heard('connection_ack');
    await raw.send({ type: 'subscribe', id: 'i'.repeat(1_000), payload: { query: MY_EVENTS } });
    await raw.heard('error');
    const { requestId } = (errors as Json)[0].extensions;
    const user = hanna.userId;
    expect(lines('a subscription was refused').slice(linesBefore)).toEqual([
      expect.objectContaining({ level: 'info', requestId, codes: ['VALIDATION_FAILED'], user, document: 'Own' }),
      expect.objectContaining({ level: 'info', codes: ['VALIDATION_FAILED'], user }),
    ]);
    expect(await counted()).toBe(before + 2);
    raw.socket.terminate();
    await client.dispose();
  });

  it("is logged if the client doesn't authenticate", async () => {
    const before = lines('a WebSocket was refused').length;
    await connectAs(app.url, { token: 'nonsense' }, { lazy: false, onNonLazyError: () => {} }).closed;
    expect(lines('a WebSocket was refused').slice(before)).toEqual([
      expect.objectContaining({ level: 'info', codes: ['UNAUTHENTICATED'], reason: 'malformed' }),
    ]);
  });

  it.each([
    ['requests', { requests: { total: 0 } }],
    ['streams', { streams: { total: 0 } }],
  ])('closes the WebSocket with 1013 if the server has no room for more %s', async (_what, quotas) => {
    const { url } = await app.another({}, quotas);
    const { closed, subscribe } = connectAs(url, hanna);
    subscribe(MY_EVENTS);
    expect((await closed).code).toBe(1013);
    expect(lines('a subscription was refused').at(-1)).toMatchObject({ level: 'warn', codes: ['OVERLOADED'] });
  });
});

describe('streams', () => {
  it('are counted, and each is logged when it ends', async () => {
    const before = await app.metric('stream_events_sent_total{channel="websocket"}');
    const { subscribe, client } = connectAs(app.url, hanna);
    const heard = subscribe(`${MY_EVENTS.replace('subscription', 'subscription Own')}`);
    await untilOpen(app.services, 1);
    expect(await app.metric('streams_open{channel="websocket"}')).toBe(1);
    expect(await app.metric('quota_in_use{quota="streams"}')).toBe(1);
    await draft();
    await heard.count(1);
    await client.dispose();
    await untilOpen(app.services, 0);
    expect(await app.metric('stream_events_sent_total{channel="websocket"}')).toBe(before + 1);
    expect(await app.metric('streams_open{channel="websocket"}')).toBe(0);
    const line = app.logged.map((text) => JSON.parse(text)).findLast(({ msg }) => msg === 'a stream ended');
    expect(line).toMatchObject({
      channel: 'websocket',
      operation: 'streamMyEvents',
      document: 'Own',
      user: hanna.userId,
      events: 1,
      end: expect.stringMatching(/left|completed/),
    });
  });

  it("aren't requests: a subscription over HTTP is refused, and told where to go", async () => {
    const { status, errors } = await app.graphql(MY_EVENTS, { token: hanna.token });
    expect([status, errors?.[0]?.extensions.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(errors?.[0]?.message).toContain('/graphql/stream');
  });

  it('consume the budget for reads', async () => {
    const strict = await openTestApp({ RATE_LIMITS: 'on', RATE_LIMIT_READ: '4' });
    try {
      const olga = await homeowner(strict, 'Olga');
      const { client, subscribe } = connectAs(strict.url, olga);
      subscribe(MY_EVENTS);
      await untilOpen(strict.services, 1);
      subscribe(MY_EVENTS);
      await untilOpen(strict.services, 2);
      expect(await subscribe(MY_EVENTS).ended).toMatchObject([
        { extensions: { code: 'RATE_LIMITED', retryAfter: expect.any(Number) } },
      ]);
      await client.dispose();
    } finally {
      await strict.close();
    }
  });
});

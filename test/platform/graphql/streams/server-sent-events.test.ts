/** How a server-sent event stream opens, what it contains, and how it ends. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { homeowner, type Person } from '../../../story/cast.js';
import { DRAFT } from '../../../story/journey.js';
import { until } from '../../security/until.js';
import { connectAs, hear, hearAsEvents, JOB_EVENTS, MY_EVENTS, untilOpen } from './clients.js';

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

interface Asked {
  url?: string;
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: object;
}

async function ask({
  url = app.url,
  method = 'POST',
  path = '/graphql/stream',
  headers = {},
  body,
}: Asked): Promise<IncomingMessage> {
  const sent = request(url + path, {
    method,
    agent: false,
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${hanna.token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response.setEncoding('utf8');
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of response) text += String(part);
  return text;
}

describe('a stream', () => {
  it('also opens by GET, as EventSource does it, and sends events as they happen', async () => {
    const response = await ask({ method: 'GET', path: `/graphql/stream?query=${encodeURIComponent(MY_EVENTS)}` });
    expect([response.statusCode, response.headers['content-type'], response.headers['x-accel-buffering']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'no',
    ]);
    await untilOpen(app.services, 1);
    const job = await draft();
    let text = '';
    while (!text.includes('\n\nevent: next') || !text.endsWith('}\n\n'))
      text += String((await once(response, 'data'))[0]);
    const { data } = JSON.parse(text.slice(text.indexOf('data: ') + 6));
    expect(data.myEvents).toMatchObject({ type: 'JOB_CREATED', jobId: job, position: expect.stringMatching(/^\d+$/) });
    response.destroy();
    await untilOpen(app.services, 0);
  });

  it('also takes its variables from the query string', async () => {
    const variables = encodeURIComponent(JSON.stringify({ after: '0' }));
    const path = `/graphql/stream?query=${encodeURIComponent(MY_EVENTS)}&variables=${variables}`;
    const response = await ask({ method: 'GET', path });
    expect(String((await once(response, 'data'))[0])).toContain(':');
    response.destroy();
    await untilOpen(app.services, 0);
  });

  it("can be read by allowed pages, and isn't cached", async () => {
    const response = await ask({ headers: { origin: 'https://app.example' }, body: { query: MY_EVENTS } });
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'cache-control': 'no-store',
    });
    response.destroy();
    await untilOpen(app.services, 0);
  });

  const REFUSED: [what: string, asked: Asked, status: number, code: string][] = [
    ['without a token', { headers: { authorization: '' }, body: { query: MY_EVENTS } }, 401, 'UNAUTHENTICATED'],
    [
      'with a bad token',
      { headers: { authorization: 'Bearer a.b.c' }, body: { query: MY_EVENTS } },
      401,
      'UNAUTHENTICATED',
    ],
    ['by PUT, for a reservation', { method: 'PUT' }, 405, 'METHOD_NOT_ALLOWED'],
    [
      'by who takes JSON alone',
      { headers: { accept: 'application/json' }, body: { query: MY_EVENTS } },
      400,
      'VALIDATION_FAILED',
    ],
    [
      'with variables that are no JSON',
      { method: 'GET', path: '/graphql/stream?query=a&variables=%7B' },
      400,
      'MALFORMED_REQUEST',
    ],
  ];
  it.each(REFUSED)('requested %s fails with its status', async (_what, asked, status, code) => {
    const response = await ask(asked);
    const { errors } = JSON.parse(await textOf(response));
    expect([response.statusCode, errors[0].extensions.code]).toEqual([status, code]);
  });

  it('refused because of its token says how to send one, and what is left of the budget', async () => {
    const { headers } = await ask({ headers: { authorization: 'Bearer a.b.c' }, body: { query: MY_EVENTS } });
    expect(headers).toMatchObject({
      'www-authenticate': 'Bearer',
      ratelimit: expect.stringMatching(/^"invalidToken";r=\d+;t=\d+$/),
      'ratelimit-policy': expect.stringContaining('"invalidToken"'),
    });
  });

  it('that opens says what is left of the budget that it consumed', async () => {
    const response = await ask({ body: { query: MY_EVENTS } });
    response.destroy();
    expect(response.headers.ratelimit).toMatch(/^"read";r=\d+;t=\d+$/);
  });

  const INCOMPLETE: [what: string, body: object, code: string][] = [
    ['without a document', {}, 'MALFORMED_REQUEST'],
    ['with a document that is no text', { query: 7 }, 'MALFORMED_REQUEST'],
    ['with variables that are a list', { query: MY_EVENTS, variables: [] }, 'MALFORMED_REQUEST'],
    ['with a variable of another type', { query: MY_EVENTS, variables: { after: {} } }, 'VALIDATION_FAILED'],
  ];
  it.each(INCOMPLETE)('requested %s ends with that error', async (_what, body, code) => {
    const text = await textOf(await ask({ body }));
    expect(text).toContain(`"code":"${code}"`);
    expect(text).toContain('event: complete');
  });

  it('without room on the server fails with a 503, so its client retries', async () => {
    const { url } = await app.another({}, { streams: { total: 0 } });
    const response = await ask({ url, body: { query: MY_EVENTS } });
    const { errors } = JSON.parse(await textOf(response));
    expect([response.statusCode, response.headers['retry-after'], errors]).toEqual([
      503,
      '1',
      [expect.objectContaining({ extensions: expect.objectContaining({ code: 'OVERLOADED' }) })],
    ]);
  });

  it('that is refused is counted once', async () => {
    const counted = () => app.metric('request_errors_total{api="graphql",code="NOT_FOUND"}');
    await textOf(await ask({ body: { query: JOB_EVENTS, variables: { job: 'job_nothing' } } }));
    const before = await counted();
    await textOf(await ask({ body: { query: JOB_EVENTS, variables: { job: 'job_nothing' } } }));
    expect(await counted()).toBe(before + 1);
  });

  it('that is being opened while its server stops breaks off immediately', async () => {
    const closing = await openTestApp({}, { sameDatabaseAs: app });
    const job = await draft();
    const { subscribe, closed } = connectAs(closing.url, hanna);
    subscribe(MY_EVENTS);
    await untilOpen(closing.services, 1);
    let asked: Promise<IncomingMessage> | undefined;
    let stopped: Promise<void> | undefined;
    await app.sql.begin(async (sql) => {
      await sql`lock table jobs in access exclusive mode`;
      asked = ask({ url: closing.url, body: { query: JOB_EVENTS, variables: { job } } });
      // The table has the same OID in every test's database.
      await until(async () => {
        const waiting = await app.sql`select from pg_locks where relation = 'jobs'::regclass and not granted
          and database = (select oid from pg_database where datname = current_database())`;
        return waiting.length > 0;
      });
      stopped = closing.close();
      await closed;
    });
    const response = await asked;
    expect([response?.statusCode, response && (await textOf(response))]).toEqual([200, '']);
    await stopped;
    const ends = closing.logged.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'a stream ended');
    expect(ends).toContainEqual(expect.objectContaining({ channel: 'sse', end: 'draining', events: 0 }));
    expect(closing.logged.filter((line) => line.includes('a request failed'))).toEqual([]);
  });

  it("that fails while it is being opened gets a response in GraphQL's format", async () => {
    const follow = vi.spyOn(app.services.live.sessionEnds, 'follow').mockImplementationOnce(() => {
      throw new Error('broken on purpose');
    });
    const response = await ask({ body: { query: MY_EVENTS } });
    follow.mockRestore();
    const [error] = JSON.parse(await textOf(response)).errors;
    const requestId = response.headers['x-request-id'];
    expect([response.statusCode, error.extensions]).toEqual([500, { code: 'INTERNAL', status: 500, requestId }]);
    expect(error.message).not.toContain('broken');
    const line = app.logged.map((text) => JSON.parse(text)).findLast(({ msg }) => msg === 'a request failed');
    expect(line).toMatchObject({ requestId, err: { message: 'broken on purpose' } });
  });

  it('says why it ends with its session, and is complete, so nobody reconnects', async () => {
    const olga = await homeowner(app, 'Olga');
    const heard = hearAsEvents(app.url, olga, MY_EVENTS);
    await untilOpen(app.services, 1);
    await app.rest('POST', '/v1/auth/logout', { token: olga.token });
    expect(await heard.ended).toBeUndefined();
    expect(heard.answers).toMatchObject([
      { errors: [{ extensions: { code: 'UNAUTHENTICATED', reason: 'session_ended' } }] },
    ]);
  });

  it('breaks off when its server stops, and its client reconnects to another and misses nothing', async () => {
    const second = await app.another();
    const closing = await openTestApp({}, { sameDatabaseAs: app });
    const olga = await homeowner(app, 'Olga');
    const urls = [closing.url];
    const client = createClient({
      url: () => `${urls.shift() ?? second.url}/graphql/stream`,
      headers: { authorization: `Bearer ${olga.token}` },
      retry: async () => void (await draft(olga)),
    });
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
    await draft(olga);
    await heard.count(1);
    await closing.close();
    await heard.count(2);
    await draft(olga);
    await heard.count(3);
    expect(new Set(heard.events.map(({ id }) => id)).size).toBe(3);
    client.dispose();
    heard.stop();
    await untilOpen(second, 0);
  });
});

/**
 * Automatic persisted queries, and the limits on stored documents. The tests send exactly the requests of Apollo Client
 * 4.3 (PersistedQueryLink) and urql 6 (persistedExchange).
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDocumentCache } from '../../../../src/platform/graphql/documents/automatic-query-cache.js';
import { PERSISTED_QUERIES } from '../../../../src/platform/caller-limits.js';
import { homeowner, type Person } from '../../../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { needs } from '../../../setup/needs.js';
import { createRedisServer } from '../../security/redis-server.js';

/** How long a server waits for Redis before it uses only its own documents. A busy machine needs longer. */
vi.mock('../../../../src/platform/service-limits.js', async (original) => {
  const limits = await original<typeof import('../../../../src/platform/service-limits.js')>();
  return { ...limits, REDIS: { ...limits.REDIS, setupTimeoutMs: 60_000, waitMs: 60_000 } };
});

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

const hashOf = (document: string) => createHash('sha256').update(document).digest('hex');
let documents = 0;
const newDocument = () =>
  `query Who${(documents += 1)} {\n  viewer {\n    user {\n      id\n      __typename\n    }\n  }\n}`;

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

async function send(sent: Sent, at: TestApp = app): Promise<{ status: number; body: Json }> {
  const { method, headers, body } = sent;
  const parameters = Object.entries(body).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const address = method === 'GET' ? `?${new URLSearchParams(parameters).toString()}` : '';
  const response = await fetch(`${at.url}/graphql${address}`, {
    method,
    headers: { ...headers, authorization: `Bearer ${hanna.token}` },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const NOT_FOUND = {
  status: 200,
  body: {
    errors: [
      {
        message: 'PersistedQueryNotFound',
        extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', status: 200, requestId: expect.any(String) },
      },
    ],
  },
};
const found = () => ({
  status: 200,
  body: { data: { viewer: { user: { id: hanna.userId, __typename: 'User' } } }, extensions: expect.anything() },
});

type Form = (document: string, isMissing: boolean) => Sent;

const operationName = (document: string) => /^\w+ (\w+)/.exec(document)?.[1];

/** Apollo Client sends a hash by POST, or by GET if configured. It always registers by POST. */
const byApolloClient =
  (useGETForHashedQueries: boolean): Form =>
  (document, isMissing) => ({
    method: useGETForHashedQueries && !isMissing ? 'GET' : 'POST',
    headers: { accept: 'application/graphql-response+json,application/json;q=0.9', 'content-type': 'application/json' },
    body: {
      operationName: operationName(document),
      variables: {},
      extensions: {
        clientLibrary: { name: '@apollo/client', version: '4.3.8' },
        persistedQuery: { version: 1, sha256Hash: hashOf(document) },
      },
      ...(isMissing && { query: document }),
    },
  });

/** urql prefers GET, even to register a document, and then omits the content type. */
const byUrql =
  (method: 'GET' | 'POST'): Form =>
  (document, isMissing) => ({
    method,
    headers: {
      accept:
        'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, ' +
        'multipart/mixed',
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    },
    body: {
      ...(isMissing && { query: document }),
      operationName: operationName(document),
      variables: {},
      extensions: { persistedQuery: { ...(isMissing && { miss: true }), sha256Hash: hashOf(document), version: 1 } },
    },
  });

describe.each([
  ['Apollo Client', byApolloClient(false)],
  ['Apollo Client with useGETForHashedQueries', byApolloClient(true)],
  ['urql', byUrql('GET')],
  ['urql with preferGetForPersistedQueries: false', byUrql('POST')],
])('%s', (_, form) => {
  it('asks with the hash, registers the document, and from then on needs only the hash', async () => {
    const document = newDocument();
    expect(await send(form(document, false))).toEqual(NOT_FOUND);
    expect(await send(form(document, true))).toEqual(found());
    for (let again = 0; again < 3; again += 1) expect(await send(form(document, false))).toEqual(found());
  });
});

describe('a document', () => {
  const byPost = byApolloClient(false);

  it("isn't stored if it was refused", async () => {
    const wrong = 'query Wrong { viewer { nothing } }';
    expect((await send(byPost(wrong, true))).status).toBe(400);
    expect(await send(byPost(wrong, false))).toEqual(NOT_FOUND);
  });

  it('with another hash is refused and not stored', async () => {
    const [document, other] = [newDocument(), newDocument()];
    const sent = byPost(document, true);
    const answer = await send({ ...sent, body: { ...sent.body, query: other } });
    expect([answer.status, answer.body.errors[0].extensions.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(await send(byPost(document, false))).toEqual(NOT_FOUND);
  });

  it.each([
    ['another version', { version: 2, sha256Hash: hashOf('') }],
    ['no hash', { version: 1 }],
    ['a hash of SHA-1', { version: 1, sha256Hash: 'a'.repeat(40) }],
    ['a text', hashOf('')],
  ])('named by %s fails with a clear message', async (_, persistedQuery) => {
    const sent = byPost(newDocument(), false);
    const { status, body } = await send({ ...sent, body: { extensions: { persistedQuery } } });
    expect([status, body.errors[0].extensions.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body.errors[0].message).toContain('sha256Hash');
  });

  it.each([
    [
      'are nested deeply',
      `{"persistedQuery":{"version":1,"sha256Hash":"H"},"a":${'['.repeat(7_000)}${']'.repeat(7_000)}}`,
    ],
    ["aren't JSON", '{"persistedQuery":'],
  ])('in a URL whose extensions %s fails with a clear message', async (_, extensions) => {
    const document = newDocument();
    // Node's limit for a head has no room for seven thousand encoded brackets.
    const search = `query=${encodeURIComponent(document)}&extensions=${extensions.replace('H', hashOf(document))}`;
    const response = await fetch(`${app.url}/graphql?${search}`, { headers: { 'apollo-require-preflight': 'true' } });
    const body: Json = await response.json();
    expect([response.status, body.errors[0].extensions.code]).toEqual([400, 'MALFORMED_REQUEST']);
    expect(body.errors[0].message).toContain('`extensions`');
  });

  it("that changes something doesn't run by GET", async () => {
    const mutation = 'mutation Out { logOut { sessionId } }';
    const { status, body } = await send(byUrql('GET')(mutation, true));
    expect([status, body.errors[0].extensions.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
  });
});

describe('the stored documents', () => {
  it('are limited in number and length, and the most recently used ones are kept', async () => {
    const cache = createDocumentCache(undefined);
    await cache.keep('first', 'a');
    await cache.keep('long', 'a'.repeat(PERSISTED_QUERIES.documentCharactersMax + 1));
    expect([await cache.find('first'), await cache.find('long')]).toEqual(['a', undefined]);
    for (let at = 1; at < PERSISTED_QUERIES.documentsMax; at += 1) await cache.keep(`${at}`, 'a');
    expect(await cache.find('first')).toBe('a');
    await cache.keep('one more', 'a');
    expect([await cache.find('first'), await cache.find('1')]).toEqual(['a', undefined]);
  });

  needs('redis-server').it('are known to every instance, bounded in Redis too, and outlive its loss', async () => {
    const redis = createRedisServer();
    await redis.start();
    const settings = { REDIS_URL: redis.socket };
    const one = await openTestApp({ RATE_LIMITS: 'on' }, { sameDatabaseAs: app, settings });
    const two = await openTestApp({ RATE_LIMITS: 'on' }, { sameDatabaseAs: app, settings });
    try {
      const form = byApolloClient(false);
      const [document, other] = [newDocument(), newDocument()];
      expect(await send(form(document, true), one)).toEqual(found());
      expect(await send(form(document, false), two)).toEqual(found());

      const old = Array.from({ length: PERSISTED_QUERIES.documentsMax }, (_, at) => [String(at), `old ${at}`]);
      await redis.command('ZADD', '{persisted-queries}:used', ...old.flat());
      expect(await send(form(other, true), one)).toEqual(found());
      expect(await redis.command('ZCARD', '{persisted-queries}:used')).toBe(PERSISTED_QUERIES.documentsMax);
      expect(await redis.command('HLEN', '{persisted-queries}:documents')).toBe(2);

      // A document that doesn't match its hash isn't trusted.
      const planted = newDocument();
      await redis.command('HSET', '{persisted-queries}:documents', hashOf(planted), document);
      expect(await send(form(planted, false), two)).toEqual(NOT_FOUND);

      await redis.kill();
      expect(await send(form(document, false), two)).toEqual(found());
      expect(await send(form(planted, true), two)).toEqual(found());
      expect(await send(form(planted, false), two)).toEqual(found());
    } finally {
      await two.close();
      await one.close();
      await redis.remove();
    }
  });
});

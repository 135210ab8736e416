/** HTTP in both APIs: methods, content types, sizes, invalid bytes, request IDs, and other origins. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/app/config.js';
import { ROUTES } from '../../src/rest/routes.js';
import { homeowner, type Person } from '../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { byGraphql, byRest, invalid } from './refused.js';

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

const MALFORMED = { status: 400, code: 'MALFORMED_REQUEST', fields: [] };
const TOO_LARGE = { status: 413, code: 'PAYLOAD_TOO_LARGE', fields: [] };
const WRONG_TYPE = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', fields: [] };

const put = (body: unknown, headers: Record<string, string> = {}) =>
  app.rest('PUT', '/v1/me', { token: hanna.token, body, headers });
const graphqlPost = async (body: unknown, headers: Record<string, string> = {}): Promise<Json> => {
  const answer = await app.rest('POST', '/graphql', { token: hanna.token, body, headers });
  return { ...answer, ...answer.body };
};

describe('a URL', () => {
  it.each([
    '/v2/me',
    '/v1/v1/me',
    '/v1/me/',
    '//v1/me',
    '/v1/Me',
    '/v1/contractor',
    '/v1/contractors/',
    '/nothing',
    '/graphql/',
    '/v1/graphql',
    '/constructor',
    '/v1/__proto__',
  ])('doesn’t exist: %s', async (path) =>
    expect(byRest(await app.rest('GET', path, { token: hanna.token }))).toEqual({
      status: 404,
      code: 'NOT_FOUND',
      fields: [],
    }),
  );

  it('works the same with and without /v1, on every route', async () => {
    for (const { method, path, operation } of ROUTES) {
      // Everyone can read these, so they never fail.
      if (operation.allows === 'anyone' && method === 'GET') continue;
      const address = path.replaceAll(/\{\w+\}/g, 'x');
      const [named, bare] = [byRest(await app.rest(method, `/v1${address}`)), byRest(await app.rest(method, address))];
      expect(bare).toEqual(named);
      expect([400, 401]).toContain(named.status);
    }
    expect((await app.rest('GET', '/me', { token: hanna.token })).body).toEqual(
      (await app.rest('GET', '/v1/me', { token: hanna.token })).body,
    );
  });

  it.each([
    ['DELETE', '/v1/me', 'GET, HEAD, PUT'],
    ['GET', '/v1/auth/login', 'POST'],
    ['PATCH', '/tokens', 'GET, HEAD'],
    ['OPTIONS', '/v1/contractors/x', 'GET, HEAD'],
    ['PUT', '/v1/tokens/adjustments', 'POST'],
  ])('rejects %s %s and lists the allowed methods', async (method, path, allow) => {
    const refused = await app.rest(method, path);
    expect(byRest(refused)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED', fields: [] });
    expect(refused.headers.get('allow')).toBe(allow);
    expect(refused.body.details.allowed_methods).toEqual(allow.split(', '));
  });

  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('/graphql rejects %s', async (method) => {
    const response = await fetch(`${app.url}/graphql`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST']);
    const { errors } = (await response.json()) as Json;
    expect(errors[0].extensions).toMatchObject({
      code: 'METHOD_NOT_ALLOWED',
      status: 405,
      requestId: response.headers.get('x-request-id'),
    });
  });

  it('returns the same for HEAD as for GET, without the body', async () => {
    for (const [path, token] of [
      ['/v1/me', hanna.token],
      ['/v1/tokens/transactions', hanna.token],
      ['/v1/me', undefined],
      ['/v1/nothing', undefined],
    ] as const) {
      const [head, get] = [await app.rest('HEAD', path, { token }), await app.rest('GET', path, { token })];
      expect(head.body).toBeUndefined();
      expect(head.status).toBe(get.status);
      for (const name of ['content-type', 'content-length', 'link'])
        expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });
});

describe('a body', () => {
  it('that is empty counts as {}', async () => {
    expect((await put('')).status).toBe(200);
    expect((await app.rest('PUT', '/v1/me', { token: hanna.token })).status).toBe(200);
    expect(byRest(await app.rest('POST', '/v1/auth/login'))).toEqual(invalid('email', 'password'));
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON;charset="UTF-8"',
    'application/vnd.market+json',
  ])('is read as %s', async (type) => {
    expect((await put('{}', { 'content-type': type })).status).toBe(200);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/jsonx',
    'multipart/form-data',
    '',
  ])('is not read as %j, on either API', async (type) => {
    expect(byRest(await put('{}', { 'content-type': type }))).toEqual(WRONG_TYPE);
    expect((await graphqlPost('{"query":"{__typename}"}', { 'content-type': type })).status).toBe(415);
  });

  it('is not read through a Content-Encoding', async () => {
    expect(byRest(await put('{}', { 'content-encoding': 'gzip' }))).toEqual(WRONG_TYPE);
    expect((await put('{}', { 'content-encoding': 'identity' })).status).toBe(200);
  });

  const BROKEN: [what: string, bytes: string | Uint8Array][] = [
    ['half an object', '{"user":'],
    ['a trailing comma', '{"user":{},}'],
    ['two values', '{} {}'],
    ['not a number', '{"user":NaN}'],
    ['a comment', '{} // done'],
    ['a raw control character', '{"a":"\n"}'],
    ['invalid UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
    ['a cut UTF-8 character', Uint8Array.of(0x22, 0xe2, 0x82, 0x22)],
    ['UTF-8 of a lone surrogate', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['an overlong encoding', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)],
    ['UTF-16', Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00)],
    ['a byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)],
    ['NUL', Uint8Array.of(0)],
    ['a list', '[]'],
    ['a string', '"{}"'],
    ['a number', '1'],
    ['null', 'null'],
    ['lists in lists', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['objects in objects', '{"user":'.repeat(7_000) + '1' + '}'.repeat(7_000)],
    ['a field nested too deeply', `{"user":{"phone":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`],
  ];
  it.each(BROKEN)('of %s gets a clear 400 from both APIs', async (_what, bytes) => {
    expect(byRest(await put(bytes))).toEqual(MALFORMED);
    const answer = await graphqlPost(bytes);
    expect(answer.status).toBe(400);
    expect(byGraphql(answer)).toEqual(MALFORMED);
  });

  it('with half a character fails with the field’s name', async () => {
    expect(byRest(await put('{"user":{"phone":"\\ud800","first_name":"\\u0000"}}'))).toEqual(
      invalid('user.phone', 'user.first_name'),
    );
    const input = { user: { phone: '\ud800', firstName: 'a\u0000b' } };
    expect(
      byGraphql(
        await app.graphql(
          'mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { viewer { referralCode } } }',
          { token: hanna.token, variables: { input } },
        ),
      ),
    ).toEqual(invalid('user.phone', 'user.first_name'));
  });

  it('with a field __proto__ anywhere fails like any unknown field', async () => {
    const refused = await put(
      '{"__proto__":{"first_name":"X"},"user":{"__proto__":{"phone":"7"},"constructor":{"prototype":{"x":1}}},' +
        '"homeowner":{"__proto__":1}}',
    );
    expect(byRest(refused)).toEqual(invalid('__proto__', 'user.__proto__', 'user.constructor', 'homeowner.__proto__'));
    const byGraph = await graphqlPost(
      '{"query":"mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { viewer { user { phone } ' +
        '} } }","variables":{"__proto__":1,"input":{"__proto__":{"user":{"phone":"7"}}}}}',
    );
    expect(byGraph.data?.updateProfile.viewer.user.phone ?? null).toBeNull();
    expect(({} as Json).x).toBeUndefined();
  });

  it('that is too large fails with or without Content-Length, and the connection stays usable', async () => {
    for (const [path, bytes] of [
      ['/v1/auth/login', 128 * 1024],
      ['/graphql', 128 * 1024],
    ] as const) {
      for (const body of [() => ' '.repeat(bytes + 1), () => drip(bytes + 20_000)]) {
        const response = await fetch(app.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: body(),
          duplex: 'half',
        } as RequestInit);
        expect(response.status).toBe(413);
        const answer: Json = await response.json();
        expect(
          (path === '/graphql' ? byGraphql : byRest)({
            status: 413,
            headers: response.headers,
            body: answer,
            ...answer,
          }),
        ).toEqual(TOO_LARGE);
        // Several calls, so each open connection gets one.
        for (const next of await Promise.all(Array.from({ length: 4 }, () => app.rest('POST', path, { body: '{}' }))))
          expect(next.status).toBe(400);
      }
    }
    expect((await put(`${' '.repeat(128 * 1024 - 2)}{}`)).status).toBe(200);
  });
});

/** A body without Content-Length. */
function drip(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(new Uint8Array(Math.min(left, 10_000)).fill(0x20));
      left -= 10_000;
    },
  });
}

describe('a GraphQL request', () => {
  const ODD: [what: string, body: unknown, status: number, code: string][] = [
    ['without a query', {}, 400, 'MALFORMED_REQUEST'],
    ['with an empty query', { query: '' }, 400, 'MALFORMED_REQUEST'],
    ['with a number as its query', { query: 7 }, 400, 'MALFORMED_REQUEST'],
    ['with variables as a string', { query: '{ __typename }', variables: '{}' }, 400, 'MALFORMED_REQUEST'],
    ['with a list of operations', [{ query: '{ __typename }' }], 400, 'MALFORMED_REQUEST'],
    ['with broken syntax', { query: '{' }, 400, 'MALFORMED_REQUEST'],
    [
      'with an unknown operation name',
      { query: 'query A { __typename }', operationName: 'B' },
      400,
      'MALFORMED_REQUEST',
    ],
    [
      'with two operations and no operation name',
      { query: 'query A { __typename } query B { __typename }' },
      400,
      'MALFORMED_REQUEST',
    ],
    ['with an unknown field', { query: '{ secrets }' }, 400, 'VALIDATION_FAILED'],
    ['with a missing variable', { query: 'query ($id: ID!) { contractor(id: $id) { id } }' }, 400, 'VALIDATION_FAILED'],
    ['too deep to read', { query: '{a'.repeat(20_000) }, 400, 'MALFORMED_REQUEST'],
    [
      'too deep to check',
      { query: `{ contractor(id: ${'['.repeat(3_000)}${']'.repeat(3_000)}) { id } }` },
      400,
      'MALFORMED_REQUEST',
    ],
  ];
  it.each(ODD)('%s fails with the right status and code', async (_what, body, status, code) => {
    const answer = await graphqlPost(JSON.stringify(body));
    expect(answer.status).toBe(status);
    expect(byGraphql(answer).status).toBe(status);
    if (!_what.startsWith('too deep')) expect(byGraphql(answer).code).toBe(code);
    expect(JSON.stringify(answer.body)).not.toMatch(/stack|node_modules|Maximum/);
  });

  it('through GET can read but not write', async () => {
    const get = (query: string, headers: Record<string, string> = { 'apollo-require-preflight': '1' }) =>
      fetch(`${app.url}/graphql?query=${encodeURIComponent(query)}`, {
        headers: { authorization: `Bearer ${hanna.token}`, ...headers },
      });
    expect(await (await get('{ viewer { referralCode } }')).json()).toMatchObject({
      data: { viewer: { referralCode: hanna.referralCode } },
    });
    const write = await get('mutation { logOut { sessionId } }');
    expect([write.status, write.headers.get('allow')]).toEqual([405, 'POST']);
    expect(((await write.json()) as Json).errors[0].extensions).toMatchObject({
      code: 'METHOD_NOT_ALLOWED',
      status: 405,
    });
    // Any page could send this without a preflight request, so it fails.
    expect((await get('{ viewer { referralCode } }', {})).status).toBe(400);
    expect((await app.rest('GET', '/v1/me', { token: hanna.token })).status).toBe(200);
  });
});

describe('a request', () => {
  it('keeps a valid X-Request-Id in both APIs', async () => {
    for (const [given, kept] of [
      ['my-request.0001', true],
      ['a'.repeat(128), true],
      ['short', false],
      ['a'.repeat(129), false],
      ['with space 123', false],
      ['<script>alert', false],
    ] as const) {
      const rest = await app.rest('GET', '/v1/me', { headers: { 'x-request-id': given } });
      const graph = await app.graphql('{ viewer { referralCode } }', { headers: { 'x-request-id': given } });
      for (const { headers } of [rest, graph]) expect(headers.get('x-request-id') === given).toBe(kept);
      byRest(rest);
      byGraphql(graph);
    }
  });

  it('gets headers that forbid caching and content sniffing', async () => {
    for (const path of ['/v1/me', '/graphql', '/v1/nothing', '/healthz']) {
      const { headers } = await fetch(app.url + path);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-type')).toMatch(/^application\/json/);
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  it('that fails internally returns only its ID in both APIs, and the log has the details', async () => {
    const ill = await openTestApp();
    const hugo = await homeowner(ill, 'Hugo');
    await ill.sql`alter table token_balances rename to elsewhere`;
    const rest = await ill.rest('GET', '/v1/tokens', { token: hugo.token });
    expect(byRest(rest)).toEqual({ status: 500, code: 'INTERNAL', fields: [] });
    expect(Object.keys(rest.body.details)).toEqual(['code', 'request_id']);
    const graph = await ill.graphql('{ viewer { referralCode } }', { token: hugo.token });
    expect(byGraphql(graph)).toEqual({ status: 500, code: 'INTERNAL', fields: [] });
    expect(Object.keys(graph.errors?.[0]?.extensions)).toEqual(['code', 'status', 'requestId']);
    expect(JSON.stringify([rest.body, graph.errors])).not.toContain('token_balances');
    const failures = ill.logged.filter((line) => line.includes('"level":"error"'));
    expect(failures.filter((line) => line.includes('token_balances'))).toHaveLength(2);
    for (const { headers } of [rest, graph])
      expect(failures.some((line) => line.includes(headers.get('x-request-id') ?? 'none'))).toBe(true);
    await ill.close();
  });
});

/** Headers for browsers and proxies, and headers that a page can always read. */
const FOR_BROWSERS =
  /^(Access-Control-.*|Cache-Control|Connection|Content-.*|Referrer-Policy|Set-Cookie|Vary|X-Accel-.*|X-.*-Options)$/;

describe('a page from another origin', () => {
  const APP = 'https://app.example.test';
  const preflight = (at: TestApp, origin: string, path = '/v1/me') =>
    fetch(at.url + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization,content-type',
      },
    });

  it('can call only if its origin is configured', async () => {
    const open = await openTestApp({ CORS_ORIGINS: `${APP}, https://other.example.test` });
    for (const path of ['/v1/me', '/graphql']) {
      const allowed = await preflight(open, APP, path);
      expect(allowed.status).toBe(204);
      expect(allowed.headers.get('access-control-allow-origin')).toBe(APP);
      expect(allowed.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, PUT, DELETE');
      for (const name of ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'Dry-Run'])
        expect(allowed.headers.get('access-control-allow-headers')).toContain(name);
      expect(allowed.headers.get('access-control-allow-credentials')).toBeNull();

      const stranger = await preflight(open, 'https://evil.example.test', path);
      for (const name of [
        'access-control-allow-origin',
        'access-control-allow-methods',
        'access-control-allow-headers',
      ])
        expect(stranger.headers.get(name)).toBeNull();
      expect(stranger.headers.get('vary')).toContain('Origin');
    }
    const called = await open.rest('GET', '/v1/me', { headers: { origin: APP } });
    expect(called.headers.get('access-control-allow-origin')).toBe(APP);
    for (const name of ['X-Request-Id', 'RateLimit', 'Retry-After', 'Link', 'ETag'])
      expect(called.headers.get('access-control-expose-headers')).toContain(name);
    expect(byRest(called).status).toBe(401);
    await open.close();
  });

  it('can send tracing headers and those in CORS_HEADERS', async () => {
    const open = await openTestApp({ CORS_ORIGINS: APP, CORS_HEADERS: 'x-tenant, X-Experiment' });
    const accepted = (await preflight(open, APP)).headers.get('access-control-allow-headers')?.split(', ');
    const tracing = ['X-Request-Id', 'traceparent', 'tracestate', 'baggage', 'sentry-trace'];
    expect(accepted).toEqual(expect.arrayContaining([...tracing, 'If-None-Match', 'x-tenant', 'X-Experiment']));
    await open.close();
    expect(() => readConfig({ CORS_HEADERS: 'no header' })).toThrow('CORS_HEADERS must be header names');
  });

  it('can read every response header', async () => {
    const open = await openTestApp({ CORS_ORIGINS: APP });
    const answer = await open.rest('GET', '/v1/me', { headers: { origin: APP } });
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ');
    await open.close();
    const set = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...readFileSync(join('src', file), 'utf8').matchAll(/setHeader\(\s*'([\w-]+)'/g)])
      .map(([, name]) => name ?? '');
    expect(set.length).toBeGreaterThan(20);
    const others = set.filter((name) => !FOR_BROWSERS.test(name) && !exposed?.includes(name));
    expect(others).toEqual([]);
  });

  it('can’t call if no origin is configured', async () => {
    expect((await preflight(app, APP)).headers.get('access-control-allow-origin')).toBeNull();
    expect(
      (await app.rest('GET', '/v1/me', { headers: { origin: APP } })).headers.get('access-control-allow-origin'),
    ).toBeNull();
  });

  it('can call from anywhere if * is configured', async () => {
    const open = await openTestApp({ CORS_ORIGINS: '*' });
    expect((await preflight(open, 'https://anyone.example.test')).headers.get('access-control-allow-origin')).toBe(
      'https://anyone.example.test',
    );
    await open.close();
  });
});

describe('an unconfigured proxy', () => {
  const warnings = ({ logged }: TestApp) => logged.filter((line) => line.includes('TRUST_PROXY_HOPS')).length;

  it('is logged once, on its first request', async () => {
    const own = await openTestApp();
    await own.rest('GET', '/v1/me');
    expect(warnings(own)).toBe(0);
    for (const name of ['x-forwarded-for', 'forwarded', 'x-forwarded-for'])
      await own.rest('GET', '/v1/me', { headers: { [name]: '203.0.113.9' } });
    expect(warnings(own)).toBe(1);
    await own.close();
  });

  it('isn’t logged if TRUST_PROXY_HOPS includes it', async () => {
    const own = await openTestApp({ TRUST_PROXY_HOPS: '1' });
    await own.rest('GET', '/v1/me', { headers: { 'x-forwarded-for': '203.0.113.9' } });
    expect(warnings(own)).toBe(0);
    await own.close();
  });
});

/** The pages for people, over HTTP: their readers, their encodings, and how often they are sent. */
import { get, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSteps } from '../../src/pages/playground/steps.js';
import { frontPage } from '../../src/pages/front-page.js';
import { ROUTES } from '../../src/rest/routes.js';
import { schema } from '../../src/graphql/schema.js';
import { PUBLISH_COST } from '../../src/market/rules/jobs/publishing.js';
import { GUARANTEED_VIEW_STAKE, SIGNUP_BONUS } from '../../src/market/rules/tokens.js';
import { MAILBOX_SECRET, openTestApp, type TestApp } from '../setup/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const PLAYGROUND_FILES = [
  'start.js',
  'theme.js',
  'guide.js',
  'memory.js',
  'session.js',
  'stream.js',
  'graphiql.js',
  'graphiql.css',
  'editor.worker.js',
  'json.worker.js',
  'graphql.worker.js',
].map((name) => `/graphql/playground/${name}`);
const REFERENCE_FILES = ['start.js', 'swagger-ui-bundle.js', 'swagger-ui.css'].map((name) => `/v1/docs/${name}`);
const LIFECYCLE_FILES = ['start.js', 'session.js'].map((name) => `/lifecycle/${name}`);
const ALL = [
  '/',
  '/front.js',
  '/favicon.svg',
  '/v1',
  '/graphql',
  ...PLAYGROUND_FILES,
  '/v1/docs',
  ...REFERENCE_FILES,
  '/lifecycle',
  ...LIFECYCLE_FILES,
];

describe('The pages', () => {
  it.each(ALL)('%s has the same content in brotli, gzip and plain, and is sent once', async (path) => {
    const plain = await fetchRaw(path, { ...HTML, 'accept-encoding': 'identity' });
    const gzip = await fetchRaw(path, { ...HTML, 'accept-encoding': 'gzip, br;q=0' });
    const brotli = await fetchRaw(path, { ...HTML, 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect([plain, gzip, brotli].map(({ status, headers }) => [status, headers['content-encoding']])).toEqual([
      [200, undefined],
      [200, 'gzip'],
      [200, 'br'],
    ]);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true);
    const tags = [plain, gzip, brotli].map(({ headers }) => headers.etag);
    expect(new Set(tags).size).toBe(3);
    expect(brotli.headers['cache-control']).toBe('public, no-cache');
    expect(brotli.headers.vary).toContain('Accept-Encoding');

    const again = await fetchRaw(path, {
      ...HTML,
      'accept-encoding': 'gzip, deflate, br, zstd',
      'if-none-match': `"other", W/${tags[2]}`,
    });
    expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, tags[2]]);
  });

  it('a page can run only scripts from files of this server', async () => {
    for (const path of ALL) {
      const policy = (await fetchRaw(path, HTML)).headers['content-security-policy'];
      expect(policy, path).toContain("script-src 'self';");
      expect(policy, path).not.toContain('unsafe-eval');
    }
  });

  it('no page links another server’s files', async () => {
    for (const path of ['/', '/graphql', '/v1/docs', '/lifecycle']) {
      const page = (await fetchRaw(path, { ...HTML, 'accept-encoding': 'identity' })).bytes.toString();
      expect(page, path).not.toMatch(/(src|href)="(https?:)?\/\//);
    }
  });

  it('a file is read-only: POST returns 405, and HEAD has no body', async () => {
    const posted = await app.rest('POST', '/v1/docs', { body: {} });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await fetch(`${app.url}/v1/docs`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('a missing file returns 404, as does every path outside the folder', async () => {
    for (const path of [
      '/graphql/playground/',
      '/graphql/playground/../../package.json',
      '/v1/docs/package.json',
      '/v1/docs/%2e%2e/package.json',
    ]) {
      expect((await fetchRaw(path, HTML)).status, path).toBe(404);
    }
  });
});

it.each(['/', '/graphql', '/v1/docs', '/lifecycle', '/mailbox', '/reset-password'])(
  '%s has the same header, which marks the page',
  async (path) => {
    const headers = { ...HTML, cookie: `mailbox=${MAILBOX_SECRET}` };
    const page = await (await fetch(app.url + path, { headers })).text();
    const [header = ''] = /<header class="site">.*<\/header>/.exec(page) ?? [];
    const links = [...header.matchAll(/<a [^>]*href="([^"]+)"( aria-current="page")?/g)];
    expect(links.map(([, to]) => to)).toEqual(['/', '/graphql', '/v1/docs', '/lifecycle', '/mailbox']);
    const marked = links.filter(([, , current]) => current).map(([, to]) => to);
    expect(marked).toEqual(['/', '/reset-password'].includes(path) ? [] : [path]);
  },
);

it('a caller who guesses a path learns where all paths are listed', async () => {
  for (const path of ['/v1/login', '/login']) {
    const { status, body } = await app.rest('POST', path, { body: {} });
    expect([status, body.error]).toEqual([404, `There is nothing at ${path}. GET /v1 lists every path.`]);
  }
  const { body } = await app.rest('GET', '/v1');
  expect(body.paths['/v1/auth/login']).toEqual(['POST']);
  expect(Object.values(body.paths).flat()).toHaveLength(ROUTES.length);
});

describe('/', () => {
  it('is an index for programs, and for browsers a page whose links and first request work', async () => {
    const { body } = await app.rest('GET', '/');
    expect(body).toMatchObject({ playground: '/graphql', rest: '/v1', openapi: '/v1/openapi.json' });
    const text = await (await fetch(`${app.url}/`, { headers: HTML })).text();
    const links = new Set([...text.matchAll(/href="(\/[^"]+)"/g)].map(([, address]) => address ?? ''));
    for (const link of ['/graphql', '/v1/docs', '/lifecycle', '/mailbox', '/reset-password', '/v1'])
      expect(links).toContain(link);
    const headers = { ...HTML, cookie: `mailbox=${MAILBOX_SECRET}` };
    for (const link of links) expect((await fetch(app.url + link, { headers })).status, link).toBe(200);
    expect(text).not.toContain('demo.example');
    const call = /-d '([^]*?)'<\/pre>/.exec(text)?.[1]?.replace("'$RANDOM'", '7') ?? '';
    const signUp = await app.rest('POST', '/v1/auth/signup/homeowner', { body: JSON.parse(call) });
    expect(signUp.status).toBe(201);
  });

  it('lists who can log in to the demonstration, and links no page that is off', () => {
    const people = { Admin: ['ada@demo.example'] };
    const page = frontPage({
      playground: false,
      mailbox: false,
      mail: false,
      demo: { password: 'demo password', people },
    });
    expect(page).toContain('ada@demo.example');
    for (const link of ['/graphql', '/mailbox', '/reset-password']) expect(page).not.toContain(`href="${link}"`);
  });

  it('isn’t a page for Java’s client, which accepts HTML along with images', async () => {
    const headers = { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' };
    expect((await fetch(`${app.url}/`, { headers })).headers.get('content-type')).toContain('application/json');
  });
});

it('/lifecycle is a page for browsers, and the same as /v1/lifecycle for programs', async () => {
  const [{ status, body }, versioned] = [await app.rest('GET', '/lifecycle'), await app.rest('GET', '/v1/lifecycle')];
  expect(status).toBe(200);
  expect(body).toEqual(versioned.body);
  const page = await fetch(`${app.url}/lifecycle`, { headers: HTML });
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  // Caches may keep only the page, and only for browsers.
  expect(page.headers.get('vary')).toContain('Accept');
});

it('/lifecycle shows a picture that is legible in a window of 400 by 800 pixels', async () => {
  const page = await (await fetch(`${app.url}/lifecycle`, { headers: HTML })).text();
  const [, width, height] = /<svg viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(page) ?? [];
  // There it is 368 pixels wide, below an 80 pixel header and title. Unscaled, its letters are 12 pixels.
  expect((12 * 368) / Number(width)).toBeGreaterThanOrEqual(9);
  expect(80 + Number(height)).toBeLessThanOrEqual(800);
});

it('/v1 lists every REST address with its methods', async () => {
  const { paths } = (await (await fetch(`${app.url}/v1`)).json()) as { paths: Record<string, string[]> };
  expect(Object.values(paths).flat()).toHaveLength(ROUTES.length);
  expect(paths['/v1/jobs']).toEqual(['GET', 'POST']);
});

describe('A refusal', () => {
  it('is a small page for a browser, without scripts or echoed markup', async () => {
    const { status, headers, bytes } = await fetchRaw('/<script>alert(1)</script>', HTML);
    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'; style-src 'unsafe-inline'");
    expect(headers['cache-control']).toBe('no-store');
    expect(bytes.toString()).toContain('404 Not Found');
    expect(bytes.toString()).not.toContain('<script>');
    expect((await fetch(`${app.url}/v1/me`, { headers: HTML })).headers.get('www-authenticate')).toContain('Bearer');
  });

  it('shows code as code on the page, and as plain text in JSON', async () => {
    const page = await (await fetch(`${app.url}/v1/jobs`, { headers: HTML })).text();
    expect(page).toContain('Send it as <code>Authorization: Bearer &lt;token&gt;</code>.');
    expect(page).not.toContain('`');
    expect((await app.rest('GET', '/v1/jobs')).body.error).toContain('`Authorization: Bearer <token>`');
  });

  it('is JSON for programs, whatever else they accept', async () => {
    for (const accept of ['*/*', 'application/json, text/plain, */*', 'application/json', 'text/plain'])
      expect((await fetch(`${app.url}/nothing`, { headers: { accept } })).headers.get('content-type')).toContain(
        'application/json',
      );
    const posted = await fetch(`${app.url}/v1/jobs`, { method: 'POST', headers: HTML });
    expect([posted.status, posted.headers.get('content-type')]).toEqual([401, 'application/json; charset=utf-8']);
  });
});

describe('/graphql', () => {
  it('is the API for requests that don’t accept HTML', async () => {
    const answer = await fetch(`${app.url}/graphql?query={__typename}`, {
      headers: { accept: 'application/json', 'apollo-require-preflight': '1' },
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { data: { __typename: 'Query' } }]);
  });

  it('links the API’s documentation if GRAPHQL_PLAYGROUND is off, and keeps the reference', async () => {
    const closed = await openTestApp({ GRAPHQL_PLAYGROUND: 'off' });
    try {
      const answer = await fetch(`${closed.url}/graphql`, { headers: HTML });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const text = await answer.text();
      expect(text).toContain('The playground is off');
      expect(text).not.toContain('/graphql/playground/');
      const links = [...text.matchAll(/href="(\/[^"]+)"/g)].map(([, address]) => address ?? '');
      const site = ['/favicon.svg', '/v1/docs', '/lifecycle', '/mailbox'];
      expect(links).toEqual([...site, '/v1/docs', '/lifecycle']);
      const cookie = { headers: { cookie: `mailbox=${MAILBOX_SECRET}` } };
      for (const link of links) expect((await fetch(closed.url + link, cookie)).status, link).toBe(200);
      const headers = { accept: 'application/json', 'apollo-require-preflight': '1' };
      const asked = await fetch(`${closed.url}/graphql?query={__typename}`, { headers });
      expect(await asked.json()).toMatchObject({ data: { __typename: 'Query' } });
      for (const path of PLAYGROUND_FILES) expect((await fetch(closed.url + path)).status, path).toBe(404);
      expect((await fetch(`${closed.url}/v1/docs`)).status).toBe(200);
      expect(await (await fetch(`${closed.url}/lifecycle`, { headers: HTML })).text()).not.toContain('/graphql"');
    } finally {
      await closed.close();
    }
  });

  it('offers tabs that are valid for the schema', () => {
    for (const { name, tab } of readSteps()) expect(validate(schema, parse(tab.query)), name).toEqual([]);
  });
});

it('the playground’s steps have the current prices', () => {
  const { homeowner, contractor } = SIGNUP_BONUS;
  const { standard, priority, urgent } = PUBLISH_COST;
  const [first] = readSteps();
  expect(first?.text).toContain(`${homeowner} for a homeowner, ${contractor} for a contractor`);
  expect(first?.text).toContain(`costs ${standard}, ${priority}, or ${urgent} tokens`);
  const texts = Object.fromEntries(readSteps().map(({ name, text }) => [name, text]));
  expect(texts.PublishJob).toContain(`costs ${standard} of your ${homeowner} tokens`);
  expect(texts.PublishSecondJob).toContain(`another ${standard} tokens`);
  expect(texts.NotEnoughTokens).toContain(`an urgent job costs ${urgent} tokens`);
  expect(texts.SubmitBid).toContain(`holds ${GUARANTEED_VIEW_STAKE} tokens`);
});

interface Raw {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** `fetch` would decompress the body and normalize the path. */
function fetchRaw(path: string, headers: Record<string, string>): Promise<Raw> {
  return new Promise((resolve, reject) => {
    get(`${app.url}`, { path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
    }).on('error', reject);
  });
}

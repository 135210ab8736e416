/** The pages for people, as HTTP: who gets them, in which form, and how often they travel. */
import { get, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSteps } from '../../src/graphql/playground/steps.js';
import { createSchema } from '../../src/graphql/schema.js';
import { PUBLISH_COST } from '../../src/rules/publishing.js';
import { GUARANTEED_VIEW_STAKE, SIGNUP_BONUS } from '../../src/rules/tokens.js';
import { openTestApp, type TestApp } from '../app.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const PLAYGROUND_FILES = [
  'start.js',
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
const ALL = ['/graphql', ...PLAYGROUND_FILES, '/v1/docs', ...REFERENCE_FILES, '/lifecycle', ...LIFECYCLE_FILES];

describe('The pages', () => {
  it.each(ALL)('%s is the same bytes in brotli, in gzip and plain, and is sent once', async (path) => {
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

  it('a page may run files of this server, and no other script', async () => {
    for (const path of ALL) {
      const policy = (await fetchRaw(path, HTML)).headers['content-security-policy'];
      expect(policy, path).toContain("script-src 'self';");
      expect(policy, path).not.toContain('unsafe-eval');
    }
  });

  it('no page names another server', async () => {
    for (const path of ['/graphql', '/v1/docs', '/lifecycle']) {
      const page = (await fetchRaw(path, { ...HTML, 'accept-encoding': 'identity' })).bytes.toString();
      expect(page, path).not.toMatch(/(src|href)="(https?:)?\/\//);
    }
  });

  it('a file is only read: POST is 405 and HEAD has no body', async () => {
    const posted = await app.rest('POST', '/v1/docs', { body: {} });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await fetch(`${app.url}/v1/docs`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('a file that is not there is 404, as is every path outside of the folder', async () => {
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

describe('/graphql', () => {
  it('is the API for who does not ask for HTML', async () => {
    const answer = await fetch(`${app.url}/graphql?query={__typename}`, {
      headers: { accept: 'application/json', 'apollo-require-preflight': '1' },
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { data: { __typename: 'Query' } }]);
  });

  it('says where the API is explained where GRAPHQL_PLAYGROUND is off, and the reference stays', async () => {
    const closed = await openTestApp({ GRAPHQL_PLAYGROUND: 'off' });
    try {
      const answer = await fetch(`${closed.url}/graphql`, { headers: HTML });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const text = await answer.text();
      expect(text).toContain('The playground is off');
      expect(text).not.toContain('/graphql/playground/');
      const links = [...text.matchAll(/href="(\/[^"]+)"/g)].map(([, address]) => address ?? '');
      expect(links).toEqual(['/v1/docs', '/lifecycle']);
      for (const link of links) expect((await fetch(closed.url + link)).status, link).toBe(200);
      const headers = { accept: 'application/json', 'apollo-require-preflight': '1' };
      const asked = await fetch(`${closed.url}/graphql?query={__typename}`, { headers });
      expect(await asked.json()).toMatchObject({ data: { __typename: 'Query' } });
      for (const path of PLAYGROUND_FILES) expect((await fetch(closed.url + path)).status, path).toBe(404);
      expect((await fetch(`${closed.url}/v1/docs`)).status).toBe(200);
      expect(await (await fetch(`${closed.url}/lifecycle`)).text()).not.toContain('/graphql"');
    } finally {
      await closed.close();
    }
  });

  it('offers starter tabs that the schema knows', () => {
    const schema = createSchema();
    for (const { name, tab } of readSteps()) expect(validate(schema, parse(tab.query)), name).toEqual([]);
  });
});

it('the first step of the playground names the prices of today', () => {
  const { homeowner, contractor } = SIGNUP_BONUS;
  const { standard, priority, urgent } = PUBLISH_COST;
  const [first] = readSteps();
  expect(first?.text).toContain(`${homeowner} for a homeowner, ${contractor} for a contractor`);
  expect(first?.text).toContain(`costs ${standard}, ${priority} or ${urgent} of them`);
  const texts = Object.fromEntries(readSteps().map(({ name, text }) => [name, text]));
  expect(texts.PublishJob).toContain(`costs ${standard} of your ${homeowner} tokens`);
  expect(texts.PublishSecondJob).toContain(`Another ${standard} tokens`);
  expect(texts.SubmitBid).toContain(`holds ${GUARANTEED_VIEW_STAKE} tokens`);
});

interface Raw {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** `fetch` would decompress, and tidy the path. */
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

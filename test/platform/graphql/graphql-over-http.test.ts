/** The GraphQL over HTTP audit: this server meets every MUST and all but three SHOULDs. */
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { homeowner } from '../../story/cast.js';
import { openTestApp, type TestApp } from '../../setup/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

/**
 * These audits expect status 200 for documents that can't be parsed, are invalid, or have wrong variables. This server
 * returns 400, because nothing ran (docs/decisions.md, "Decisions").
 */
const DECIDED_OTHERWISE = ['572B', 'FDE2', '7B9B'];

describe('GraphQL over HTTP', () => {
  for (const audit of serverAudits({ url: () => `${app.url}/graphql`, fetchFn: withPreflight })) {
    it(`${audit.id} ${audit.name}`, async () => {
      const result = await audit.fn();
      if (DECIDED_OTHERWISE.includes(audit.id))
        return expect(result).toMatchObject({ status: 'warn', response: { status: 400 } });
      if (result.status === 'ok') return;
      expect.fail(`${result.reason} (${result.response.status} ${await result.response.clone().text()})`);
    });
  }
});

describe('a response', () => {
  const CREATE = 'mutation { createJob(input: { title: "Unacceptable", description: "B" }) { job { id } } }';

  it.each(['text/event-stream', 'text/plain', 'image/*', 'application/json;q=0, text/html'])(
    'to a client that accepts only %s fails with a 406, and nothing of the call is kept',
    async (accept) => {
      const hanna = await homeowner(app, 'Hanna');
      // Makes the document known. Below, an unknown one fails in the same way.
      await app.graphql(CREATE, { token: hanna.token });
      const { status, errors, data } = await app.graphql(CREATE, { token: hanna.token, headers: { accept } });
      const another = `${CREATE} # ${accept}`;
      const unknown = await app.graphql(another, { token: hanna.token, headers: { accept } });
      expect([status, errors?.[0]?.extensions.code, data]).toEqual([406, 'MALFORMED_REQUEST', undefined]);
      expect(unknown.status).toBe(406);
      expect((await app.rest('GET', '/v1/jobs', { token: hanna.token })).body.data).toHaveLength(1);
    },
  );

  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['text/html, application/*;q=0.5', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/graphql-response+json, application/json;q=0.9', 'application/graphql-response+json'],
    ['application/graphql-response+json; charset=utf-8, */*', 'application/graphql-response+json'],
    ['application/json;q=0, */*', 'application/graphql-response+json'],
  ])('to a client that accepts %s is %s', async (accept, type) => {
    const { status, headers } = await app.graphql('{ __typename }', {
      headers: accept === undefined ? {} : { accept },
    });
    expect([status, headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
  });

  describe('that refuses before anything is executed has the format that the client asked for', () => {
    const persistedQuery = { version: 1, sha256Hash: 'none' };
    it.each([
      ['broken JSON', '{', {}, 400],
      ['a batch', '[]', {}, 400],
      ['a malformed hash', JSON.stringify({ extensions: { persistedQuery } }), {}, 400],
      ['a wrong Dry-Run', JSON.stringify({ query: '{ __typename }' }), { 'dry-run': 'perhaps' }, 400],
      ['a body of another type', 'x', { 'content-type': 'text/plain' }, 415],
    ])('after %s', async (_name, body, headers, expected) => {
      const response = await fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: {
          accept: 'application/graphql-response+json,application/json;q=0.9',
          'content-type': 'application/json',
          ...headers,
        },
        body,
      });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        expected,
        'application/graphql-response+json; charset=utf-8',
      ]);
    });
  });

  it('to a GET with a Content-Type other than JSON says that the Content-Type is the problem', async () => {
    const { status, body } = await app.rest('GET', '/graphql?query=%7B__typename%7D', {
      headers: { 'content-type': 'application/xml' },
    });
    expect([status, body.errors[0].extensions]).toEqual([
      415,
      expect.objectContaining({ code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 }),
    ]);
  });
});

/**
 * The server refuses a GET that any page could send without a preflight. The audit's GETs have a header that requires
 * one.
 */
function withPreflight(address: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if ((init.method ?? 'GET') === 'GET') headers.set('apollo-require-preflight', '1');
  return fetch(address, { ...init, headers });
}

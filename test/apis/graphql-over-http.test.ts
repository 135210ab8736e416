/** The audit of the GraphQL-over-HTTP specification: whatever it says a server MUST do, this one does. */
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../app.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

describe('GraphQL over HTTP', () => {
  for (const audit of serverAudits({ url: () => `${app.url}/graphql`, fetchFn: withPreflight })) {
    it(`${audit.id} ${audit.name}`, async () => {
      const result = await audit.fn();
      if (result.status !== 'error') return;
      expect.fail(`${result.reason} (${result.response.status} ${await result.response.clone().text()})`);
    });
  }
});

/**
 * A GET that any page could send without asking is refused on purpose; the audit's own come with the header that asks.
 */
function withPreflight(address: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if ((init.method ?? 'GET') === 'GET') headers.set('apollo-require-preflight', '1');
  return fetch(address, { ...init, headers });
}

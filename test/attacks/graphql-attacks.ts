/**
 * Attacks from graphql-cop, CrackQL, and OWASP's GraphQL cheat sheet. Documents over a limit are in
 * `test/platform/graphql/limits/graphql-limits.test.ts`.
 */
import type { Json, TestApp } from '../setup/app.js';
import { outcomeOf, type Attack, type Ground } from './ground.js';

const COP = 'graphql-cop';
const SHEET = 'OWASP GraphQL cheat sheet';
const REFUSED = '400 VALIDATION_FAILED';

type Send = (query: string, variables?: object) => Attack['run'];

/** Sent by a signed-in user. A response with an error must not contain data. */
const send: Send =
  (query, variables) =>
  async ({ app, ours }) => {
    const answer = await app.graphql(query, { token: ours.people.owner.token, ...(variables && { variables }) });
    return answer.data == null ? outcomeOf(answer) : `${outcomeOf(answer)} with data`;
  };

async function raw(
  app: TestApp,
  path: string,
  init: RequestInit,
): Promise<{ status: number; type: string; body: Json; text: string }> {
  const response = await fetch(app.url + path, init);
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return {
    status: response.status,
    type,
    text,
    body: type.startsWith('application/json') ? JSON.parse(text) : undefined,
  };
}

async function refusedRaw(app: TestApp, path: string, init: RequestInit): Promise<string> {
  const { status, body } = await raw(app, path, init);
  return body?.errors ? `${status} ${body.errors[0].extensions.code}` : String(status);
}

const post = (body: string, type = 'application/json'): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': type },
});

/** Shows what a production server reveals about its schema. */
const askProduction =
  (query: string) =>
  async ({ production }: Ground) => {
    const { data, errors } = await production.graphql(query);
    return `${data == null ? 'no data' : 'data'}${/Did you mean/.test(JSON.stringify(errors)) ? ', a suggestion' : ''}`;
  };

export const GRAPHQL_ATTACKS: readonly Attack[] = [
  {
    name: 'a misspelt field, for a suggestion',
    source: `${COP}: field suggestions`,
    outcome: 'no data',
    run: askProduction('{ viewr { referralCode } }'),
  },
  {
    name: 'the page for exploring',
    source: `${COP}: GraphiQL exposed`,
    outcome: '200 without scripts',
    run: async ({ production }) => {
      const { status, text } = await raw(production, '/graphql', { headers: { accept: 'text/html' } });
      return `${status} ${/<script|graphiql/i.test(text) ? 'with' : 'without'} scripts`;
    },
  },
  {
    name: 'the whole schema',
    source: `${COP}: introspection`,
    outcome: 'no data',
    run: askProduction('{ __schema { types { name } } }'),
  },
  {
    name: 'a trace of the work',
    source: `${COP}: tracing`,
    outcome: 'cost',
    run: async ({ app }) =>
      Object.keys(
        (
          await app.graphql('{ __typename }', {
            headers: {
              'apollo-tracing': '1',
              'apollo-federation-include-trace': 'ftv1',
              'apollo-query-plan-experimental': '1',
            },
          })
        ).extensions,
      ).join(', '),
  },
  {
    name: 'an error that shows the insides',
    source: `${COP}: unhandled errors`,
    outcome: '400 MALFORMED_REQUEST',
    run: async ({ app }) => {
      const { status, body, text } = await raw(
        app,
        '/graphql',
        post('{"query":"query { __typename","variables":{"a":[[[1]]]}}'),
      );
      return /stack|node_modules|\bat \w+ \(/.test(text) ? text : `${status} ${body.errors[0].extensions.code}`;
    },
  },

  {
    name: 'a page of a million',
    source: `${SHEET}: pagination`,
    outcome: `${REFUSED} with data`,
    run: send('{ jobs(first: 1000000) { totalCount } }'),
  },
  {
    name: 'a query of 200 KB',
    source: `${SHEET}: timeouts and sizes`,
    outcome: '413 PAYLOAD_TOO_LARGE',
    run: ({ app }) =>
      refusedRaw(app, '/graphql', post(JSON.stringify({ query: `{ __typename } # ${'x'.repeat(200_000)}` }))),
  },
  {
    name: 'SQL in a search',
    source: `${SHEET}: injection`,
    outcome: '0 found',
    run: async ({ app, ours }) =>
      `${
        (
          await app.graphql('query ($s: String) { jobs(filter: { search: $s }) { totalCount } }', {
            token: ours.people.owner.token,
            variables: { s: "' or 1=1 --" },
          })
        ).data.jobs.totalCount
      } found`,
  },
  {
    name: 'SQL in an identifier',
    source: `${SHEET}: injection`,
    outcome: '404 NOT_FOUND with data',
    run: send('query ($id: ID!) { job(id: $id) { id } }', { id: "job_' or 1=1 --" }),
  },
  {
    name: 'a wildcard in a search',
    source: `${SHEET}: injection`,
    outcome: '0 found',
    run: async ({ app, ours }) => {
      const { token } = ours.people.owner;
      const { data } = await app.graphql('{ jobs(filter: { search: "%_%" }) { totalCount } }', { token });
      return `${data.jobs.totalCount} found`;
    },
  },
  {
    name: 'a document registered under the hash of another',
    source: `${SHEET}: allow lists`,
    outcome: '400 VALIDATION_FAILED',
    run: ({ app }) =>
      refusedRaw(
        app,
        '/graphql',
        post(
          JSON.stringify({
            query: '{ __typename }',
            extensions: { persistedQuery: { version: 1, sha256Hash: '0'.repeat(64) } },
          }),
        ),
      ),
  },
  {
    name: 'a deferred part',
    source: `${SHEET}: unused features`,
    outcome: REFUSED,
    run: send('{ __typename ... @defer { viewer { referralCode } } }'),
  },
];

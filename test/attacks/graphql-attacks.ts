/** What graphql-cop, CrackQL and the OWASP sheet on GraphQL try. */
import type { Json, TestApp } from '../app.js';
import { outcomeOf, times, type Attack, type Ground } from './ground.js';

const COP = 'graphql-cop';
const CRACK = 'CrackQL';
const SHEET = 'OWASP GraphQL cheat sheet';
const REFUSED = '400 VALIDATION_FAILED';

type Send = (query: string, variables?: object) => Attack['run'];

/** Sent by somebody signed in; a refusal must not have reached the database. */
const send: Send =
  (query, variables) =>
  async ({ app, ours }) => {
    const answer = await app.graphql(query, { token: ours.people.owner.token, ...(variables && { variables }) });
    return answer.data == null ? outcomeOf(answer) : `${outcomeOf(answer)} with data`;
  };

const logIn = (i: number) => `a${i}: logIn(input: { email: "olive@example.test", password: "guess ${i}" }) { token }`;

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
const asOwner = ({ ours }: Ground, headers: Record<string, string> = {}) => ({
  headers: { authorization: `Bearer ${ours.people.owner.token}`, ...headers },
});
const LOG_OUT = 'mutation { logOut { sessionId } }';
const get = (query: string) => `/graphql?query=${encodeURIComponent(query)}`;

/** What a production server gives away about its schema to somebody who asks. */
const askProduction =
  (query: string) =>
  async ({ production }: Ground) => {
    const { data, errors } = await production.graphql(query);
    return `${data == null ? 'no data' : 'data'}${/Did you mean/.test(JSON.stringify(errors)) ? ', a suggestion' : ''}`;
  };

export const GRAPHQL_ATTACKS: readonly Attack[] = [
  {
    name: 'a hundred aliases of one field',
    source: `${COP}: alias overloading`,
    outcome: REFUSED,
    run: send(`{ ${times(100, (i) => `a${i}: viewer { referralCode }`)} }`),
  },
  {
    name: 'a list of ten operations',
    source: `${COP}: array-based query batching`,
    outcome: '400 MALFORMED_REQUEST',
    run: ({ app }) =>
      refusedRaw(
        app,
        '/graphql',
        post(JSON.stringify(Array.from({ length: 10 }, () => ({ query: '{ __typename }' })))),
      ),
  },
  {
    name: 'a directive five hundred times',
    source: `${COP}: directive overloading`,
    outcome: REFUSED,
    run: send(`{ __typename ${times(480, () => '@aa')} }`),
  },
  {
    name: 'a directive five hundred times, one that exists',
    source: `${COP}: directive overloading`,
    outcome: REFUSED,
    run: send(`{ __typename ${times(90, () => '@skip(if: true)')} }`),
  },
  {
    name: 'types of fields of types of fields',
    source: `${COP}: circular introspection`,
    outcome: REFUSED,
    run: send(`{ __schema { types { ${'fields { type { '.repeat(4)} name ${'} } '.repeat(4)} } } }`),
  },
  {
    name: 'a field five thousand times',
    source: `${COP}: field duplication`,
    outcome: '400 MALFORMED_REQUEST',
    run: send(`{ ${'__typename '.repeat(5_000)} }`),
  },
  {
    name: 'a mutation by GET',
    source: `${COP}: GET-based mutation`,
    outcome: '405 METHOD_NOT_ALLOWED',
    run: (ground) => refusedRaw(ground.app, get(LOG_OUT), asOwner(ground, { 'apollo-require-preflight': '1' })),
  },
  {
    name: 'a query by GET that a page could send',
    source: `${COP}: GET method support (CSRF)`,
    outcome: '400 MALFORMED_REQUEST',
    run: (ground) => refusedRaw(ground.app, get('{ viewer { referralCode } }'), asOwner(ground)),
  },
  {
    name: 'a mutation as a form',
    source: `${COP}: POST with urlencoded body (CSRF)`,
    outcome: '415 UNSUPPORTED_MEDIA_TYPE',
    run: ({ app }) =>
      refusedRaw(app, '/graphql', post(`query=${encodeURIComponent(LOG_OUT)}`, 'application/x-www-form-urlencoded')),
  },
  {
    name: 'a mutation as plain text',
    source: `${COP}: CSRF`,
    outcome: '415 UNSUPPORTED_MEDIA_TYPE',
    run: ({ app }) => refusedRaw(app, '/graphql', post(JSON.stringify({ query: LOG_OUT }), 'text/plain')),
  },
  {
    name: 'a mutation as a multipart form',
    source: `${COP}: CSRF`,
    outcome: '415 UNSUPPORTED_MEDIA_TYPE',
    run: ({ app }) =>
      refusedRaw(
        app,
        '/graphql',
        post(
          '--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{}\r\n--b--',
          'multipart/form-data; boundary=b',
        ),
      ),
  },
  {
    name: 'a misspelt field, for a suggestion',
    source: `${COP}: field suggestions`,
    outcome: 'no data',
    run: askProduction('{ viewr { referralCode } }'),
  },
  {
    name: 'a misspelt argument, for a suggestion',
    source: `${COP}: field suggestions`,
    outcome: 'no data',
    run: askProduction('{ jobs(frst: 1) { totalCount } }'),
  },
  {
    name: 'a misspelt enum value, for a suggestion',
    source: `${COP}: field suggestions`,
    outcome: 'no data',
    run: askProduction('{ jobs(filter: { urgency: STANDART }) { totalCount } }'),
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
    name: 'one type of the schema',
    source: `${COP}: introspection`,
    outcome: 'no data',
    run: askProduction('{ __type(name: "User") { fields { name } } }'),
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
    name: 'twenty guesses at a password by aliases',
    source: `${CRACK}: batched brute force`,
    outcome: REFUSED,
    run: send(`mutation { ${times(12, logIn)} }`),
  },
  {
    name: 'two guesses at a password by aliases',
    source: `${CRACK}: batched brute force`,
    outcome: REFUSED,
    run: send(`mutation { ${times(2, logIn)} }`),
  },
  {
    name: 'guesses hidden in fragments',
    source: `${CRACK}: batched brute force`,
    outcome: REFUSED,
    run: send(
      `mutation { ...A ... { ...B } } fragment A on Mutation { ${logIn(0)} } fragment B on Mutation { ${logIn(1)} }`,
    ),
  },
  {
    name: 'guesses of which a variable skips all but one',
    source: `${CRACK}: batched brute force`,
    outcome: REFUSED,
    run: send(`mutation ($no: Boolean!) { ${logIn(0)} ... @skip(if: $no) { ${logIn(1)} } }`, { no: true }),
  },
  {
    name: 'a log-in each for three stolen accounts',
    source: `${CRACK}: credential stuffing`,
    outcome: REFUSED,
    run: send(
      `mutation { ${times(
        3,
        (i) => `a${i}: logIn(input: { email: "stolen.${i}@example.test", password: "a leaked one" }) { token }`,
      )} }`,
    ),
  },
  {
    name: 'a log-in together with a sign-up',
    source: `${CRACK}: credential stuffing`,
    outcome: REFUSED,
    run: send(
      `mutation { ${logIn(0)} b: signUpHomeowner(input: { email: "new@example.test", password: "a password", ` +
        `firstName: "N", lastName: "N" }) { token } }`,
    ),
  },
  {
    name: 'six guesses at the current password, which guards the account like a second factor',
    source: `${CRACK}: 2FA bypass`,
    outcome: REFUSED,
    run: send(
      `mutation { ${times(
        6,
        (i) =>
          `a${i}: changePassword(input: { currentPassword: "guess ${i}", newPassword: ` +
          `"a new password" }) { changed }`,
      )} }`,
    ),
  },
  {
    name: 'six guesses at a refresh token',
    source: `${CRACK}: fuzzing`,
    outcome: REFUSED,
    run: send(
      `mutation { ${times(6, (i) => `a${i}: refreshSession(input: { refreshToken: "rft_${i}" }) { token }`)} }`,
    ),
  },
  {
    name: 'twenty identifiers tried at once',
    source: `${CRACK}: enumeration`,
    outcome: REFUSED,
    run: send(`{ ${times(20, (i) => `a${i}: node(id: "job_${i}") { id }`)} }`),
  },

  {
    name: 'jobs of bids of jobs of bids',
    source: `${SHEET}: depth`,
    outcome: REFUSED,
    run: send(`{ job(id: "job_x") { ${'bids(first: 1) { nodes { job { '.repeat(4)} id ${'} } } '.repeat(4)} } }`),
  },
  {
    name: 'a hundred pages of a hundred',
    source: `${SHEET}: amount`,
    outcome: REFUSED,
    run: send('{ jobs(first: 100) { nodes { bids(first: 100) { nodes { id } } } } }'),
  },
  {
    name: 'a page of a million',
    source: `${SHEET}: pagination`,
    outcome: `${REFUSED} with data`,
    run: send('{ jobs(first: 1000000) { totalCount } }'),
  },
  {
    name: 'a page whose length a variable blows up',
    source: `${SHEET}: query cost`,
    outcome: REFUSED,
    run: send('query ($n: Int) { jobs(first: 100) { nodes { bids(first: $n) { nodes { id } } } } }', {
      n: 2_000_000_000,
    }),
  },
  {
    name: 'a bomb of 2^60 fragments',
    source: `${SHEET}: query cost`,
    outcome: REFUSED,
    run: send(
      `{ ...F0 } ${times(60, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F60 on ` +
        `Query { __typename }`,
    ),
  },
  {
    name: 'fragments in a circle',
    source: `${SHEET}: query cost`,
    outcome: REFUSED,
    run: send('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'),
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
    name: 'a subscription',
    source: `${SHEET}: unused features`,
    outcome: REFUSED,
    run: send('subscription { jobs { id } }'),
  },
  {
    name: 'a deferred part',
    source: `${SHEET}: unused features`,
    outcome: REFUSED,
    run: send('{ __typename ... @defer { viewer { referralCode } } }'),
  },
];

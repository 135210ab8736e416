/**
 * The limits of one GraphQL operation. A document at a limit runs, and one above it is refused before any part runs.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClientSchema, getIntrospectionQuery } from 'graphql';
import { createClient as createSseClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/app/config.js';
import { openPersistedDocuments } from '../../../../src/platform/graphql/documents/persisted-documents.js';
import { readSteps } from '../../../../src/pages/playground/steps.js';
import { JOB_ACTION_LIST } from '../../../../src/market/rules/lifecycle.js';
import { GRAPHQL_LIMITS } from '../../../../src/platform/caller-limits.js';
import { homeowner, type Person } from '../../../story/cast.js';
import { connectAs, hear, MY_EVENTS, untilOpen } from '../streams/clients.js';
import { openTestApp, type GraphqlAnswer, type Json, type TestApp } from '../../../setup/app.js';
import { GUIDE } from '../../../setup/guide.js';
import {
  ATTACKS,
  times,
  nested,
  LOG_IN,
  LOG_OUT,
  GUESS,
  BOMB,
  ROUND_AND_ROUND,
  OF_TYPE,
  PLAIN_FIELDS_OF_JOB,
  TREE_OF_JOBS,
  FRAGMENTS_OF_TREE,
  type Besides,
  type Limit,
} from './heavy-documents.js';
import { byGraphql } from '../../../apis/refused.js';

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

async function send(query: string, besides: Besides = {}, to: TestApp = app): Promise<GraphqlAnswer> {
  const { status, headers, body } = await to.rest('POST', '/graphql', {
    token: hanna.token,
    body: { query, ...besides },
  });
  return { status, headers, ...body };
}

/** Sends a document that must be refused, and checks that nothing ran. */
async function refusal(query: string, besides?: Besides): Promise<Json> {
  app.statements();
  const answer = await send(query, besides);
  expect(app.statements()).toEqual([]);
  expect(answer.data).toBeUndefined();
  expect([answer.status, byGraphql(answer).status]).toEqual([400, 400]);
  const [error] = answer.errors ?? [];
  return { message: error?.message, ...error?.extensions };
}

const limitsIn = ({ errors }: GraphqlAnswer): Limit[] =>
  (errors ?? []).flatMap(({ extensions }) => extensions.limit ?? []);
const costOf = async (query: string, variables?: object): Promise<number> =>
  (await send(query, { ...(variables && { variables }) })).extensions.cost.requested;

/** Creates this many pairs of equal selections. n selections have n(n-1)/2 pairs. */
function repeated(pairs: number, names: readonly string[]): string[] {
  const [name = '', ...others] = names;
  const n = Math.floor((1 + Math.sqrt(1 + 8 * pairs)) / 2);
  return pairs === 0 ? [] : [times(n, () => name), ...repeated(pairs - (n * (n - 1)) / 2, others)];
}

type Row = readonly [max: number, code: string, askingFor: (count: number) => string];

/** Each limit: the allowed number, the error code above the limit, and a document with exactly that many. */
const LIMITS: Readonly<Record<Limit, Row>> = {
  tokens: [1_000, 'MALFORMED_REQUEST', (count) => `{ contractor(id: [${times(count - 12, () => '1')}]) { id } }`],
  lines: [2_000, 'VALIDATION_FAILED', (count) => `{ __typename }${'\n'.repeat(count - 1)}`],
  nameCharacters: [100, 'VALIDATION_FAILED', (count) => `query ${'Q'.repeat(count)} { __typename }`],
  depth: [12, 'VALIDATION_FAILED', (count) => `{ ${nested(count - 1, ROUND_AND_ROUND, '__typename')} }`],
  introspectionDepth: [16, 'VALIDATION_FAILED', (count) => `{ ${nested(count - 1, OF_TYPE, 'name')} }`],
  introspectionAliases: [
    1,
    'VALIDATION_FAILED',
    (count) => `{ ${times(count, (i) => `a${i}: __schema { queryType { name } }`)} }`,
  ],
  aliases: [15, 'VALIDATION_FAILED', (count) => `{ ${times(count, (i) => `a${i}: viewer { referralCode }`)} }`],
  rootMutations: [5, 'VALIDATION_FAILED', (count) => `mutation { ${times(count, GUESS)} }`],
  entries: [1, 'VALIDATION_FAILED', (count) => `mutation { ${times(count, (i) => LOG_IN(i))} }`],
  directives: [
    10,
    'VALIDATION_FAILED',
    (count) => `{ ${times(count, () => '... @include(if: true) { __typename }')} }`,
  ],
  selections: [
    1_000,
    'VALIDATION_FAILED',
    (count) =>
      `{ ${TREE_OF_JOBS} ${times(60, () => '__typename')} catalog ` +
      `{ ${times(count - 959, () => 'categories')} } } ${FRAGMENTS_OF_TREE}`,
  ],
  repeats: [
    5_000,
    'VALIDATION_FAILED',
    (count) =>
      `{ catalog { ${repeated(count, ['__typename', 'categories', 'propertyTypes', 'businessTypes']).join(' ')} } }`,
  ],
  cost: [
    10_000,
    'VALIDATION_FAILED',
    (count) =>
      `{ jobs(first: 100) { nodes { bids(first: 98) { nodes { id } } } } viewer { ` +
      `bids(first: ${count - 9_901}) { nodes { id } } } }`,
  ],
};

describe('a limit', () => {
  it.each((Object.entries(LIMITS) as [Limit, Row][]).map(([limit, row]) => [limit, ...row] as const))(
    'on %s allows %i, and refuses one more with its name, the count, and advice',
    async (limit, max, code, askingFor) => {
      expect(GRAPHQL_LIMITS[limit]).toBe(max);
      expect(limitsIn(await app.graphql(askingFor(max)))).toEqual([]);
      const refused = await refusal(askingFor(max + 1));
      expect(refused).toMatchObject({ code, limit, max, found: max + 1 });
      for (const number of [max, max + 1]) expect(refused.message).toContain(number.toLocaleString('en'));
      expect(refused.message).toMatch(/^The operation has .*\. The maximum is [\d,]+\. [A-Z].*\.$/);
    },
  );

  it('is in the table above', () => {
    expect(Object.keys(GRAPHQL_LIMITS).sort()).toEqual(Object.keys(LIMITS).sort());
  });

  it('that is far exceeded says by how much, if anything was counted', async () => {
    expect(await refusal(BOMB(60))).toMatchObject({
      limit: 'selections',
      found: 1_001,
      message: expect.stringContaining('at least 1,001 selections'),
    });
    expect(await refusal(`{ ${'__typename '.repeat(9_000)} }`)).toMatchObject({
      limit: 'tokens',
      found: 1_001,
      message: expect.stringContaining('at least 1,001 tokens'),
    });
  });
});

it("`__typename` isn't a mutation and doesn't count as one", async () => {
  const most = times(GRAPHQL_LIMITS.rootMutations, (i) => LOG_OUT(`a${i}`));
  expect(limitsIn(await app.graphql(`mutation { ${most} __typename }`))).toEqual([]);
});

it('A subscription sent as a request is refused before anything runs, and told where to go', async () => {
  const { status, errors } = await app.graphql('subscription { myEvents { id } }');
  expect([status, errors?.[0]?.message, errors?.[0]?.extensions.code]).toEqual([
    400,
    'Open a subscription with a WebSocket to /graphql (graphql-transport-ws), or with server-sent ' +
      'events from /graphql/stream.',
    'VALIDATION_FAILED',
  ]);
});

it.each([
  'subscription ($x: Boolean!) { myEvents @include(if: $x) { id } }',
  'subscription { myEvents @skip(if: true) { id } }',
  'subscription { myEvents @include(if: false) { id } }',
  'subscription { ... @skip(if: false) { myEvents { id } } }',
  'subscription { myEvents @skip { id } }',
  'subscription { myEvents @skip(if: null) { id } }',
  'subscription { myEvents @include(if: "x") { id } }',
  'query Harmless { __typename } subscription ($x: Boolean!) { ... @skip(if: $x) { ...F } } ' +
    'fragment F on Subscription { myEvents { id } }',
])('A condition on everything that a subscription selects is refused, whatever its value: %s', async (query) => {
  const message =
    'A subscription’s field can’t have @skip or @include. The fields that are selected from its events can.';
  const { status, errors } = await app.graphql(query);
  expect([status, errors]).toEqual([
    400,
    [expect.objectContaining({ message, extensions: expect.objectContaining({ code: 'VALIDATION_FAILED' }) })],
  ]);
  const { client, subscribe } = connectAs(app.url, hanna);
  expect(await subscribe(query).ended).toMatchObject([{ message, extensions: { code: 'VALIDATION_FAILED' } }]);
  await client.dispose();
});

describe('refused before anything runs', () => {
  it.each<(typeof ATTACKS)[number]>(ATTACKS)('%s', async (_name, query, limits, besides) => {
    await refusal(query, besides);
    expect(limitsIn(await send(query, besides))).toEqual(limits);
  });
});

it("Missing variables are the caller's mistake, however many there are", async () => {
  const query =
    `mutation (${times(51, (i) => `$a${i}: String!`)}) { updateProfile(input: { contractor: { ` +
    `specialties: [${times(51, (i) => `$a${i}`)}] } }) { viewer { user { id } } } }`;
  const { status, errors, extensions } = await send(query);
  expect(new Set(errors?.map((error) => error.extensions.code))).toEqual(new Set(['VALIDATION_FAILED']));
  expect([status, errors?.length, extensions.errorsLeftOut]).toEqual([400, 50, 1]);
  expect(app.logged.filter((line) => line.includes('errors processing variables'))).toEqual([]);
});

describe('selections that GraphQL merges', () => {
  it('run once and cost once, however often they are written', async () => {
    const answer = await send(`{ ${times(50, () => 'viewer { user { id } }')} }`);
    expect(answer.data).toEqual({ viewer: { user: { id: hanna.userId } } });
    expect(answer.extensions.cost.requested).toBe(2);
  });
});

describe('the cost of an operation', () => {
  const RICH_PAGE = `query Page($bids: Int = 5) {
    viewer { user { ...Person } homeowner { id city } contractor { id companyName } tokens { balance held available }
      tokenTransactions(first: 10) { totalCount nodes { id amount } } }
    jobs(first: 20) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node {
      id title status version homeowner { id user { ...Person } } awardedBid { id contractor { id companyName } }
        myBid { id status }
      bids(first: $bids) { totalCount nodes { id amount contractor { id companyName user { ...Person } } hold { id
        amount } } }
      timeline(first: 10) { nodes { id type occurredAt } }
      availableActions { action allowed reason missingFields tokenCost }
      dispute { reason proposal { resolution } decision { ruling } }
    } } }
    catalog { categories urgencies { urgency publishCost } }
    lifecycle { states actions { action from to } }
  } fragment Person on User { id firstName lastName profilePictureUrl }`;

  it.each<[costs: number, what: string, query: string, variables?: object]>([
    [0, 'nothing but a name', '{ __typename }'],
    [4, 'an object each', '{ viewer { user { id createdAt } tokens { balance } homeowner { id } } }'],
    [5, 'a text, rounded up', '{ viewer { user { id email } tokens { balance } homeowner { id } } }'],
    [31, 'ten thousand characters', '{ job(id: "job_x") { description } }'],
    [
      31,
      'ten thousand characters, written twice',
      '{ job(id: "job_x") { description ...D } } fragment D on Job { description }',
    ],
    [62, 'ten thousand characters under two names', '{ job(id: "job_x") { description again: description } }'],
    [2, 'a short value under another name', '{ job(id: "job_x") { id again: id } }'],
    [2, 'the name of a type under another name', '{ viewer { __typename again: __typename } }'],
    [9, 'edges under another name', '{ jobs(first: 7) { nodes { id } again: edges { cursor } } }'],
    [6_540, 'a full page of jobs with all their texts', `{ jobs(first: 100) { nodes { ${PLAIN_FIELDS_OF_JOB} } } }`],
    [
      31,
      'a text that one variable of two includes',
      'query ($a: Boolean!, $b: Boolean!) { job(id: "job_x") { description @include(if: $a) ... @include(if: $b) ' +
        '{ description } } }',
      { a: false, b: true },
    ],
    [
      1,
      'a text that no variable includes',
      'query ($a: Boolean!, $b: Boolean!) { job(id: "job_x") { description @include(if: $a) ... @include(if: $b) ' +
        '{ description } } }',
      { a: false, b: false },
    ],
    [
      14,
      'nodes that are selected twice, in edges and by themselves',
      '{ jobs(first: 7) { edges { node { id } } nodes { id } } }',
    ],
    [20, 'a page of the usual length', '{ jobs { nodes { id } } }'],
    [7, 'a page of a given length', '{ jobs(first: 7) { nodes { id status } } }'],
    [12, 'a page with a line of text in each node', '{ jobs(first: 7) { nodes { id title } } }'],
    [7, 'a page by its edges', '{ jobs(first: 7) { edges { cursor node { id } } pageInfo { endCursor } totalCount } }'],
    [7, 'a page of which only the length is asked', '{ jobs(first: 7) { totalCount } }'],
    [14, 'a page with an object in each node', '{ jobs(first: 7) { nodes { homeowner { id } } } }'],
    [
      2_100,
      'a hundred jobs with twenty bids each',
      '{ jobs(first: 100) { nodes { id bids(first: 20) { nodes { id amount } } } } }',
    ],
    [
      2_100,
      'a hundred jobs with twenty bids each, by their edges',
      '{ jobs(first: 100) { pageInfo { endCursor } edges { cursor node { id bids { pageInfo { endCursor } edges { ' +
        'cursor node { id amount } } } } } } }',
    ],
    [1 + JOB_ACTION_LIST.length, 'a list without pages', '{ job(id: "job_x") { availableActions { action } } }'],
    [1, 'lists of plain values', '{ catalog { categories propertyTypes } }'],
    [3, 'a length by variable', 'query ($n: Int) { jobs(first: $n) { nodes { id } } }', { n: 3 }],
    [20, 'a length by variable that is not given', 'query ($n: Int) { jobs(first: $n) { nodes { id } } }'],
    [20, 'a length by variable that is null', 'query ($n: Int = 9) { jobs(first: $n) { nodes { id } } }', { n: null }],
    [9, 'a length by the variable’s default', 'query ($n: Int = 9) { jobs(first: $n) { nodes { id } } }'],
    [100, 'a length beyond the largest', '{ jobs(first: 1000000) { nodes { id } } }'],
    [1, 'a length below the smallest', '{ jobs(first: -1000) { nodes { id } } }'],
    [
      6,
      'a fragment at each use',
      '{ a: viewer { ...V } b: viewer { ...V } } fragment V on Viewer { user { id } tokens { balance } }',
    ],
    [
      2,
      'fragments within fragments',
      '{ ...A } fragment A on Query { ... on Query { ...B } } fragment B on Query { viewer { ... { user { id } } } }',
    ],
    [
      3,
      'whatever kind of thing it may turn out to be',
      '{ node(id: "job_x") { id ... on Job { homeowner { id } } ... on Bid { job { id } } } }',
    ],
    [
      0,
      'what is skipped',
      '{ jobs @skip(if: true) { nodes { id } } ... @include(if: false) { viewer { user { id } } } }',
    ],
    [
      2,
      'what a variable includes',
      'query ($more: Boolean!) { viewer { user @include(if: $more) { id } tokens @skip(if: $more) { balance } } }',
      { more: true },
    ],
    [
      1,
      'what a variable leaves out',
      'query ($more: Boolean!) { viewer { user @include(if: $more) { id } ... @include(if: $more) { tokens { ' +
        'balance } } } }',
      { more: false },
    ],
    [
      40,
      'two lists, one by variable',
      'query ($n: Int!) { jobs(first: $n) { nodes { id } } ...U } fragment U on Query { users(first: $n) { nodes ' +
        '{ id } } }',
      { n: 20 },
    ],
    [0, 'the schema itself', '{ __schema { types { name fields { name } } } __type(name: "Job") { name } }'],
  ])('is %i for %s', async (costs, _what, query, variables) => {
    expect(await costOf(query, variables)).toBe(costs);
    // The second time, the document has been cached.
    expect(await costOf(query, variables)).toBe(costs);
  });

  it('is reported with the rest of the limit, in responses that succeed, fail, or cost too much', async () => {
    const max = GRAPHQL_LIMITS.cost;
    const answers = [
      await send('{ viewer { user { id } } }'),
      await send('{ jobs(first: 1000) { nodes { id } } }'),
      await send('{ jobs(first: 100) { nodes { bids(first: 100) { nodes { id } } } } }'),
    ];
    expect(answers.map(({ status, extensions }) => [status, extensions.cost])).toEqual([
      [200, { requested: 2, max, remaining: max - 2 }],
      [200, { requested: 100, max, remaining: max - 100 }],
      [400, { requested: 10_100, max, remaining: 0 }],
    ]);
    expect(answers[1]?.errors?.[0]?.extensions).toMatchObject({
      code: 'VALIDATION_FAILED',
      fields: { first: expect.any(String) },
    });
  });

  it('of one document follows the variables of each request', async () => {
    const query = 'query ($n: Int!) { jobs(first: 100) { nodes { bids(first: $n) { nodes { id } } } } }';
    expect([await costOf(query, { n: 1 }), await costOf(query, { n: 99 }), await costOf(query, { n: 20 })]).toEqual([
      200, 10_000, 2_100,
    ]);
    expect(await refusal(query, { variables: { n: 100 } })).toMatchObject({ limit: 'cost', found: 10_100 });
  });

  it("leaves a quarter of the limit for additions to the guide's five screens with 50 entries each", async () => {
    const screens = [...(GUIDE.get('clients.md') ?? '').matchAll(/^```graphql\n(# [\d,]+ points[^]*?)^```$/gm)].map(
      ([, document = '']) => document,
    );
    expect(screens.map((document) => /query (\w+)/.exec(document)?.[1])).toEqual([
      'Dashboard',
      'Board',
      'JobPage',
      'ContractorPage',
      'DisputePage',
    ]);
    for (const document of screens) {
      const { status, extensions } = await send(document, { variables: { id: 'job_x' } });
      expect([status, extensions.cost.requested <= 0.75 * GRAPHQL_LIMITS.cost]).toEqual([200, true]);
      expect(/^# ([\d,]+) points/.exec(document)?.[1]).toBe(extensions.cost.requested.toLocaleString('en'));
    }
  });

  it("leaves room for a rich page and for the playground's starter tabs", async () => {
    const rich = await send(RICH_PAGE);
    expect([rich.errors, rich.status]).toEqual([undefined, 200]);
    expect(rich.extensions.cost.requested).toBeLessThan(GRAPHQL_LIMITS.cost);
    // A subscription isn't a request. The browser test runs that tab.
    const tabs = readSteps().map(({ tab }) => tab);
    for (const { query, variables } of tabs.filter((tab) => !tab.query.startsWith('subscription'))) {
      const answer = await send(query, { variables: JSON.parse(variables ?? '{}') });
      expect([answer.status, limitsIn(answer)], query).toEqual([200, []]);
    }
  });
});

describe('introspection', () => {
  const STANDARD = getIntrospectionQuery({
    descriptions: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    oneOf: true,
  });

  it('as GraphiQL and code generators send it stays within every limit', async () => {
    const answer = await send(STANDARD);
    expect([answer.status, answer.errors]).toEqual([200, undefined]);
    expect(buildClientSchema(answer.data).getQueryType()?.name).toBe('Query');
  });

  it("fails with a clear message if it is off, and so do schema details; a type's name is allowed", async () => {
    const closed = await openTestApp({ GRAPHQL_INTROSPECTION: 'off' });
    try {
      for (const query of [
        STANDARD,
        '{ __type(name: "Job") { name } }',
        '{ ...A } fragment A on Query { __schema { queryType { name } } }',
      ]) {
        const answer = await send(query, {}, closed);
        expect([answer.status, byGraphql(answer).code, answer.data]).toEqual([400, 'VALIDATION_FAILED', undefined]);
        expect(answer.errors?.[0]?.message).toMatch(/^Introspection is turned off/);
      }
      expect((await send('{ __typename }', {}, closed)).data).toEqual({ __typename: 'Query' });
      expect((await send('{ viewr { user { id } } }', {}, closed)).errors?.[0]?.message).not.toContain('viewer');
    } finally {
      await closed.close();
    }
  });
});

describe('a misspelled name', () => {
  const MISSPELT: readonly (readonly [query: string, besides?: Besides])[] = [
    ['{ viewr { user { id } } }'],
    ['{ viewer { user { emial } } }'],
    ['{ jobs(frist: 3) { nodes { id } } }'],
    ['{ node(id: "job_x") { ... on Jobb { id } } }'],
    ['{ jobs(filter: { status: OPENN }) { nodes { id } } }'],
    [
      'query ($filter: JobFilter) { jobs(filter: $filter) { nodes { id } } }',
      { variables: { filter: { status: 'OPENN' } } },
    ],
    [
      'query ($filter: JobFilter) { jobs(filter: $filter) { nodes { id } } }',
      { variables: { filter: { statu: 'OPEN' } } },
    ],
    ['query ($filter: JobFiltr) { jobs(filter: $filter) { nodes { id } } }'],
  ];

  it('gets suggestions during development', async () => {
    for (const [query, besides] of MISSPELT)
      expect((await send(query, besides)).errors?.[0]?.message, query).toContain('Did you mean');
  });

  it("gets no suggestions in production, where the schema isn't public", async () => {
    const production = await openTestApp({ NODE_ENV: 'production', BCRYPT_COST: '10', GRAPHQL_INTROSPECTION: 'on' });
    try {
      for (const [query, besides] of MISSPELT) {
        const answer = await send(query, besides, production);
        expect(answer.status, query).toBe(400);
        expect(JSON.stringify(answer.errors), query).not.toMatch(/Did you mean/);
        byGraphql(answer);
      }
    } finally {
      await production.close();
    }
  });
});

describe('over HTTP', () => {
  it('batches are refused, whatever they contain', async () => {
    for (const body of [
      [],
      [{ query: '{ __typename }' }],
      Array.from({ length: 500 }, (_, i) => ({ query: `mutation { ${LOG_IN(i)} }` })),
    ]) {
      app.statements();
      const { status, body: answer } = await app.rest('POST', '/graphql', { body });
      expect([status, answer.errors[0].extensions.code, app.statements()]).toEqual([400, 'MALFORMED_REQUEST', []]);
    }
  });

  it("a mutation doesn't run by GET, and a query only if no page can send it without a preflight", async () => {
    const ask = async (query: string, headers: Record<string, string>, more = '') => {
      const answer = await fetch(`${app.url}/graphql?query=${encodeURIComponent(query)}${more}`, {
        headers: { authorization: `Bearer ${hanna.token}`, ...headers },
      });
      return [answer.status, ((await answer.json()) as Json).errors?.[0].extensions.code];
    };
    const asked = { 'apollo-require-preflight': '1' };
    expect(await ask(`mutation { ${LOG_OUT('a')} }`, asked)).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(await ask(`query A { __typename } mutation B { ${LOG_OUT('a')} }`, asked, '&operationName=B')).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
    ]);
    expect(await ask('{ viewer { user { id } } }', asked)).toEqual([200, undefined]);
    expect(await ask('{ viewer { user { id } } }', {})).toEqual([400, 'MALFORMED_REQUEST']);
  });

  it.each(['/graphql', '/graphql?query=%7B__typename%7D'])(
    'a newcomer who opens %s with curl learns what to send',
    async (path) => {
      const answer = await fetch(app.url + path);
      const text = await answer.text();
      const [{ message, extensions }] = (JSON.parse(text) as Json).errors;
      expect([answer.status, extensions.code, message]).toEqual([
        400,
        'MALFORMED_REQUEST',
        'Send a POST with Content-Type: application/json and a body such as {"query": "{ catalog { categories } }"}.',
      ]);
      expect(text.endsWith('}\n'), 'the prompt begins on a line of its own').toBe(true);
      const body = /\{.*\}/.exec(message)?.[0];
      const { status, body: catalog } = await app.rest('POST', '/graphql', { body });
      expect([status, catalog.data.catalog.categories]).toEqual([200, expect.arrayContaining(['plumbing'])]);
    },
  );

  it('a form posted by another page is refused', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain']) {
      const { status } = await app.rest('POST', '/graphql', {
        body: JSON.stringify({ query: `mutation { ${LOG_OUT('a')} }` }),
        token: hanna.token,
        headers: { 'content-type': type },
      });
      expect([400, 415]).toContain(status);
    }
    expect((await send('{ viewer { user { id } } }')).status).toBe(200);
  });

  it("an operation that can't be told apart from the others doesn't run", async () => {
    const two = `query A { __typename } mutation B { ${LOG_OUT('a')} }`;
    for (const besides of [{}, { operationName: 'C' }, { operationName: '__proto__' }, { operationName: '' }]) {
      expect(await refusal(two, besides)).toMatchObject({ code: 'MALFORMED_REQUEST' });
    }
    expect((await send('{ viewer { user { id } } }')).status).toBe(200);
  });
});

describe('with PERSISTED_DOCUMENTS=only', () => {
  const WHO = 'query Who { viewer { user { id } } }';
  const JOBS = 'query Jobs($n: Int) { jobs(first: $n) { nodes { id bids(first: $n) { nodes { id } } } } }';
  const hash = (document: string) => createHash('sha256').update(document).digest('hex');
  const persisted = (document: string) => ({
    extensions: { persistedQuery: { version: 1, sha256Hash: hash(document) } },
  });
  let folder: string;
  let listed: TestApp;

  const listOf = (name: string, content: unknown): string => {
    const file = join(folder, name);
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };
  const post = async (body: unknown): Promise<GraphqlAnswer> => {
    const answer = await listed.rest('POST', '/graphql', { token: hanna.token, body });
    return { status: answer.status, headers: answer.headers, ...answer.body };
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'persisted-'));
    const file = listOf('list.json', {
      [hash(WHO)]: WHO,
      [hash(JOBS).toUpperCase()]: JOBS,
      [hash(MY_EVENTS)]: MY_EVENTS,
    });
    listed = await openTestApp(
      { PERSISTED_DOCUMENTS: 'only', PERSISTED_DOCUMENTS_FILE: file },
      { sameDatabaseAs: app },
    );
  });
  afterAll(async () => {
    await listed.close();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['documentId', { documentId: hash(WHO) }],
    ['documentId as the GraphQL-over-HTTP draft writes it', { documentId: `sha256:${hash(WHO)}` }],
    ['Apollo’s extension', persisted(WHO)],
    ['documentId beside an empty query', { query: '', documentId: hash(WHO) }],
    ['its text', { query: WHO }],
    ['its text with its own hash', { query: WHO, ...persisted(WHO) }],
  ])('a listed document runs by %s', async (_, body) => {
    const { status, data, extensions } = await post(body);
    expect([status, data, extensions.cost.requested]).toEqual([200, { viewer: { user: { id: hanna.userId } } }, 2]);
  });

  const BY_EVERY_NAME: readonly (readonly [string, object])[] = [
    ['documentId', { query: '', documentId: `sha256:${hash(MY_EVENTS)}` }],
    ['Apollo’s extension', { query: '', ...persisted(MY_EVENTS) }],
    ['its text, as graphql-ws sends it', { query: MY_EVENTS }],
    ['its text with its own hash', { query: MY_EVENTS, ...persisted(MY_EVENTS) }],
  ];

  it.each(BY_EVERY_NAME)('a listed subscription opens over a WebSocket by %s', async (_, payload) => {
    const { client } = connectAs(listed.url, hanna);
    const heard = hear((sink) => client.subscribe(payload as { query: string }, sink));
    await untilOpen(listed.services, 1);
    await listed.rest('POST', '/v1/jobs', { token: hanna.token, body: { title: 'A roof', description: 'It leaks.' } });
    await heard.count(1);
    expect(heard.events[0]).toHaveProperty('position');
    heard.stop();
    await untilOpen(listed.services, 0);
    await client.dispose();
  });

  it.each(BY_EVERY_NAME)('a listed subscription opens as server-sent events by %s', async (_, payload) => {
    const client = createSseClient({
      url: `${listed.url}/graphql/stream`,
      headers: { authorization: `Bearer ${hanna.token}` },
      retryAttempts: 0,
    });
    const heard = hear((sink) => client.subscribe(payload as { query: string }, sink));
    await untilOpen(listed.services, 1);
    await listed.rest('POST', '/v1/jobs', { token: hanna.token, body: { title: 'A roof', description: 'It leaks.' } });
    await heard.count(1);
    expect(heard.events[0]).toHaveProperty('position');
    heard.stop();
    await untilOpen(listed.services, 0);
    client.dispose();
  });

  it("a subscription that isn't listed is rejected over a WebSocket with a clear message", async () => {
    const { client } = connectAs(listed.url, hanna);
    for (const payload of [{ query: `${MY_EVENTS} ` }, { query: MY_EVENTS, ...persisted(WHO) }, { query: '' }]) {
      const refused = (await hear((sink) => client.subscribe(payload, sink)).ended) as Json;
      expect(refused[0]).toMatchObject({
        message: expect.stringContaining('only listed documents'),
        extensions: { code: 'VALIDATION_FAILED' },
      });
    }
    await client.dispose();
  });

  it('a listed document runs by GET, with its variables, and within the limits', async () => {
    const ask = async (parameters: Record<string, string>) => {
      const answer = await fetch(`${listed.url}/graphql?${new URLSearchParams(parameters)}`, {
        headers: { authorization: `Bearer ${hanna.token}`, 'apollo-require-preflight': '1' },
      });
      return { status: answer.status, body: (await answer.json()) as Json };
    };
    const names: Record<string, string>[] = [
      { documentId: hash(JOBS) },
      { extensions: JSON.stringify(persisted(JOBS).extensions) },
    ];
    for (const name of names) {
      expect((await ask({ ...name, variables: '{"n":3}' })).body).toMatchObject({
        data: { jobs: { nodes: expect.any(Array) } },
        extensions: { cost: { requested: 12 } },
      });
      expect(await ask({ ...name, variables: '{"n":100}' })).toMatchObject({
        status: 400,
        body: { errors: [{ extensions: { limit: 'cost' } }] },
      });
    }
    expect((await ask({ query: WHO })).body).toMatchObject({ data: { viewer: { user: { id: hanna.userId } } } });
    expect((await ask({ query: '{ __typename }' })).status).toBe(400);
    expect((await ask({ extensions: '{' })).status).toBe(400);
  });

  it('one of its operations is chosen by name, and receives its variables', async () => {
    expect(
      (await post({ documentId: hash(JOBS), operationName: 'Jobs', variables: { n: 2 } })).extensions.cost.requested,
    ).toBe(6);
    expect((await post({ documentId: hash(JOBS), operationName: 'Who' })).status).toBe(400);
  });

  it.each([
    ['a query', { query: '{ __typename }' }],
    ['a listed query printed differently', { query: `${WHO}\n` }],
    ['an object as a query', { query: { [WHO]: WHO } }],
    ['a query that is not even one', { query: '{{{' }],
    ['a query together with a listed hash', { query: '{ __typename }', documentId: hash(WHO) }],
    ['a listed query with the hash of another one', { query: WHO, ...persisted(JOBS) }],
    ['a hash that is not listed', { documentId: hash('{ __typename }') }],
    ['a property of every object', { documentId: '__proto__' }],
    ['a hash that is no text', { documentId: [hash(WHO)] }],
    ['an extension of another form', { extensions: { persistedQuery: hash(WHO) } }],
    ['nothing', {}],
  ])('%s is refused before parsing', async (_, body) => {
    app.statements();
    const answer = await post(body);
    expect([answer.status, byGraphql(answer).code, answer.data]).toEqual([400, 'VALIDATION_FAILED', undefined]);
    expect(answer.errors?.[0]?.message).toContain('only listed documents');
  });

  it("a hash that isn't listed is named in the refusal, cut to the length of a hash", async () => {
    const unlisted = hash('{ __typename }');
    for (const body of [{ documentId: `sha256:${unlisted}` }, persisted('{ __typename }')]) {
      expect((await post(body)).errors?.[0]?.message).toContain(`no document with the hash ${unlisted}. Send the hash`);
    }
    const { errors } = await post({ documentId: 'a'.repeat(10_000) });
    expect(errors?.[0]?.message.length).toBeLessThan(400);
    expect((await post({ query: `${WHO} ` })).errors?.[0]?.message).toContain(
      'no document with this `query`. Send the hash',
    );
  });

  it.each([
    ['graphql-codegen', { [`sha256:${hash(WHO)}`]: WHO }],
    [
      'Apollo’s generate-persisted-query-manifest',
      {
        format: 'apollo-persisted-query-manifest',
        version: 1,
        operations: [{ id: hash(WHO), name: 'Who', type: 'query', body: WHO }],
      },
    ],
  ])('a list written by %s is accepted as it is', (name, manifest) => {
    const find = openPersistedDocuments(listOf(`${name}.json`, manifest));
    for (const documentId of [hash(WHO), `sha256:${hash(WHO)}`])
      expect(find({ method: 'POST', search: '', body: { documentId } }).body).toEqual({ query: WHO });
    const { extensions } = persisted(WHO);
    expect(find({ method: 'POST', search: '', body: { extensions } }).body).toEqual({ query: WHO });
  });

  it('a list of SHA-1 hashes stops the server at startup and says which option to set', () => {
    const sha1 = createHash('sha1').update(WHO).digest('hex');
    expect(() => openPersistedDocuments(listOf('sha1.json', { [sha1]: WHO }))).toThrow("hashAlgorithm: 'sha256'");
  });

  it('a list that is missing, malformed, or has a wrong hash stops the server at startup and says why', () => {
    const lists = {
      'broken.json': '{',
      'nested.json': { [hash(WHO)]: [WHO] },
      'wrong.json': { [hash(JOBS)]: WHO },
      'other.json': { format: 'apollo-persisted-query-manifest', version: 2, operations: [] },
    };
    for (const file of [
      join(folder, 'nowhere.json'),
      ...Object.entries(lists).map(([name, content]) => listOf(name, content)),
    ]) {
      expect(() => openPersistedDocuments(file), file).toThrow(/^PERSISTED_DOCUMENTS_FILE: /);
    }
    expect(() => readConfig({ PERSISTED_DOCUMENTS: 'only' })).toThrow('PERSISTED_DOCUMENTS_FILE must be set');
  });
});

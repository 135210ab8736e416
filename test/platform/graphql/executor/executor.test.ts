/**
 * Our executor and graphql-js return the same data, refusals, and locations for any document, from the first call on.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestApp, type GraphqlAnswer, type TestApp } from '../../../setup/app.js';
import { gather, givenJob, type GivenJob, type People } from '../../../story/journey.js';
import { BY_A_PLAN, BY_GRAPHQL_JS, planned } from '../../../setup/plans.js';

vi.mock('../../../../src/platform/graphql/executor/plan.js', async (original) => {
  const { observed } = await import('../../../setup/plans.js');
  return observed(await original());
});

let app: TestApp;
let people: People;
let jobs: Record<'draft' | 'open' | 'disputed' | 'completed', GivenJob>;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  jobs = {
    draft: await givenJob(app, 'draft', people),
    open: await givenJob(app, 'open', people, { offers: { awardee: { guaranteed_view: true } } }),
    disputed: await givenJob(app, 'disputed', people),
    completed: await givenJob(app, 'completed', people),
  };
});
afterAll(() => app.close());

type Variables = Record<string, unknown>;
type Case = readonly [asks: string, document: string, variables?: () => Variables];

const disputed = () => ({ id: jobs.disputed.id });

const PLANNED: readonly Case[] = [
  [
    'who one is',
    '{ viewer { user { id email } homeowner { id city } contractor { id companyName } tokens { balance held ' +
      'available } referralCode } }',
  ],
  [
    'a page with all that hangs on it',
    `{ jobs(first: 3) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node
      { id createdAt budgetMin
    homeowner { id addressLine1 user { id email } } myBid { id amount contractor { id user { email } } } awardedBid {
      id contractor { licenseNumber } } bidCount
    bids(first: 2) { totalCount nodes { id createdAt contractor { id companyName user { firstName phone } } hold {
      amount } job { id title } } }
    timeline(first: 2) { totalCount pageInfo { endCursor } nodes { id type data occurredAt } } dispute { reason
      openedAt proposal { resolution } }
    availableActions { action allowed reason missingFields tokenCost } } } } }`,
  ],
  [
    'one page by variables',
    'query ($first: Int) { jobs(first: $first, filter: { category: "plumbing" }) { nodes { id bids(status: PENDING, ' +
      'first: $first) { nodes { id } } rest: bids { nodes { id status } } } } other: viewer { user { id } } again: ' +
      'jobs(first: $first) { nodes { status } } unused: __typename @skip(if: false) }',
    () => ({ first: 2 }),
  ],
  [
    'two pages of one list',
    'query ($id: ID!) { job(id: $id) { a: timeline(first: 1) { nodes { sequence } pageInfo { endCursor } } b: ' +
      'timeline(first: 3) { nodes { sequence } totalCount } } }',
    disputed,
  ],
  [
    'one job',
    'query ($id: ID!) { job(id: $id) { __typename id addressLine1 latitude version dispute { reason details ' +
      'openedBy { id } } } }',
    disputed,
  ],
  [
    'one job of the wrong kind of name',
    'query ($id: ID!) { job(id: $id) { id } }',
    () => ({ id: people.owner.userId }),
  ],
  [
    'a thing by its identifier',
    'query ($id: ID!) { node(id: $id) { __typename id ... on Job { title homeowner { id } } ...B } } fragment B ' +
      'on Bid { amount contractor { id } job { id } }',
    () => ({ id: jobs.open.bids.awardee }),
  ],
  [
    'things that are not there',
    '{ a: node(id: "job_000000000000000000000000000") { id } b: contractor(id: "x") { id } }',
  ],
  [
    'what is for admins',
    '{ users(first: 2) { nodes { id email } } auditTokens { ok accounts } viewer { user { id } } }',
  ],
  ['a length out of bounds', '{ jobs(first: 101) { nodes { id } } }'],
  ['a length out of bounds deep down', '{ jobs(first: 2) { nodes { id bids(first: 0) { nodes { id } } } } }'],
  ['a broken cursor', 'query ($after: String) { jobs(after: $after) { nodes { id } } }', () => ({ after: 'nonsense' })],
  [
    'fields merged from fragments',
    'query ($id: ID!) { job(id: $id) { ...A ...B } } fragment A on Job { homeowner { id } bids(first: 1) { nodes ' +
      '{ id } } } fragment B on Job { homeowner { city } bids(first: 1) { totalCount } }',
    disputed,
  ],
  [
    'what a required variable leaves out',
    'query ($id: ID!, $more: Boolean!) { job(id: $id) { id ... @include(if: $more) { title } bids @skip(if: ' +
      '$more) { totalCount } } }',
    () => ({ ...disputed(), more: false }),
  ],
  [
    'what a required variable includes',
    'query ($id: ID!, $more: Boolean!) { job(id: $id) { id ... @include(if: $more) { title } bids @skip(if: ' +
      '$more) { totalCount } } }',
    () => ({ ...disputed(), more: true }),
  ],
  ['a default', 'query ($first: Int = 1) { jobs(first: $first) { nodes { id } } }'],
  [
    'a null in place of a default',
    'query ($first: Int = 1) { jobs(first: $first) { nodes { id } } }',
    () => ({ first: null }),
  ],
  [
    'the rules of the market',
    '{ lifecycle { actions { __typename } bidActions { __typename } } catalog { categories } }',
  ],
  [
    'a variable inside an object',
    'query ($status: JobStatus) { jobs(filter: { status: $status }) { nodes { id } } }',
    () => ({ status: 'OPEN' }),
  ],
  [
    'a variable inside an object that is left out',
    'query ($status: JobStatus) { jobs(filter: { status: $status }) { nodes { id } } }',
  ],
  [
    'a list of variables and values',
    'mutation ($id: ID!, $reason: String!) { cancelJob(id: $id, input: { reason: $reason }) { job { id status } } }',
    () => ({ ...disputed(), reason: 'No.' }),
  ],
  [
    'fragments in fragments, spread twice',
    '{ viewer { ...A user { ...B } } ...C } fragment A on Viewer { user { ...B lastName } } fragment B on User { ' +
      'id firstName } fragment C on Query { viewer { user { email } } }',
  ],
  [
    'conditions that are written out',
    '{ viewer { user @include(if: true) { id } tokens @skip(if: true) { balance } ... @include(if: false) { ' +
      'referralCode } } }',
  ],
  [
    'what two branches of one thing ask',
    'query ($id: ID!) { node(id: $id) { ... on Job { bids { nodes { ...Own } } } ... on Bid { job { id } } id ... ' +
      'on Node { __typename } } } fragment Own on Bid { id ... on Node { id } hold { amount } }',
    disputed,
  ],
  ['a change that is refused', 'mutation ($id: ID!) { publishJob(id: $id) { job { id } tokensCharged } }', disputed],
  [
    'a change with a body that is refused',
    'mutation ($id: ID!, $input: CancelJobInput) { cancelJob(id: $id, input: $input) { job { id status } } }',
    () => ({ ...disputed(), input: { reason: 'No.' } }),
  ],
];

const NOT_PLANNED: readonly Case[] = [
  ['a missing variable', 'query ($id: ID!) { job(id: $id) { id title } }'],
  [
    'a variable of the wrong kind',
    'query ($first: Int) { jobs(first: $first) { nodes { id title } } }',
    () => ({ first: 'two' }),
  ],
  [
    'a condition that may be null',
    'query ($more: Boolean = true) { viewer { user { id @include(if: $more) firstName } } }',
  ],
  [
    'a fragment under two conditions',
    'query ($one: Boolean!, $two: Boolean!) { viewer { ...A @include(if: $one) ...A @include(if: $two) } } ' +
      'fragment A on Viewer { referralCode }',
    () => ({ one: false, two: true }),
  ],
  [
    'a field under a condition and without',
    'query ($one: Boolean!) { viewer { referralCode @include(if: $one) user { id } referralCode } }',
    () => ({ one: false }),
  ],
  [
    'two changes, of which the second must wait for the first to succeed',
    'mutation ($id: ID!) { a: awardJob(id: $id, input: { bidId: "bid_x" }) { job { id } } b: checkInJob(id: $id) ' +
      '{ job { id status } } }',
    disputed,
  ],
  [
    'a field by the name of what objects inherit from',
    '{ viewer { __proto__: referralCode user { __proto__: id firstName } } }',
  ],
  ['the schema', '{ __schema { queryType { name } } __type(name: "Job") { name fields { name } } }'],
];

const named = ([asks, document, variables]: Case) => ({ asks, document, variables });

const WHO = ['owner', 'stranger', 'admin', 'nobody'] as const;

describe.each(WHO)('in response to %s', (who) => {
  test.each(PLANNED.map(named))('$asks has the same result with a plan', async ({ document, variables }) => {
    const { expected, answers, runs, made } = await compared(document, variables, who);
    expect(answers).toEqual([expected, expected, expected]);
    expect([runs, made]).toEqual([3, 1]);
  });

  test.each(NOT_PLANNED.map(named))('$asks is left to graphql-js', async ({ document, variables }) => {
    const { expected, answers, runs } = await compared(document, variables, who);
    expect(answers).toEqual([expected, expected, expected]);
    expect(runs).toBe(0);
  });
});

test("an operation name that doesn't exist is rejected each time, and the others keep working", async () => {
  const asked = (operationName: string) =>
    app.rest('POST', '/graphql', {
      token: people.owner.token,
      body: { query: 'query One { viewer { referralCode } } query Two { __typename }', operationName },
    });
  for (let time = 0; time < 4; time += 1) {
    const [lost, one, two] = [await asked('Three'), await asked('One'), await asked('Two')];
    expect([lost.status, lost.body.errors[0].extensions.code]).toEqual([400, 'MALFORMED_REQUEST']);
    expect([one.body.data.viewer.referralCode, two.body.data.__typename]).toEqual([expect.any(String), 'Query']);
  }
});

test('a mutation after a refused one still runs and returns its result', async () => {
  const document =
    'mutation ($id: ID!) { publishJob(id: $id) { tokensCharged } createJob(input: { title: "A", description: "B" ' +
    '}) { job { id } } }';
  const before = await count();
  for (let time = 0; time < 4; time += 1) {
    const { data, errors } = await ask(document, disputed(), 'owner');
    expect(errors).toHaveLength(1);
    expect(data).toEqual({ publishJob: null, createJob: { job: { id: expect.any(String) } } });
  }
  expect(await count()).toBe(before + 4);
});

async function count(): Promise<number> {
  const [row] = await app.sql`select count(*)::int as n from jobs`;
  return row?.n;
}

let sent = 0;

/** Each case has its own document, so none starts with another's plan. */
async function compared(document: string, variables: (() => Variables) | undefined, who: (typeof WHO)[number]) {
  sent += 1;
  const ownText = `${document} # ${sent} ${BY_A_PLAN}`;
  const answers = [];
  for (let time = 0; time < 3; time += 1) answers.push(await ask(ownText, variables?.(), who));
  const expected = await ask(`${document} # ${sent} ${BY_GRAPHQL_JS}`, variables?.(), who);
  return { expected, answers, runs: planned.runs.get(ownText) ?? 0, made: planned.made.get(ownText) ?? 0 };
}

async function ask(query: string, variables: Variables | undefined, who: (typeof WHO)[number]) {
  const token = who === 'nobody' ? undefined : people[who].token;
  const { status, data, errors, extensions } = await app.graphql(query, { token, ...(variables && { variables }) });
  // Fields run in parallel, so they fail in no particular order.
  return {
    status,
    data,
    extensions,
    errors: errors?.map(withoutRequest).toSorted((a, b) => (String(a.path) < String(b.path) ? -1 : 1)),
  };
}

function withoutRequest({
  extensions: { requestId, ...extensions },
  ...error
}: NonNullable<GraphqlAnswer['errors']>[number]) {
  expect(requestId).toEqual(expect.any(String));
  return { ...error, extensions };
}

/**
 * How many SQL statements a call sends, and how often it waits for the database. A page of a hundred jobs waits as
 * often as a page of one. No operation waits more often than it must.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { APIS, callRest, outcomeOf, type Api, type OperationKey } from '../story/calls.js';
import { homeowner, programOf } from '../story/cast.js';
import { givenHappyJob, happyCall, OPERATION_KEYS } from '../story/happy-calls.js';
import { openTestApp, type TestApp } from '../setup/app.js';
import { DRAFT, gather, givenJob, type GivenJob, type People } from '../story/journey.js';
import { copiesOf } from '../story/scenes.js';
import { databaseWire, type DatabaseWire } from './database-wire.js';

/**
 * A page of a hundred jobs with everything attached costs more than a request can, so the limit is off here. Sessions
 * stay in memory, however long the tests take.
 */
vi.mock('../../src/platform/caller-limits.js', async (original) => ({
  ...(await original<typeof import('../../src/platform/caller-limits.js')>()),
  GRAPHQL_LIMITS: new Proxy({}, { get: () => 1_000_000 }),
}));
vi.mock('../../src/platform/service-limits.js', async (original) => {
  const limits = await original<typeof import('../../src/platform/service-limits.js')>();
  const forLong = { entryAgeMsMax: 3_600_000, heartbeatAgeMsMax: 3_600_000 };
  return { ...limits, SESSIONS_IN_MEMORY: { ...limits.SESSIONS_IN_MEMORY, ...forLong } };
});
vi.mock('../../src/market/rules/market-limits.js', async (original) => {
  const limits = await original<typeof import('../../src/market/rules/market-limits.js')>();
  // The calls' own connections also write when a key was last used.
  return { ...limits, API_KEY_USES: { ...limits.API_KEY_USES, writeEveryMs: 3_600_000 } };
});

let app: TestApp;
let wire: DatabaseWire;
let people: People;
beforeAll(async () => {
  // With one connection, the database knows each statement from its second use on. The same goes for a
  // server that has run for a while.
  app = await openTestApp(
    { DATABASE_POOL_SIZE: '1' },
    { through: async (straight) => (wire = await databaseWire(straight)).connection },
  );
  people = await gather(app);
  for (const state of ['open', 'in_progress', 'disputed', 'completed'] as const)
    await copiesOf(app, await givenJob(app, state, people), 25);
  // Every page except the shortest has jobs in every state, and a bid with a stake.
  await app.sql`
    with placed as (select id, timestamptz '2030-01-01' + row_number() over (partition by status
      order by id) * interval '1 minute' as made from jobs),
      moved as (update jobs set created_at = made from placed where placed.id = jobs.id)
    update bids set job_created_at = made from placed where placed.id = bids.job_id`;
  const { id: newest } = await givenJob(app, 'open', people, { offers: { awardee: { guaranteed_view: true } } });
  await app.sql`
    with moved as (update jobs set created_at = now() + interval '10 years' where id = ${newest}
      returning id, created_at)
    update bids set job_created_at = moved.created_at from moved where moved.id = bids.job_id`;
});
afterAll(async () => {
  await app.close();
  wire.close();
});

interface Spent {
  statements: number;
  roundTrips: number;
}

async function spent(call: () => Promise<unknown>): Promise<Spent> {
  app.statements();
  wire.roundTrips();
  await call();
  return { statements: app.statements().length, roundTrips: wire.roundTrips() };
}

const counted = async (call: () => Promise<unknown>): Promise<number> => (await spent(call)).statements;

const PAGE = `query($first: Int!) { jobs(first: $first) { totalCount pageInfo { hasNextPage endCursor } nodes { id
  title addressLine1 bidCount
  homeowner { id addressLine1 user { firstName email } }
  bids { totalCount nodes { id amount contractor { id licenseNumber user { email } } hold { amount } job { id } } }
  myBid { id amount } awardedBid { id contractor { companyName } }
  availableActions { action allowed reason missingFields tokenCost }
  timeline(first: 10) { totalCount nodes { sequence type data } }
  dispute { reason proposal { resolution } } } } }`;

describe('a page of jobs with everything attached', () => {
  // The awardee reads events in two ways: those of their own jobs, and those of jobs that aren't theirs yet. An admin's
  // session is looked up.
  test.each([
    ['owner', 3],
    ['awardee', 3],
    ['admin', 4],
  ] as const)('costs the %s %i statements, whether it has 1, 20, or 100 jobs', async (who, most) => {
    const read = async (first: number) => {
      const answer = await app.graphql(PAGE, { token: people[who].token, variables: { first } });
      expect(answer.errors).toBeUndefined();
      expect(answer.data.jobs.nodes).toHaveLength(first);
    };
    const counts: number[] = [];
    for (const first of [1, 20, 100]) counts.push(await counted(() => read(first)));
    expect(counts).toEqual([most, most, most]);
  });

  test('takes REST one statement, including the count', async () => {
    const read = (perPage: number) =>
      counted(() => app.rest('GET', `/v1/jobs?per_page=${perPage}`, { token: people.owner.token }));
    expect([await read(1), await read(20), await read(100)]).toEqual([1, 1, 1]);
  });

  test('is counted by one indexed column, whatever else the page contains', async () => {
    app.statements();
    await app.rest('GET', '/v1/jobs?status=open', { token: people.owner.token });
    expect(app.statements()[0]).toMatch(
      /\(select count\(\*\)::int from \(select "(?:id|created_at)" from "jobs" where /,
    );
  });
});

describe('a call with an API key', () => {
  test.each(['GET /v1/me', 'GET /v1/jobs', 'GET /v1/bids', 'GET /v1/tokens'])(
    'sends one more statement than a call with a session, to look up the key: %s',
    async (address) => {
      const program = await programOf(app, people.owner);
      const [method = '', path = ''] = address.split(' ');
      const ask = (token: string) => app.rest(method, path, { token });
      for (const token of [program.token, people.owner.token]) await ask(token);
      const bySession = await counted(() => ask(people.owner.token));
      expect(await counted(() => ask(program.token))).toBe(bySession + 1);
    },
  );
});

type Cost = readonly [statements: number, roundTrips: number];

/**
 * A call takes two flushes: first BEGIN, the lock, and the facts, then the changes and COMMIT. A new job has nothing to
 * lock, so it takes one. An admin's session is looked up, which adds a statement and a flush. Each call of an admin is
 * recorded.
 */
const USUAL_COST: Cost = [6, 2];
const COSTS: { readonly [Key in OperationKey]?: Cost } = {
  create: [5, 1],
  publish: [7, 2],
  submitBid: [8, 2],
  view: [7, 2],
  shortlist: [7, 2],
  reject: [7, 2],
  withdraw: [7, 2],
  revise: [7, 2],
  award: [9, 2],
  declineAward: [9, 2],
  reopen: [9, 2],
  update: [5, 2],
  delete: [5, 2],
  approve: [8, 2],
  requestChanges: [5, 2],
  dispute: [5, 2],
  escalate: [5, 2],
  acceptResolution: [7, 2],
  acceptDecision: [7, 2],
  review: [7, 2],
  extendDeadline: [7, 3],
  reachDecision: [7, 3],
  finalizeAppeal: [8, 3],
  complete: [10, 3],
  cancel: [8, 2],
};
/** A part of a statement that only this fact has. */
const SIGNS_OF_FACTS = {
  ownBids: 'from bids own',
  isOwnerSuspended: 'from homeowners h join users',
  isEmailUndoPending: 'u.email_undo',
  ownerUserId: 'select h.user_id from homeowners',
  availableTokens: 't.balance - t.held',
  bidsToAward: '"live_bid_count"',
  standingProposal: "'eventId', e.id",
  reviewWindow: '"jobs"."rating"',
  liveBids: "'isBidderSuspended'",
  bidsToRestore: 'from events rejection',
  bidsLimitingEdits: '"bid_count"',
};

const FACTS_READ: { readonly [Key in OperationKey]?: (keyof typeof SIGNS_OF_FACTS)[] } = {
  publish: ['isEmailUndoPending', 'ownerUserId', 'availableTokens'],
  award: ['isEmailUndoPending', 'liveBids'],
  declineAward: ['ownBids', 'isOwnerSuspended', 'bidsToRestore'],
  reopen: ['bidsToRestore'],
  requestChanges: [],
  checkIn: ['ownBids', 'isOwnerSuspended'],
  approve: [],
  acceptResolution: ['standingProposal'],
  cancel: ['ownerUserId', 'liveBids'],
  complete: ['liveBids'],
  update: [],
  review: ['reviewWindow'],
  submitBid: ['ownBids', 'isOwnerSuspended', 'isEmailUndoPending', 'availableTokens'],
};

const costOf = (key: OperationKey): Cost => COSTS[key] ?? USUAL_COST;

describe('an operation', () => {
  test('takes the statements and round trips in this table, the same through both APIs', async () => {
    for (const key of OPERATION_KEYS) {
      const given = await givenHappyJob(app, key, people);
      const call = async (api: Api, job: GivenJob | undefined) => {
        const { ok, code } = await outcomeOf(app, api, key, happyCall(key, people, job as GivenJob));
        expect([ok, code], key).toEqual([true, null]);
      };
      for (const api of APIS) {
        const copies = await copiesOf(app, given, 2);
        // The first call prepares a statement. Each API can have its own, because it selects other columns.
        await call(api, copies.pop());
        const job = copies.pop();
        const { statements, roundTrips } = await spent(() => call(api, job));
        expect([statements, roundTrips], `${key} by ${api}`).toEqual(costOf(key));
      }
    }
  });

  test('reads only the facts that its policies and effects use', async () => {
    for (const [key, facts] of Object.entries(FACTS_READ) as [OperationKey, string[]][]) {
      const job = await givenHappyJob(app, key, people);
      app.statements();
      expect((await callRest(app, key, happyCall(key, people, job))).status, key).toBeLessThan(300);
      const [read = '', more] = app.statements().filter((text) => text.includes('selectFacts'));
      const found = Object.entries(SIGNS_OF_FACTS).filter(([, sign]) => read.includes(sign));
      expect([found.map(([fact]) => fact), more], key).toEqual([facts, undefined]);
    }
  });

  test('that fails takes at most one more round trip, to find out why', async () => {
    const cancelled = await givenJob(app, 'cancelled', people);
    for (const key of OPERATION_KEYS) {
      if (key === 'create') continue;
      const refused = async () =>
        expect((await callRest(app, key, happyCall(key, people, cancelled))).status, key).toBeGreaterThanOrEqual(400);
      await refused();
      const { roundTrips } = await spent(refused);
      expect(roundTrips, key).toBeLessThanOrEqual(costOf(key)[1] + 1);
    }
  });

  test('that the caller can’t pay for fails before anything is written', async () => {
    const poor = await homeowner(app, 'Pia');
    const { body: job } = await callRest(app, 'create', { by: poor, body: DRAFT });
    expect((await callRest(app, 'publish', { by: poor, job: job.id })).status).toBe(200);
    app.statements();
    const raised = await callRest(app, 'update', { by: poor, job: job.id, body: { urgency: 'priority' } });
    expect(raised.body.details).toMatchObject({ code: 'INSUFFICIENT_TOKENS', required: 10, available: 5 });
    expect(app.statements().filter((text) => /\b(?:update|insert into) "/.test(text))).toEqual([]);
  });
});

/** Each read, through each API, and its number of statements. */
type Read = readonly [
  what: string,
  by: keyof People,
  statements: number,
  ask: (job: GivenJob) => Promise<{ status: number; errors?: unknown }>,
];

const READS: readonly Read[] = [
  ['GET /jobs/{id}', 'owner', 1, ({ id }) => app.rest('GET', `/v1/jobs/${id}`, { token: people.owner.token })],
  [
    'GET /jobs/{id}/bids',
    'owner',
    2,
    ({ id }) => app.rest('GET', `/v1/jobs/${id}/bids`, { token: people.owner.token }),
  ],
  [
    'GET /jobs/{id}/events',
    'owner',
    2,
    ({ id }) => app.rest('GET', `/v1/jobs/${id}/events`, { token: people.owner.token }),
  ],
  ...(['owner', 'bidder', 'admin'] as const).map((who): Read => [
    'GET /events',
    who,
    who === 'admin' ? 2 : 1,
    () => app.rest('GET', '/v1/events', { token: people[who].token }),
  ]),
  [
    'GET /bids/{id}/actions',
    'bidder',
    1,
    ({ bids }) => app.rest('GET', `/v1/bids/${bids.bidder}/actions`, { token: people.bidder.token }),
  ],
  [
    'bids { availableActions }',
    'owner',
    2,
    ({ id }) =>
      app.graphql(`{ job(id: "${id}") { bids { nodes { amount availableActions { action allowed } } } } }`, {
        token: people.owner.token,
      }),
  ],
  ...(['owner', 'bidder', 'admin'] as const).map((who): Read => [
    'GET /notifications',
    who,
    who === 'admin' ? 3 : 2,
    () => app.rest('GET', '/v1/notifications', { token: people[who].token }),
  ]),
  [
    'GET /me/notification-settings',
    'owner',
    1,
    () => app.rest('GET', '/v1/me/notification-settings', { token: people.owner.token }),
  ],
  [
    'viewer { notifications unreadCount notificationSettings }',
    'owner',
    4,
    () =>
      app.graphql(
        `{ viewer { unreadCount notifications { nodes { title event { ... on JobEvent { data } } } }
          notificationSettings { emailProblem } } }`,
        { token: people.owner.token },
      ),
  ],
  ['GET /bids', 'bidder', 1, () => app.rest('GET', '/v1/bids', { token: people.bidder.token })],
  ['GET /api-keys', 'owner', 2, () => app.rest('GET', '/v1/api-keys', { token: people.owner.token })],
  ['GET /admin-actions', 'admin', 2, () => app.rest('GET', '/v1/admin-actions', { token: people.admin.token })],
  ['GET /sessions', 'owner', 2, () => app.rest('GET', '/v1/sessions', { token: people.owner.token })],
  ['GET /webhooks', 'owner', 1, () => app.rest('GET', '/v1/webhooks', { token: people.owner.token })],
  ['GET /me', 'owner', 1, () => app.rest('GET', '/v1/me', { token: people.owner.token })],
  ['GET /tokens', 'owner', 1, () => app.rest('GET', '/v1/tokens', { token: people.owner.token })],
  [
    'GET /tokens?user_id=',
    'admin',
    2,
    () => app.rest('GET', `/v1/tokens?user_id=${people.owner.userId}`, { token: people.admin.token }),
  ],
  [
    'users { tokens tokenTransactions }',
    'admin',
    4,
    () =>
      app.graphql('{ users { nodes { tokens { balance } tokenTransactions { nodes { amount } } } } }', {
        token: people.admin.token,
      }),
  ],
  [
    'job',
    'owner',
    1,
    ({ id }) =>
      app.graphql(`{ job(id: "${id}") { title homeowner { city } bids { nodes { amount } } } }`, {
        token: people.owner.token,
      }),
  ],
  [
    'jobs',
    'stranger',
    1,
    () =>
      app.graphql('{ jobs { nodes { title myBid { amount } homeowner { city user { firstName } } } } }', {
        token: people.stranger.token,
      }),
  ],
  [
    'viewer',
    'owner',
    1,
    () => app.graphql('{ viewer { user { email } homeowner { city } } }', { token: people.owner.token }),
  ],
];

test.each(READS)('%s by the %s takes %i statements', async (_what, _by, statements, ask) => {
  const job = await givenJob(app, 'open', people);
  await ask(job);
  expect(await counted(async () => expect(await ask(job)).toMatchObject({ status: 200 }))).toBe(statements);
});

// If a read after the commit failed, the caller would get an error for a call that was committed.
test('the last statement of a call that changes something and returns what it changed is its commit', async () => {
  const [{ last } = {}] = await app.sql`select max(position)::text as last from events`;
  const { stranger, owner, admin } = people;
  const calls = [
    ['markNotificationsRead', owner, '/v1/notifications/read', { up_to: String(last) }],
    ['suspendUser', admin, `/v1/users/${stranger.userId}/suspend`, { reason: 'Asks for money.' }],
    ['suspendUser, without a change', admin, `/v1/users/${stranger.userId}/suspend`, { reason: 'Again.' }],
    ['restoreUser', admin, `/v1/users/${stranger.userId}/restore`, {}],
    ['restoreUser, without a change', admin, `/v1/users/${stranger.userId}/restore`, {}],
  ] as const;
  for (const [name, { token }, path, body] of calls) {
    app.statements();
    const { status } = await app.rest('POST', path, { token, body });
    expect([name, status, app.statements().at(-1)]).toEqual([name, 200, 'commit']);
  }
});

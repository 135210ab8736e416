/**
 * Every rule on jobs and bids, through both APIs. A failing call has the same code and fields, and changes nothing. A
 * successful call has the same effect. schema/permissions.txt lists who can do what in which state.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../src/market/rules/errors.js';
import type { JobState } from '../../src/market/rules/states.js';
import { newId } from '../../src/market/store/new-id.js';
import {
  callGraphql,
  callRest,
  APIS,
  graphqlOutcome,
  outcomeOf,
  restOutcome,
  type Api,
  type OperationKey,
  type Outcome,
} from '../story/calls.js';
import { contractor, homeowner, type Person } from '../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { HAPPY_CALLS, happyCall } from '../story/happy-calls.js';
import { DRAFT, gather, givenJob, type GivenJob, type People } from '../story/journey.js';
import { copiesOf } from '../story/scenes.js';
import { JOB_ACTION_KEYS, JOB_TRANSITION_KEYS, snakeCase, TEXTS } from '../story/specified.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

type Who = keyof People;
type Given =
  | JobState
  | 'a draft with gaps'
  | 'open without bids'
  | 'open, the bidder withdrew'
  | 'open, the bidder was rejected'
  | 'open, the bid was viewed'
  | 'open, the bid was shortlisted';

const givens = new Map<Given, Promise<GivenJob>>();

/** Rules that leave the job unchanged share one job. */
function given(what: Given): Promise<GivenJob> {
  const job = givens.get(what) ?? arrange(what);
  givens.set(what, job);
  return job;
}

const FIELDS = { budget_min: 1_000, budget_max: 2_000.5, desired_start_date: '2030-06-01', urgency: 'priority' };

async function arrange(what: Given): Promise<GivenJob> {
  const open = () => givenJob(app, 'open', people, { fields: FIELDS });
  const bidBy = async (key: 'withdraw' | 'reject' | 'view' | 'shortlist', who: Who) => {
    const job = await open();
    await callRest(app, key, { by: people[who], job: job.id, bid: job.bids.bidder! });
    return job;
  };
  switch (what) {
    case 'a draft with gaps': {
      const { body } = await callRest(app, 'create', {
        by: people.owner,
        body: { title: 'A', description: 'B', city: 'Austin' },
      });
      return { id: body.id, state: 'draft', bids: { awardee: null, bidder: null } };
    }
    case 'open without bids': {
      const draft = await givenJob(app, 'draft', people, { fields: FIELDS });
      await callRest(app, 'publish', { by: people.owner, job: draft.id });
      return { ...draft, state: 'open' };
    }
    case 'open, the bidder withdrew':
      return bidBy('withdraw', 'bidder');
    case 'open, the bidder was rejected':
      return bidBy('reject', 'owner');
    case 'open, the bid was viewed':
      return bidBy('view', 'owner');
    case 'open, the bid was shortlisted':
      return bidBy('shortlist', 'owner');
    default:
      return givenJob(app, what, people, { fields: FIELDS });
  }
}

/** Every row that a call could have changed. */
async function everything(job: GivenJob): Promise<Json> {
  const [row] = await app.sql`select
    (select to_jsonb(j) from jobs j where j.id = ${job.id}) as job,
    (select jsonb_agg(to_jsonb(b) order by b.id) from bids b where b.job_id = ${job.id}) as bids,
    (select count(*) from events) as events, (select count(*) from jobs) as jobs, (select count(*) from holds) as holds,
    (select count(*) from token_transfers) as transfers, (select jsonb_agg(to_jsonb(t) order by t.user_id)
      from token_balances t) as balances`;
  return row;
}

interface Rule {
  key: OperationKey;
  given: Given;
  by: Who | Person;
  body?: object | ((job: GivenJob) => object);
  version?: number;
  code: ErrorCode;
  fields?: string[];
  blocked?: string[];
}

async function expectRefusal({
  key,
  given: what,
  by,
  body,
  version,
  code,
  fields = [],
  blocked = [],
}: Rule): Promise<void> {
  const job = await given(what);
  const before = await everything(job);
  for (const api of APIS) {
    const outcome = await outcomeOf(app, api, key, {
      by: typeof by === 'string' ? people[by] : by,
      job: job.id,
      bid: job.bids.bidder ?? newId('bid'),
      body: typeof body === 'function' ? body(job) : body,
      ...(version !== undefined && { version }),
    });
    const { status: _, ...seen } = outcome;
    expect(seen, api).toEqual({
      ok: false,
      code,
      fields: [...fields].sort(),
      blocked: [...blocked].sort(),
    } satisfies Omit<Outcome, 'status'>);
  }
  expect(await everything(job)).toEqual(before);
}

const x = (count: number) => 'x'.repeat(count);

describe('Olive can’t create a draft through either API', () => {
  const refused = (name: string, body: object, fields: string[]) =>
    test(name, () =>
      expectRefusal({
        key: 'create',
        given: 'draft',
        by: 'owner',
        body: { title: 'A', description: 'B', ...body },
        code: 'VALIDATION_FAILED',
        fields,
      }),
    );

  refused('with a blank title and a blank description', { title: ' \n ', description: '' }, ['title', 'description']);
  refused('without a title', { title: undefined }, ['title']);
  refused('with a title that is a number', { title: 7 }, ['title']);
  refused('with a title of 201 characters', { title: x(201) }, ['title']);
  refused(
    'with 10,001 characters in the description and requirements',
    { description: x(10_001), requirements: x(10_001) },
    ['description', 'requirements'],
  );
  refused('with a category of 65 characters', { category: x(65) }, ['category']);
  refused(
    'with 201 characters in each line of the address, and every line is listed',
    Object.fromEntries(
      ['address_line1', 'address_line2', 'city', 'state', 'zip_code', 'country'].map((name) => [name, x(201)]),
    ),
    ['address_line1', 'address_line2', 'city', 'state', 'zip_code', 'country'],
  );
  refused('with a budget that has three decimals', { budget_min: 10.005 }, ['budget_min']);
  refused('with a budget below zero', { budget_max: -0.01 }, ['budget_max']);
  refused('with a budget that is too large to store', { budget_max: 10_000_000_000 }, ['budget_max']);
  refused('with a maximum budget below the minimum', { budget_min: 2, budget_max: 1.99 }, ['budget_min', 'budget_max']);
  refused('with a budget in words', { budget_min: 'much' }, ['budget_min']);
  refused('with a day that does not exist', { desired_start_date: '2026-02-30' }, ['desired_start_date']);
  refused('with a timestamp instead of a date', { desired_completion_date: '2026-02-03T00:00:00Z' }, [
    'desired_completion_date',
  ]);
  refused('with February 29 in a year that isn’t a leap year', { desired_start_date: '2027-02-29' }, [
    'desired_start_date',
  ]);
  refused(
    'with an end date before the start date',
    { desired_start_date: '2026-03-02', desired_completion_date: '2026-03-01' },
    ['desired_start_date', 'desired_completion_date'],
  );
  refused('with an unknown urgency', { urgency: 'someday' }, ['urgency']);
  refused('with an unknown field', { colour: 'red' }, ['colour']);
  refused('with fields that only the server sets', { latitude: 1, status: 'open', homeowner_id: 'x' }, [
    'latitude',
    'status',
    'homeowner_id',
  ]);
  refused('with a NUL character in the title', { title: 'a\0b' }, ['title']);

  test('with the old field names through GraphQL, but can through REST', async () => {
    const body = { title: 'A', description: 'B', trade: 'plumbing', priority: 'urgent' };
    expect(graphqlOutcome(await callGraphql(app, 'create', { by: people.owner, body }))).toMatchObject({
      code: 'VALIDATION_FAILED',
    });
    const created = await callRest(app, 'create', { by: people.owner, body });
    expect(created.body).toMatchObject({ category: 'plumbing', urgency: 'urgent' });
    expect(created.body).not.toHaveProperty('trade');
    const edited = await callRest(app, 'update', {
      by: people.owner,
      job: created.body.id,
      body: { trade: 'roofing', category: 'roofing', priority: 'standard' },
    });
    expect(edited.body).toMatchObject({ category: 'roofing', urgency: 'standard' });
    for (const [key, sent] of [
      ['create', { ...body, category: 'roofing' }],
      ['update', { trade: 'a', category: 'b' }],
    ] as const) {
      const refusal = restOutcome(await callRest(app, key, { by: people.owner, job: created.body.id, body: sent }));
      expect(refusal, key).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    }
  });
});

describe('both APIs accept values at their limits', () => {
  test('strings of the maximum length, counted in characters after trimming, and amounts in cents', async () => {
    const title = `${'🏠'.repeat(199)}é`;
    const body = {
      title: `  ${title}\n`,
      description: x(10_000),
      category: x(64),
      budget_min: 0,
      budget_max: 9_999_999_999.99,
      desired_start_date: '2028-02-29',
      requirements: '  ',
    };
    const selection = 'title description category budgetMin budgetMax desiredStartDate requirements status version';
    const byRest = (await callRest(app, 'create', { by: people.owner, body })).body;
    const byGraphql = (await callGraphql(app, 'create', { by: people.owner, body, selection })).data.createJob.job;
    expect(byRest).toMatchObject({
      title,
      description: x(10_000),
      category: x(64),
      budget_min: 0,
      budget_max: 9_999_999_999.99,
      desired_start_date: '2028-02-29',
      requirements: null,
      status: 'draft',
      version: 1,
    });
    expect(byGraphql).toEqual({
      title,
      description: x(10_000),
      category: x(64),
      budgetMin: 0,
      budgetMax: 9_999_999_999.99,
      desiredStartDate: '2028-02-29',
      requirements: null,
      status: 'DRAFT',
      version: 1,
    });
  });
});

describe('Olive publishes through both APIs', () => {
  test('but fails while fields are missing, and the error lists each one', () =>
    expectRefusal({
      key: 'publish',
      given: 'a draft with gaps',
      by: 'owner',
      code: 'MISSING_FIELDS',
      fields: ['category', 'urgency', 'address_line1', 'state'],
    }));

  test('and fails if the urgency costs more tokens than she has, and the error has both numbers', async () => {
    const poor = await homeowner(app, 'Paula');
    const { body } = await callRest(app, 'create', { by: poor, body: { ...DRAFT, urgency: 'priority' } });
    const byRest = await callRest(app, 'publish', { by: poor, job: body.id });
    expect(restOutcome(byRest)).toMatchObject({ status: 400, code: 'INSUFFICIENT_TOKENS' });
    expect(byRest.body.details).toMatchObject({ required: 15, available: 10 });
    const byGraphql = await callGraphql(app, 'publish', { by: poor, job: body.id });
    expect(byGraphql.errors?.[0]?.extensions).toMatchObject({
      code: 'INSUFFICIENT_TOKENS',
      required: 15,
      available: 10,
    });
    expect((await app.rest('GET', `/v1/jobs/${body.id}`, { token: poor.token })).body).toMatchObject({
      status: 'draft',
      version: 1,
    });
    expect((await app.rest('GET', '/v1/tokens', { token: poor.token })).body).toEqual({
      balance: 10,
      held: 0,
      available: 10,
      bought: 0,
      debt: 0,
    });
  });

  test('and fails the second time, and the error lists what she can do now', async () => {
    const { id } = await given('open');
    const byRest = await callRest(app, 'publish', { by: people.owner, job: id });
    const byGraphql = await callGraphql(app, 'publish', { by: people.owner, job: id });
    const allowed = ['awardJob', 'cancelJob', 'updateJob', 'extendDeadline'];
    expect(byRest.body.details).toMatchObject({
      code: 'INVALID_TRANSITION',
      from_state: 'open',
      allowed_operations: allowed,
    });
    expect(byGraphql.errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_TRANSITION', allowedOperations: allowed });
    expect(String(byGraphql.errors?.[0]?.extensions.fromState).toLowerCase()).toBe('open');
  });

  test.each([
    ['standard', 5],
    ['priority', 15],
    ['urgent', 30],
  ] as const)('and pays the price of %s urgency: %i tokens', async (urgency, cost) => {
    for (const api of APIS) {
      const job = await givenJob(app, 'draft', people, { fields: { urgency } });
      const { available } = (await app.rest('GET', '/v1/tokens', { token: people.owner.token })).body;
      const paid =
        api === 'rest'
          ? (await callRest(app, 'publish', { by: people.owner, job: job.id })).body
          : (await callGraphql(app, 'publish', { by: people.owner, job: job.id })).data.publishJob;
      expect([paid.tokens_charged ?? paid.tokensCharged, paid.remaining_balance ?? paid.remainingBalance], api).toEqual(
        [cost, available - cost],
      );
    }
  });
});

describe('Olive can’t edit through either API', () => {
  const refused = (name: string, given: Given, body: object, rest: Pick<Rule, 'code'> & Partial<Rule>) =>
    test(name, () => expectRefusal({ key: 'update', given, by: 'owner', body, ...rest }));
  const tooLow: ErrorCode = 'BUDGET_DECREASE_TOO_LARGE';

  refused(
    'an open job to one cent below 90 percent of its budget',
    'open',
    { budget_min: 899.99 },
    { code: tooLow, fields: ['budget_min'] },
  );
  refused(
    'both budgets to values that are too low, and both are listed',
    'open',
    { budget_min: 1, budget_max: 1_800.44 },
    { code: tooLow, fields: ['budget_min', 'budget_max'] },
  );
  refused(
    'an open job to have no maximum budget',
    'open',
    { budget_max: null },
    { code: tooLow, fields: ['budget_max'] },
  );
  refused(
    'an open job with bids to a lower urgency',
    'open',
    { urgency: 'standard' },
    { code: 'URGENCY_LOCKED', fields: ['urgency'] },
  );
  refused(
    'an open job’s address, even together with its title',
    'open',
    { city: 'Dallas', category: 'x', address_line1: '2 Elm', title: 'New' },
    { code: 'FIELD_NOT_EDITABLE', blocked: ['city', 'category', 'address_line1'] },
  );
  refused(
    'the title of an awarded job',
    'awarded',
    { title: 'New', budget_min: 1_001, urgency: 'urgent', requirements: 'ok' },
    { code: 'FIELD_NOT_EDITABLE', blocked: ['title', 'budget_min', 'urgency'] },
  );
  refused(
    'the start date once work has begun',
    'in_progress',
    { desired_start_date: '2030-06-02', requirements: 'ok' },
    { code: 'FIELD_NOT_EDITABLE', blocked: ['desired_start_date'] },
  );
  refused(
    'the end date to 31 days later',
    'in_progress',
    { desired_completion_date: '2030-07-16' },
    { code: 'COMPLETION_DATE_SHIFT_TOO_LARGE', fields: ['desired_completion_date'] },
  );
  refused(
    'the end date to 31 days earlier',
    'in_progress',
    { desired_completion_date: '2030-05-15' },
    { code: 'COMPLETION_DATE_SHIFT_TOO_LARGE', fields: ['desired_completion_date'] },
  );
  refused(
    'a job in progress to have no end date',
    'in_progress',
    { desired_completion_date: null },
    { code: 'COMPLETION_DATE_SHIFT_TOO_LARGE', fields: ['desired_completion_date'] },
  );
  refused(
    'any field of a job in review',
    'in_review',
    { requirements: 'ok' },
    { code: 'FIELD_NOT_EDITABLE', blocked: ['requirements'] },
  );
  refused(
    'an open job to have no urgency',
    'open',
    { urgency: null },
    { code: 'VALIDATION_FAILED', fields: ['urgency'] },
  );
  refused('a draft to have no title', 'draft', { title: null }, { code: 'VALIDATION_FAILED', fields: ['title'] });
  refused(
    'the end date to before the start date',
    'open',
    { desired_completion_date: '2030-05-31' },
    { code: 'VALIDATION_FAILED', fields: ['desired_completion_date'] },
  );
  refused(
    'a budget to three decimals, which fails before the state is checked',
    'in_review',
    { budget_min: 1.001 },
    { code: 'VALIDATION_FAILED', fields: ['budget_min'] },
  );
});

/** Edits one copy of the job through each API. Returns the outcome of each edit. */
async function editsBy(what: Given, edits: readonly object[]): Promise<Record<Api, (ErrorCode | 'ok')[]>> {
  const job = await given(what);
  const copies = await copiesOf(app, job, 2);
  const outcomes: Record<Api, (ErrorCode | 'ok')[]> = { rest: [], graphql: [] };
  for (const [at, api] of APIS.entries()) {
    for (const body of edits)
      outcomes[api].push(
        (await outcomeOf(app, api, 'update', { by: people.owner, job: copies[at]!.id, body })).code ?? 'ok',
      );
  }
  return outcomes;
}

describe('repeated edits have the same limits through both APIs', () => {
  const sequence = (name: string, what: Given, ...steps: [edit: object, outcome: ErrorCode | 'ok'][]) =>
    test(name, async () => {
      const expected = steps.map(([, outcome]) => outcome);
      expect(
        await editsBy(
          what,
          steps.map(([edit]) => edit),
        ),
      ).toEqual({ rest: expected, graphql: expected });
    });

  sequence(
    'at most 10 percent below the highest budget',
    'open',
    [{ budget_min: 900 }, 'ok'],
    [{ budget_min: 899.99 }, 'BUDGET_DECREASE_TOO_LARGE'],
    [{ budget_min: 1_500 }, 'ok'],
    [{ budget_min: 1_349.99 }, 'BUDGET_DECREASE_TOO_LARGE'],
    [{ budget_min: 1_350 }, 'ok'],
    [{ budget_max: 1_800.45, budget_min: 1_350 }, 'ok'],
  );
  sequence(
    'at most 30 days from the date at check-in',
    'in_progress',
    [{ desired_completion_date: '2030-07-15' }, 'ok'],
    [{ desired_completion_date: '2030-07-16' }, 'COMPLETION_DATE_SHIFT_TOO_LARGE'],
    [{ desired_completion_date: '2030-06-02' }, 'ok'],
    [{ desired_completion_date: '2030-07-16' }, 'COMPLETION_DATE_SHIFT_TOO_LARGE'],
  );
  sequence(
    'without bids, the urgency can be lowered but not removed',
    'open without bids',
    [{ urgency: null }, 'VALIDATION_FAILED'],
    [{ urgency: 'urgent' }, 'ok'],
    [{ urgency: 'standard' }, 'ok'],
    [{ urgency: 'priority' }, 'ok'],
  );

  test('raising the urgency costs the difference, once', async () => {
    for (const api of APIS) {
      const job = await givenJob(app, 'draft', people);
      const free = async () =>
        (await app.rest('GET', '/v1/tokens', { token: people.owner.token })).body.available as number;
      await callRest(app, 'publish', { by: people.owner, job: job.id });
      const paid: number[] = [];
      for (const urgency of ['priority', 'standard', 'priority', 'urgent', 'standard']) {
        const before = await free();
        expect(
          (await outcomeOf(app, api, 'update', { by: people.owner, job: job.id, body: { urgency } })).code,
        ).toBeNull();
        paid.push(before - (await free()));
      }
      expect(paid, api).toEqual([10, 0, 0, 15, 0]);
    }
  });

  test('if Olive can’t pay for a higher urgency, none of her edit is saved', async () => {
    const poor = await homeowner(app, 'Pia');
    const { body } = await callRest(app, 'create', { by: poor, body: DRAFT });
    await callRest(app, 'publish', { by: poor, job: body.id });
    for (const api of APIS) {
      const outcome = await outcomeOf(app, api, 'update', {
        by: poor,
        job: body.id,
        body: { urgency: 'priority', title: 'New' },
      });
      expect(outcome, api).toMatchObject({ code: 'INSUFFICIENT_TOKENS', status: 400 });
    }
    expect((await app.rest('GET', `/v1/jobs/${body.id}`, { token: poor.token })).body).toMatchObject({
      urgency: 'standard',
      title: DRAFT.title,
      version: 2,
    });
  });
});

describe('a field that only the server sets', () => {
  test.each(['draft', 'open', 'in_progress', 'in_review', 'completed'] as const)(
    'changes nothing if the whole job is sent back unchanged: %s',
    async (state) => {
      const { id } = await given(state);
      const before = await everything(await given(state));
      const read = await app.rest('GET', `/v1/jobs/${id}`, { token: people.owner.token });
      const sent = await callRest(app, 'update', { by: people.owner, job: id, body: read.body });
      expect([sent.status, sent.body]).toEqual([200, read.body]);
      const stale = { ...read.body, version: 1, updated_at: '2020-01-01T00:00:00.000Z' };
      expect((await callRest(app, 'update', { by: people.owner, job: id, body: stale })).status).toBe(200);
      const unchanged = await callGraphql(app, 'update', {
        by: people.owner,
        job: id,
        body: { title: read.body.title, urgency: read.body.urgency, budget_min: read.body.budget_min },
      });
      expect(graphqlOutcome(unchanged)).toMatchObject({ ok: true });
      expect(await everything(await given(state))).toEqual(before);
    },
  );

  test('fails as unknown if no API returns it, even unchanged', async () => {
    const job = await given('awarded');
    const hidden = {
      awarded_contractor_id: people.awardee.profileId,
      bid_count: 2,
      live_bid_count: 0,
      most_tokens_paid: 15,
      highest_budget_min: 1_000,
      event_count: 7,
    };
    const { code, fields } = restOutcome(
      await callRest(app, 'update', { by: people.owner, job: job.id, body: hidden }),
    );
    expect({ code, fields }).toEqual({ code: 'VALIDATION_FAILED', fields: Object.keys(hidden).sort() });
    expect(graphqlOutcome(await callGraphql(app, 'update', { by: people.owner, job: job.id, body: hidden })).code).toBe(
      'VALIDATION_FAILED',
    );
  });

  test('fails by name in every state if REST gets another value, and isn’t in GraphQL’s input', async () => {
    for (const state of ['open', 'completed'] as const) {
      const { id } = await given(state);
      const changed = {
        status: 'draft',
        latitude: 1,
        longitude: 2,
        homeowner_id: people.other.profileId,
        awarded_bid_id: newId('bid'),
        created_at: '2020-01-01T00:00:00.000Z',
      };
      const { code, fields } = restOutcome(await callRest(app, 'update', { by: people.owner, job: id, body: changed }));
      expect({ code, fields }).toEqual({ code: 'VALIDATION_FAILED', fields: Object.keys(changed).sort() });
      expect(
        graphqlOutcome(await callGraphql(app, 'update', { by: people.owner, job: id, body: { latitude: 1 } })).code,
      ).toBe('VALIDATION_FAILED');
    }
    const { id } = await given('open');
    expect(
      restOutcome(await callRest(app, 'update', { by: people.owner, job: id, body: { id: newId('job') } })),
    ).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['id'] });
  });
});

describe('a caller who has read an older version', () => {
  const CARRYING_A_VERSION = JOB_ACTION_KEYS.filter((key) => key !== 'submitBid');
  test.each(CARRYING_A_VERSION)('can’t %s through either API', async (key) => {
    const [state, by] = HAPPY_CALLS[key];
    const body = (job: GivenJob) => happyCall(key, people, job).body ?? {};
    await expectRefusal({ key, given: state, by, body, version: 99, code: 'STALE_VERSION' });
  });

  test('gets that error after authorization and before the state is checked', async () => {
    await expectRefusal({ key: 'publish', given: 'open', by: 'owner', version: 99, code: 'STALE_VERSION' });
    await expectRefusal({ key: 'publish', given: 'open', by: 'other', version: 99, code: 'FORBIDDEN' });
  });

  test('can continue with the current version through both APIs, and gets the new one', async () => {
    const job = await given('open');
    const copies = await copiesOf(app, job, 2);
    const [{ version }] = (await app.sql`select version from jobs where id = ${job.id}`) as unknown as [
      { version: number },
    ];
    const byRest = await callRest(app, 'update', {
      by: people.owner,
      job: copies[0]!.id,
      version,
      body: { title: 'New' },
    });
    expect([byRest.status, byRest.body.version, byRest.headers.get('etag')]).toEqual([
      200,
      version + 1,
      `"${version + 1}"`,
    ]);
    const byGraphql = await callGraphql(app, 'update', {
      by: people.owner,
      job: copies[1]!.id,
      version,
      body: { title: 'New' },
      selection: 'version',
    });
    expect(byGraphql.data.updateJob.job).toEqual({ version: version + 1 });
  });

  test('gets 412 from REST for another version and 400 for an invalid ETag, but * works', async () => {
    const { id } = await given('open');
    const put = (tag: string) =>
      app.rest('PUT', `/v1/jobs/${id}`, { token: people.owner.token, headers: { 'if-match': tag }, body: {} });
    for (const tag of ['"0"', '"999"', 'W/"999"']) expect((await put(tag)).status, tag).toBe(412);
    for (const tag of ['3', '"x"', '""', '"1', 'w/"1"', '"1", "2"', '"9999999999"']) {
      const { status, body } = await put(tag);
      expect([status, body.details.code, body.error], tag).toEqual([
        400,
        'MALFORMED_REQUEST',
        expect.stringContaining('such as "3"'),
      ]);
    }
    expect((await put('*')).status).toBe(200);
  });

  test('can send REST an ETag that a compressing proxy has made weak', async () => {
    const { id } = await given('open');
    const tag = (await app.rest('GET', `/v1/jobs/${id}`, { token: people.owner.token })).headers.get('etag') ?? '';
    const put = () =>
      app.rest('PUT', `/v1/jobs/${id}`, {
        token: people.owner.token,
        headers: { 'if-match': `W/${tag}` },
        body: { title: 'New' },
      });
    expect((await put()).status).toBe(200);
    expect((await put()).status).toBe(412);
  });
});

describe('a call to award or bid fails through both APIs', () => {
  const refused = (name: string, rule: Rule) => test(name, () => expectRefusal(rule));
  const bid = (body: object, more: Partial<Rule>) =>
    ({
      key: 'submitBid',
      given: 'open',
      by: 'stranger',
      body: { amount: 1, ...body },
      code: 'VALIDATION_FAILED',
      ...more,
    }) as Rule;

  refused('if the awarded bid is on another job', {
    key: 'award',
    given: 'open',
    by: 'owner',
    body: { bid_id: newId('bid') },
    code: 'UNKNOWN_BID',
    fields: ['bid_id'],
  });
  refused('if the awarded bid was withdrawn', {
    key: 'award',
    given: 'open, the bidder withdrew',
    by: 'owner',
    body: ({ bids }) => ({ bid_id: bids.bidder }),
    code: 'UNKNOWN_BID',
    fields: ['bid_id'],
  });
  refused('if the awarded bid was rejected', {
    key: 'award',
    given: 'open, the bidder was rejected',
    by: 'owner',
    body: ({ bids }) => ({ bid_id: bids.bidder }),
    code: 'UNKNOWN_BID',
    fields: ['bid_id'],
  });
  refused('if the bid ID of an award has the wrong prefix', {
    key: 'award',
    given: 'open',
    by: 'owner',
    body: ({ id }) => ({ bid_id: id }),
    code: 'VALIDATION_FAILED',
    fields: ['bid_id'],
  });
  refused('if an award has no bid ID', {
    key: 'award',
    given: 'open',
    by: 'owner',
    body: {},
    code: 'VALIDATION_FAILED',
    fields: ['bid_id'],
  });
  refused(
    'if a rejected contractor bids again',
    bid({}, { by: 'bidder', given: 'open, the bidder was rejected', code: 'DUPLICATE_BID' }),
  );
  refused('with an amount of 0', bid({ amount: 0 }, { fields: ['amount'] }));
  refused('with a negative amount', bid({ amount: -1 }, { fields: ['amount'] }));
  refused('with an amount that has three decimals', bid({ amount: 9.999 }, { fields: ['amount'] }));
  refused('without an amount', bid({ amount: undefined }, { fields: ['amount'] }));
  refused(
    'with a message of 10,001 characters and payment terms of 5,001',
    bid({ message: x(10_001), payment_terms: x(5_001) }, { fields: ['message', 'payment_terms'] }),
  );
  refused(
    'with a start date that does not exist',
    bid({ proposed_start_date: '2026-04-31' }, { fields: ['proposed_start_date'] }),
  );
  refused('with a duration of 0 days', bid({ estimated_duration_days: 0 }, { fields: ['estimated_duration_days'] }));
  refused(
    'with a duration of half a day',
    bid({ estimated_duration_days: 0.5 }, { fields: ['estimated_duration_days'] }),
  );
  refused('with a status', bid({ status: 'accepted' }, { fields: ['status'] }));

  test('if the contractor can’t pay for the guaranteed view, and the error has both numbers', async () => {
    const cyd = await contractor(app, 'Cyd');
    await app.rest('POST', '/v1/tokens/adjustments', {
      token: people.admin.token,
      body: { user_id: cyd.userId, amount: -21, reason: 'x' },
    });
    const { id } = await given('open');
    const asked = { by: cyd, job: id, body: { amount: 1, guaranteed_view: true } };
    expect((await callRest(app, 'submitBid', asked)).body.details).toMatchObject({
      code: 'INSUFFICIENT_TOKENS',
      required: 5,
      available: 4,
    });
    expect((await callGraphql(app, 'submitBid', asked)).errors?.[0]?.extensions).toMatchObject({
      code: 'INSUFFICIENT_TOKENS',
      required: 5,
      available: 4,
    });
    const seen = await app.rest('GET', `/v1/jobs/${id}/bids`, { token: cyd.token });
    expect(seen.body.data).toEqual([]);
  });

  test('but not if a contractor bids again after withdrawing', async () => {
    const copies = await copiesOf(app, await given('open, the bidder withdrew'), 2);
    for (const [at, api] of APIS.entries())
      expect(
        await outcomeOf(app, api, 'submitBid', { by: people.bidder, job: copies[at]!.id, body: { amount: 5 } }),
        api,
      ).toMatchObject({ ok: true });
  });
});

describe('no call about a bid takes it back to an earlier state', () => {
  const STEPS = [
    ['view', 'open, the bid was viewed', 'owner'],
    ['view', 'open, the bid was shortlisted', 'owner'],
    ['shortlist', 'open, the bid was shortlisted', 'owner'],
    ['view', 'open, the bidder was rejected', 'owner'],
    ['shortlist', 'open, the bidder was rejected', 'owner'],
    ['reject', 'open, the bidder was rejected', 'owner'],
    ['reject', 'open, the bidder withdrew', 'owner'],
    ['view', 'open, the bidder withdrew', 'owner'],
    ['withdraw', 'open, the bidder withdrew', 'bidder'],
    ['withdraw', 'open, the bidder was rejected', 'bidder'],
  ] as const;
  test.each(STEPS)('both APIs fail to %s: %s', (key, given, by) =>
    expectRefusal({ key, given, by, code: 'INVALID_TRANSITION' }),
  );

  test.each([
    ['open, the bid was viewed', ['shortlistBid', 'rejectBid']],
    ['open, the bid was shortlisted', ['rejectBid']],
    ['open, the bidder withdrew', []],
  ] as const)('the error lists only what the owner can do now: %s', async (what, may) => {
    const { id: job, bids } = await given(what);
    const asked = { by: people.owner, job, bid: bids.bidder! };
    const { body } = await callRest(app, 'view', asked);
    expect(body.details).toMatchObject({ code: 'INVALID_TRANSITION', allowed_operations: may });
    const { errors } = await callGraphql(app, 'view', asked);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_TRANSITION', allowedOperations: may });
  });

  test.each([
    ['view', 'VIEWED'],
    ['shortlist', 'SHORTLISTED'],
    ['reject', 'REJECTED'],
    ['withdraw', 'WITHDRAWN'],
  ] as const)('and both let %s lead from pending to %s', async (key, status) => {
    const copies = await copiesOf(app, await given('open'), 2);
    const by = key === 'withdraw' ? people.bidder : people.owner;
    const byRest = await callRest(app, key, { by, job: copies[0]!.id, bid: copies[0]!.bids.bidder! });
    const byGraphql = await callGraphql(app, key, { by, bid: copies[1]!.bids.bidder! });
    expect(byRest.body.status.toUpperCase()).toBe(status);
    expect(Object.values(byGraphql.data)).toMatchObject([{ bid: { status } }]);
  });

  test('reading a bid through either API doesn’t change its state', async () => {
    const job = await given('open');
    const before = await everything(job);
    await app.rest('GET', `/v1/jobs/${job.id}/bids`, { token: people.owner.token });
    await app.graphql(
      'query($id: ID!, $bid: ID!) { job(id: $id) { bids { nodes { status message } } } node(id: $bid) { ... on ' +
        'Bid { status } } }',
      { token: people.owner.token, variables: { id: job.id, bid: job.bids.bidder } },
    );
    expect(await everything(job)).toEqual(before);
  });
});

describe('a missing or too long string in a step of the work fails through both APIs', () => {
  const WITH_TEXTS = JOB_TRANSITION_KEYS.filter((key) => Object.keys(TEXTS[key]).length > 0);
  test.each(WITH_TEXTS)('in %s', async (key) => {
    const [state, by] = HAPPY_CALLS[key];
    const refusal = { key, given: state, by, code: 'VALIDATION_FAILED' } as const;
    const required = (TEXTS[key].required ?? []).map(snakeCase);
    const fields = [...required, ...(TEXTS[key].optional ?? []).map(snakeCase)];
    const all = (text: string) => Object.fromEntries(fields.map((name) => [name, text]));
    await expectRefusal({ ...refusal, body: all(x(5_001)), fields });
    if (required.length === 0) return;
    await expectRefusal({ ...refusal, body: all(' \t\n '), fields: required });
    await expectRefusal({ ...refusal, body: {}, fields: required });
  });

  test.each([0, 6, -1])('and so does an approval with %i stars', (rating) =>
    expectRefusal({
      key: 'approve',
      given: 'in_review',
      by: 'owner',
      body: { rating },
      code: 'VALIDATION_FAILED',
      fields: ['rating'],
    }),
  );
  test('and so does an approval with half a star', () =>
    expectRefusal({
      key: 'approve',
      given: 'in_review',
      by: 'owner',
      body: { rating: 4.5 },
      code: 'VALIDATION_FAILED',
      fields: ['rating'],
    }));
});

describe('a dispute is settled once both parties agree, whichever APIs they use', () => {
  const say = async (api: Api, by: Who, job: string, resolution: string, agreed_by?: string) => {
    const asked = { by: people[by], job, body: { resolution, agreed_by } };
    if (api === 'rest') return (await callRest(app, 'resolveDispute', asked)).body.status;
    return (await callGraphql(app, 'resolveDispute', asked)).data.resolveDispute.job.status.toLowerCase();
  };
  const proposal = async (job: string) =>
    (await app.rest('GET', `/v1/jobs/${job}/dispute`, { token: people.admin.token })).body.proposal;

  test.each([
    ['rest', 'graphql'],
    ['graphql', 'rest'],
  ] as const)('%s proposes, %s agrees', async (one, two) => {
    const [copy] = await copiesOf(app, await given('disputed'), 1);
    const id = copy!.id;
    expect(await say(one, 'owner', id, 'Half  the price')).toBe('disputed');
    expect(await say(one, 'owner', id, 'Half the price', 'Ava')).toBe('disputed');
    expect(await proposal(id)).toMatchObject({
      resolution: 'Half  the price',
      proposed_by: people.owner.userId,
      agreed_by: null,
    });
    expect(await say(two, 'awardee', id, 'Half the price.')).toBe('disputed');
    expect(await proposal(id)).toMatchObject({ resolution: 'Half the price.', proposed_by: people.awardee.userId });
    expect(await say(one, 'owner', id, 'Half the price', 'both of us')).toBe('disputed');
    expect(await proposal(id)).toMatchObject({
      resolution: 'Half the price',
      agreed_by: 'both of us',
      proposed_by: people.owner.userId,
    });
    expect(await say(two, 'awardee', id, '\n Half \t the price ')).toBe('completed');
    const dispute = (await app.rest('GET', `/v1/jobs/${id}/dispute`, { token: people.owner.token })).body;
    expect(dispute).toMatchObject({ proposal: null, ending: { how: 'agreement', by: people.awardee.userId } });
  });
});

describe('the end of a job through either API', () => {
  const tokensOf = async ({ token }: Person) => (await app.rest('GET', '/v1/tokens', { token })).body;

  test('refunds the publishing fee and all raises if the job was open and never had a bid', async () => {
    for (const api of APIS) {
      const job = await arrange('open without bids');
      await callRest(app, 'update', { by: people.owner, job: job.id, body: { urgency: 'urgent' } });
      const { available } = await tokensOf(people.owner);
      expect(await outcomeOf(app, api, 'cancel', { by: people.owner, job: job.id }), api).toMatchObject({ ok: true });
      expect((await tokensOf(people.owner)).available - available, api).toBe(30);
    }
  });

  test.each(['open', 'open, the bidder withdrew', 'awarded', 'in_progress'] as const)(
    'refunds nothing if there was ever a bid: %s',
    async (what) => {
      const copies = await copiesOf(app, await given(what), 2);
      const before = await tokensOf(people.owner);
      for (const [at, api] of APIS.entries()) {
        expect(await outcomeOf(app, api, 'cancel', { by: people.owner, job: copies[at]!.id }), api).toMatchObject({
          ok: true,
        });
        const [row] = await app.sql`select live_bid_count, (select json_agg(status order by status) from bids
            where job_id = jobs.id) as bids, awarded_bid_id from jobs where id = ${copies[at]!.id}`;
        const isAwarded = what === 'awarded' || what === 'in_progress';
        expect(row, api).toEqual({
          live_bid_count: 0,
          bids:
            what === 'open, the bidder withdrew'
              ? ['rejected', 'withdrawn']
              : isAwarded
                ? ['accepted', 'rejected']
                : ['rejected', 'rejected'],
          awarded_bid_id: isAwarded ? copies[at]!.bids.awardee : null,
        });
      }
      expect(await tokensOf(people.owner)).toEqual(before);
    },
  );

  test('releases the loser’s stake on award and the winner’s on approval, and gives credit once', async () => {
    for (const api of APIS) {
      const [ava, ben] = await Promise.all([contractor(app, 'Ava'), contractor(app, 'Ben')]);
      const stake = { guaranteed_view: true };
      const job = await givenJob(
        app,
        'open',
        { ...people, awardee: ava, bidder: ben },
        { offers: { awardee: stake, bidder: stake } },
      );
      const held = async () => [(await tokensOf(ava)).held, (await tokensOf(ben)).held];
      const step = (key: OperationKey, by: Person, body: object = {}) =>
        outcomeOf(app, api, key, { by, job: job.id, body });
      expect(await held(), api).toEqual([5, 5]);
      await step('award', people.owner, { bid_id: job.bids.awardee });
      expect(await held(), api).toEqual([5, 0]);
      await step('checkIn', ava);
      await step('submitForReview', ava);
      expect(await step('approve', people.owner, { rating: 3 }), api).toMatchObject({ ok: true });
      expect(await held(), api).toEqual([0, 0]);
      expect(await step('approve', people.owner, { rating: 5 }), api).toMatchObject({ code: 'INVALID_TRANSITION' });
      expect((await app.rest('GET', `/v1/contractors/${ava.profileId}`, { token: ben.token })).body).toMatchObject({
        completed_jobs: 1,
        rating_average: 3,
        rating_count: 1,
      });
      const { data } = await app.graphql(
        'query($id: ID!) { job(id: $id) { bids { nodes { status hold { amount status releasedAt } } } } }',
        { token: people.owner.token, variables: { id: job.id } },
      );
      expect(
        data.job.bids.nodes
          .map(({ status, hold }: Json) => [status, hold.status, hold.amount, hold.releasedAt !== null])
          .sort(),
      ).toEqual([
        ['ACCEPTED', 'RELEASED', 5, true],
        ['REJECTED', 'RELEASED', 5, true],
      ]);
    }
  });

  test('gives no credit if an admin completes it, and a second completion changes nothing', async () => {
    const copies = await copiesOf(app, await given('in_review'), 2);
    const before = (await app.rest('GET', `/v1/contractors/${people.awardee.profileId}`, { token: people.admin.token }))
      .body.completed_jobs;
    for (const [at, api] of APIS.entries()) {
      const job = copies[at]!;
      const complete = () =>
        outcomeOf(app, api, 'complete', { by: people.admin, job: job.id, body: { reason: 'It must end.' } });
      expect(await complete(), api).toMatchObject({ ok: true });
      const after = await everything(job);
      expect(after.job.status, api).toBe('completed');
      expect(await complete(), api).toMatchObject({ ok: true });
      expect(await everything(job), api).toEqual(after);
    }
    expect(
      (await app.rest('GET', `/v1/contractors/${people.awardee.profileId}`, { token: people.admin.token })).body
        .completed_jobs,
    ).toBe(before);
  });

  test('removes a deleted draft everywhere', async () => {
    const copies = await copiesOf(app, await given('draft'), 2);
    const byRest = await callRest(app, 'delete', { by: people.owner, job: copies[0]!.id });
    expect([byRest.status, byRest.body]).toEqual([200, { status: 200, message: expect.any(String), data: {} }]);
    expect(
      (
        await callGraphql(app, 'delete', {
          by: people.owner,
          job: copies[1]!.id,
          selection:
            'id status bidCount bids { totalCount } timeline { nodes { type } } availableActions { action } ' +
            'dispute { reason }',
        })
      ).errors,
    ).toBeUndefined();
    for (const { id } of copies) {
      expect((await app.rest('GET', `/v1/jobs/${id}`, { token: people.owner.token })).status).toBe(404);
      for (const api of APIS)
        expect(await outcomeOf(app, api, 'delete', { by: people.owner, job: id }), api).toMatchObject({
          code: 'NOT_FOUND',
        });
    }
  });
});

describe('an object that doesn’t exist', () => {
  test.each(['job_1', 'bid_000000000000000000000000000', `${'x'.repeat(300)}`, newId('job')])(
    'returns NOT_FOUND through either API: %s',
    async (id) => {
      for (const [key, by, body] of [
        ['publish', 'owner', undefined],
        ['checkIn', 'awardee', {}],
        ['complete', 'admin', { reason: 'a' }],
        ['submitBid', 'stranger', { amount: 1 }],
        ['delete', 'owner', undefined],
      ] as const) {
        for (const api of APIS)
          expect(await outcomeOf(app, api, key, { by: people[by], job: id, body }), `${api} ${key}`).toMatchObject({
            status: 404,
            code: 'NOT_FOUND',
          });
      }
      expect((await app.rest('GET', `/v1/jobs/${id}`, { token: people.admin.token })).status).toBe(404);
      const read = await app.graphql('query($id: ID!) { job(id: $id) { id } node(id: $id) { id } }', {
        token: people.admin.token,
        variables: { id },
      });
      expect(read.data).toEqual({ job: null, node: null });
      expect(read.errors?.map(({ extensions }) => extensions.code)).toEqual(['NOT_FOUND', 'NOT_FOUND']);
    },
  );

  test('includes a bid under another job’s path', async () => {
    const [one, two] = await copiesOf(app, await given('open'), 2);
    const answer = await callRest(app, 'view', { by: people.owner, job: one!.id, bid: two!.bids.bidder! });
    expect(restOutcome(answer)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});

describe('lists', () => {
  let lena: Person;
  const idsByRest = async (query: string, by: Person = lena) => {
    const { status, body } = await app.rest('GET', `/v1/jobs?${query}`, { token: by.token });
    return status === 200 ? body.data.map(({ id }: Json) => id) : body.details.code;
  };
  const idsByGraphql = async (
    variables: { filter?: object; first?: number; after?: string | undefined },
    by: Person = lena,
  ) => {
    const { data, errors } = await app.graphql(
      'query($filter: JobFilter, $first: Int, $after: String) { jobs(filter: $filter, first: $first, after: ' +
        '$after) { nodes { id } } }',
      { token: by.token, variables },
    );
    return errors?.[0]?.extensions.code ?? data.jobs.nodes.map(({ id }: Json) => id);
  };
  const plant = (count: number, title: string) =>
    app.sql.unsafe(`
    insert into jobs (id, homeowner_id, title, description, urgency, created_at)
    select 'job_' || left(md5('${title}' || n) || md5(n::text), 27), '${lena.profileId}', '${title} ' || n, 'planted',
      case '${title}' when 'Many' then 'priority'::urgency end, timestamptz '2030-01-01' + (n / 3) * interval
        '1 second' from generate_series(1, ${count}) n`);

  beforeAll(async () => {
    lena = await homeowner(app, 'Lena');
    for (const [title, category, urgency] of [
      ['Fix 100% of the Roof', 'roofing', 'standard'],
      ['under_score', 'plumbing', 'urgent'],
      ['underXscore', 'plumbing', 'standard'],
      ['back\\slash', null, null],
    ] as const) {
      await callRest(app, 'create', {
        by: lena,
        body: {
          ...DRAFT,
          title,
          description: `About ${title}`,
          category,
          urgency,
          ...(category && { budget_min: 100 }),
        },
      });
    }
  });

  const FILTERS: [name: string, query: string, filter: object, titles: string[]][] = [
    ['a word in capitals', 'search=ROOF', { search: 'ROOF' }, ['Fix 100% of the Roof']],
    ['a percent sign', 'search=100%25', { search: '100%' }, ['Fix 100% of the Roof']],
    ['only percent signs', 'search=%25%25', { search: '%%' }, []],
    ['an underscore', 'search=under_score', { search: 'under_score' }, ['under_score']],
    ['a backslash', 'search=k%5Cs', { search: 'k\\s' }, ['back\\slash']],
    ['a word of the description', 'search=about%20under', { search: 'about under' }, ['underXscore', 'under_score']],
    ['a category', 'category=plumbing', { category: 'plumbing' }, ['underXscore', 'under_score']],
    [
      'a category and an urgency',
      'category=plumbing&urgency=urgent',
      { category: 'plumbing', urgency: 'URGENT' },
      ['under_score'],
    ],
    [
      'several categories',
      'categories=tiling,plumbing,roofing',
      { categories: ['roofing', 'plumbing'] },
      ['underXscore', 'under_score', 'Fix 100% of the Roof'],
    ],
    ['a budget below all of them', 'budget_max=99.99', { budgetMax: 99.99 }, []],
    [
      'a budget above all minimums',
      'budget_min=1000000',
      { budgetMin: 1_000_000 },
      ['underXscore', 'under_score', 'Fix 100% of the Roof'],
    ],
    [
      'a budget and a category',
      'budget_min=100&budget_max=9999999999.99&category=plumbing',
      { budgetMin: 100, budgetMax: 9_999_999_999.99, category: 'plumbing' },
      ['underXscore', 'under_score'],
    ],
    ['a state', 'status=open', { status: 'OPEN' }, []],
    ['nothing', '', {}, ['back\\slash', 'underXscore', 'under_score', 'Fix 100% of the Roof']],
  ];
  test.each(FILTERS)(
    'filtered by %s return the same jobs through both APIs, newest first',
    async (_, query, filter, titles) => {
      const byRest = await app.rest('GET', `/v1/jobs?${query}`, { token: lena.token });
      expect(byRest.body.data.map(({ title }: Json) => title)).toEqual(titles);
      expect(await idsByGraphql({ filter })).toEqual(byRest.body.data.map(({ id }: Json) => id));
    },
  );

  test.each<[query: string, asked: Parameters<typeof idsByGraphql>[0] | undefined]>([
    ['status=finished', { filter: { status: 'FINISHED' } }],
    ['urgency=soon', { filter: { urgency: 'SOON' } }],
    [`search=${x(201)}`, { filter: { search: x(201) } }],
    [`category=${x(65)}`, { filter: { category: x(65) } }],
    [`categories=a,${x(65)}`, { filter: { categories: ['a', x(65)] } }],
    ['category=a&categories=b', { filter: { category: 'a', categories: ['b'] } }],
    ['budget_min=2&budget_max=1', { filter: { budgetMin: 2, budgetMax: 1 } }],
    ['budget_min=0.001', { filter: { budgetMin: 0.001 } }],
    ['budget_max=10000000000', { filter: { budgetMax: 10_000_000_000 } }],
    ['budget_min=cheap', undefined],
    ['budget_min=1e3', undefined],
    ['per_page=0', { first: 0 }],
    ['per_page=101', { first: 101 }],
    ['per_page=-1', { first: -1 }],
    ['per_page=1.5', undefined],
    ['per_page=many', undefined],
    ['page=0', undefined],
    ['page=-1', undefined],
    ['page=x', undefined],
    ['after=nothing', { after: 'nothing' }],
    [`after=${Buffer.from('[1,2,3]').toString('base64url')}`, { after: Buffer.from('[1,2,3]').toString('base64url') }],
    ['sort=title', undefined],
    ['perPage=3', undefined],
    ['status=', undefined],
  ])('reject ?%s from Lena', async (query, asked) => {
    expect(await idsByRest(query)).toBe('VALIDATION_FAILED');
    if (asked) expect(await idsByGraphql(asked)).toBe('VALIDATION_FAILED');
  });

  test('of one homeowner’s jobs are only for admins', async () => {
    const query = `homeowner_id=${lena.profileId}`;
    expect(await idsByRest(query, people.admin)).toHaveLength(4);
    expect(await idsByGraphql({ filter: { homeownerId: lena.profileId } }, people.admin)).toEqual(
      await idsByRest(query, people.admin),
    );
    expect(await idsByRest(query)).toBe('FORBIDDEN');
    expect(await idsByGraphql({ filter: { homeownerId: lena.profileId } })).toBe('FORBIDDEN');
    expect(await idsByRest('homeowner_id=nobody', people.admin)).toBe('VALIDATION_FAILED');
    expect(await idsByGraphql({ filter: { homeownerId: 'nobody' } }, people.admin)).toBe('VALIDATION_FAILED');
  });

  test('have the same jobs in the same order through REST’s links and GraphQL’s cursors, each once', async () => {
    await plant(250, 'Listed');
    const linked: string[] = [];
    for (let address: string | undefined = '/v1/jobs?search=Listed&per_page=100'; address;) {
      const { body, headers }: { body: Json; headers: Headers } = await app.rest('GET', address, { token: lena.token });
      linked.push(...body.data.map(({ id }: Json) => id));
      expect(body.pagination).toMatchObject({ per_page: 100, total: 250, total_pages: 3, total_capped: false });
      address = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    }
    const numbered = (
      await Promise.all([1, 2, 3, 4].map((page) => idsByRest(`search=Listed&per_page=100&page=${page}`)))
    ).flat();
    const connected: string[] = [];
    for (let after: string | undefined, more = true; more;) {
      const { data } = await app.graphql(
        'query($after: String) { jobs(filter: { search: "Listed" }, first: 40, after: $after) { totalCount nodes ' +
          '{ id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }',
        { token: lena.token, variables: { after } },
      );
      const { nodes, edges, pageInfo, totalCount } = data.jobs;
      expect([totalCount, pageInfo.hasPreviousPage, pageInfo.startCursor, pageInfo.endCursor]).toEqual([
        250,
        after !== undefined,
        edges[0].cursor,
        edges.at(-1).cursor,
      ]);
      connected.push(...nodes.map(({ id }: Json) => id));
      [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
    }
    expect(linked).toHaveLength(250);
    expect(new Set(linked).size).toBe(250);
    expect(numbered).toEqual(linked);
    expect(connected).toEqual(linked);
  });

  test('count up to 10,000 entries, or 1,000 of a search, but all entries can be read', async () => {
    await plant(10_001, 'Many');
    const read = (query: string) => app.rest('GET', `/v1/jobs?${query}`, { token: lena.token });
    const counted = async (query: string) => (await read(query)).body.pagination;
    const capped = { page: 1, per_page: 20, total_capped: true };
    expect(await counted('urgency=priority')).toEqual({ ...capped, total: 10_000, total_pages: 500 });
    expect(await counted('search=Many')).toEqual({ ...capped, total: 1_000, total_pages: 50 });
    expect((await read('search=Many&per_page=100&page=101')).body.data).toHaveLength(1);
    const past = await read('search=Many&per_page=100&page=102');
    expect([past.status, past.body.data]).toEqual([200, []]);
    expect(past.headers.get('link')).toMatch(/page=101>; rel="prev"$/);
    const connected = async (search: string) =>
      (
        await app.graphql(
          `{ jobs(filter: { search: "${search}" }) { totalCount totalCountCapped pageInfo { hasNextPage } } }`,
          { token: lena.token },
        )
      ).data.jobs;
    expect(await connected('Many')).toEqual({
      totalCount: 1_000,
      totalCountCapped: true,
      pageInfo: { hasNextPage: true },
    });
    const alone = await app.graphql('{ jobs(filter: { urgency: PRIORITY }) { totalCountCapped } }', {
      token: lena.token,
    });
    expect(alone.data.jobs).toEqual({ totalCountCapped: true });
    await app.sql`delete from jobs where id = (select id from jobs where title like 'Many %' limit 1)`;
    expect(await counted('urgency=priority')).toMatchObject({ total: 10_000, total_capped: false });
    await app.sql`update jobs set title = 'Few' where id in (select id from jobs where title like 'Many %' limit 9000)`;
    expect(await counted('search=Many')).toMatchObject({ total: 1_000, total_capped: false });
    expect(await connected('Many')).toMatchObject({ totalCount: 1_000, totalCountCapped: false });
  });

  test('of bids start with guaranteed views, then the newest, a hundred per page', async () => {
    const job = await givenJob(app, 'open', people, { offers: { awardee: { guaranteed_view: true } } });
    await callRest(app, 'submitBid', { by: people.stranger, job: job.id, body: { amount: 3 } });
    const byRest = await app.rest('GET', `/v1/jobs/${job.id}/bids`, { token: people.owner.token });
    expect(byRest.body.data.map(({ contractor_id: id }: Json) => id)).toEqual(
      [people.awardee, people.stranger, people.bidder].map(({ profileId }) => profileId),
    );
    expect(byRest.body.pagination).toEqual({ page: 1, per_page: 100, total: 3, total_pages: 1, total_capped: false });
    const byGraphql = await app.graphql(
      'query($id: ID!) { job(id: $id) { bids { totalCount nodes { id } } pending: bids(status: PENDING) { ' +
        'totalCount } accepted: bids(status: ACCEPTED) { totalCount } shortlisted: bids(status: SHORTLISTED) { ' +
        'totalCountCapped } timeline { totalCountCapped } } }',
      { token: people.owner.token, variables: { id: job.id } },
    );
    expect(byGraphql.data.job).toMatchObject({
      bids: { totalCount: 3, nodes: byRest.body.data.map(({ id }: Json) => ({ id })) },
      pending: { totalCount: 3 },
      accepted: { totalCount: 0 },
      shortlisted: { totalCountCapped: false },
      timeline: { totalCountCapped: false },
    });
    expect(
      (await app.rest('GET', `/v1/jobs/${job.id}/bids?status=accepted`, { token: people.owner.token })).body.data,
    ).toEqual([]);
    expect(
      (await app.rest('GET', `/v1/jobs/${job.id}/bids?status=lost`, { token: people.owner.token })).body.details,
    ).toMatchObject({ code: 'VALIDATION_FAILED', fields: { status: expect.any(String) } });
    const first = await app.rest('GET', `/v1/jobs/${job.id}/bids?per_page=1`, { token: people.owner.token });
    const next = await app.rest('GET', /<([^>]+)>; rel="next"/.exec(first.headers.get('link')!)![1]!, {
      token: people.owner.token,
    });
    expect(next.body.data[0].contractor_id).toBe(people.stranger.profileId);
  });

  test.each(['bids', 'timeline'])('inside a job reject the same sizes and cursors: %s', async (list) => {
    const { id } = await given('open');
    const foreign = (await app.graphql('{ jobs(first: 1) { pageInfo { endCursor } } }', { token: people.owner.token }))
      .data.jobs.pageInfo.endCursor;
    const path = `/v1/jobs/${id}/${list === 'bids' ? 'bids' : 'events'}`;
    for (const [query, args] of [
      ['per_page=0', { first: 0 }],
      ['per_page=101', { first: 101 }],
      ['after=x', { after: 'x' }],
      [`after=${foreign}`, { after: foreign }],
    ] as const) {
      expect((await app.rest('GET', `${path}?${query}`, { token: people.owner.token })).body.details.code, query).toBe(
        'VALIDATION_FAILED',
      );
      const { errors } = await app.graphql(
        `query($id: ID!, $first: Int, $after: String) { job(id: $id) { ${list}(first: $first, after: $after) { ` +
          `totalCount } } }`,
        { token: people.owner.token, variables: { id, ...args } },
      );
      expect(errors?.[0]?.extensions.code, query).toBe('VALIDATION_FAILED');
    }
  });

  test('of a contractor’s own bids are the same through both APIs, and only for contractors', async () => {
    const byRest = await app.rest('GET', '/v1/bids?per_page=5', { token: people.stranger.token });
    const { data } = await app.graphql('{ viewer { bids(first: 5) { totalCount nodes { id } } } }', {
      token: people.stranger.token,
    });
    expect(data.viewer.bids).toEqual({
      totalCount: byRest.body.pagination.total,
      nodes: byRest.body.data.map(({ id }: Json) => ({ id })),
    });
    expect((await app.rest('GET', '/v1/bids', { token: people.owner.token })).status).toBe(403);
    expect(
      (await app.graphql('{ viewer { bids { totalCount } } }', { token: people.owner.token })).data.viewer.bids,
    ).toBeNull();
  });
});

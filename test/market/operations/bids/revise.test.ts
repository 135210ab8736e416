/** Ava revises her bid while Olive hasn't decided on it, through both APIs. The earlier offers stay readable. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkDatabase } from '../../../setup/database/checker.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { award, eventsSince, everythingOn, must, tokensOf } from '../../../story/awards.js';
import { APIS, callRest, outcomeOf, restOutcome } from '../../../story/calls.js';
import type { Person } from '../../../story/cast.js';
import { gather, givenJob, type GivenJob, type People } from '../../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(async () => {
  expect(await checkDatabase(app.sql)).toEqual([]);
  await app.close();
});

const OFFER = {
  amount: 900,
  estimated_duration_days: 3,
  message: 'I can come on Monday.',
  proposed_start_date: '2030-06-01',
  materials_included: true,
  payment_terms: 'Half in advance.',
};

/** An open job with Ava's whole offer and Ben's bid. */
const givenBid = (more: object = {}): Promise<GivenJob> =>
  givenJob(app, 'open', people, { offers: { awardee: { ...OFFER, ...more } } });

const revise = (job: GivenJob, body: object, by: Person = people.awardee, headers: Record<string, string> = {}) =>
  callRest(app, 'revise', { by, job: job.id, bid: job.bids.awardee!, body, headers });
const bidAs = async ({ token }: Person, id: string): Promise<Json> =>
  (await app.rest('GET', `/v1/bids/${id}`, { token })).body;
const revisionsAs = ({ token }: Person, id: string, query = '') =>
  app.rest('GET', `/v1/bids/${id}/revisions${query}`, { token });

describe('a revision', () => {
  test.each(APIS)('through %s replaces what it names, keeps the rest, and keeps the earlier offer', async (api) => {
    const job = await givenBid();
    const id = job.bids.awardee!;
    await must(app, 'shortlist', people.owner, job, id);
    const before = await bidAs(people.awardee, id);
    const [row] = await app.sql<[{ events: number; version: number }]>`
      select event_count as events, version from jobs where id = ${job.id}`;
    const body = { amount: 850, message: null };
    const asked = { by: people.awardee, job: job.id, bid: id, body, version: 1 };
    expect(await outcomeOf(app, api, 'revise', asked)).toMatchObject({ ok: true, status: 200 });

    const after = await bidAs(people.owner, id);
    expect(after).toEqual({ ...before, amount: 850, message: null, version: 2, updated_at: after.updated_at });
    expect(after.status).toBe('shortlisted');
    const revisions = await revisionsAs(people.owner, id);
    expect(revisions.body.data).toEqual([{ version: 1, ...OFFER, replaced_at: expect.any(String) }]);
    expect(await eventsSince(app, job, row.events)).toEqual([
      { type: 'bid.revised', from: null, to: null, data: { bidId: id, version: 2, fields: ['amount', 'message'] } },
    ]);
    const [jobAfter] = await app.sql`select version, status from jobs where id = ${job.id}`;
    expect(jobAfter).toEqual({ version: row.version, status: 'open' });
  });

  test('keeps its place, and its stake', async () => {
    const job = await givenJob(app, 'open', people, { offers: { awardee: { guaranteed_view: true } } });
    const before = await tokensOf(app, people.awardee);
    await must(app, 'revise', people.awardee, job, job.bids.awardee!, { amount: 1 });
    expect(await tokensOf(app, people.awardee)).toEqual(before);
    const plain = await givenJob(app, 'open', people);
    await must(app, 'revise', people.awardee, plain, plain.bids.awardee!, { amount: 1 });
    for (const [{ id, bids }, order] of [
      [job, ['awardee', 'bidder']],
      [plain, ['bidder', 'awardee']],
    ] as const) {
      const { body } = await app.rest('GET', `/v1/jobs/${id}/bids`, { token: people.owner.token });
      expect(body.data.map((one: Json) => one.id)).toEqual(order.map((who) => bids[who]));
    }
    await must(app, 'withdraw', people.awardee, job, job.bids.awardee!);
  });

  test('clears each optional field with null, and never the amount', async () => {
    const job = await givenBid();
    const { amount: _, ...optional } = OFFER;
    const cleared = Object.fromEntries(Object.keys(optional).map((field) => [field, null]));
    const { body } = await revise(job, cleared);
    expect(body).toMatchObject({ amount: 900, ...cleared, version: 2 });
    const refused = await revise(job, { amount: null, message: 'Hello' });
    expect(restOutcome(refused)).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['amount'] });
    expect(await bidAs(people.awardee, job.bids.awardee!)).toMatchObject({ version: 2, message: null });
  });

  test.each(APIS)('that changes nothing adds no version through %s', async (api) => {
    const job = await givenBid();
    const before = await everythingOn(app, job);
    for (const body of [{}, { amount: 900 }, OFFER])
      expect(
        await outcomeOf(app, api, 'revise', { by: people.awardee, job: job.id, bid: job.bids.awardee!, body }),
      ).toMatchObject({ ok: true });
    expect(await everythingOn(app, job)).toEqual(before);
  });

  test('may send the whole bid back as it was read', async () => {
    const job = await givenBid();
    const whole = await bidAs(people.awardee, job.bids.awardee!);
    const { body, status } = await revise(job, {
      ...whole,
      amount: 870,
      is_outdated: true,
      version: 7,
      updated_at: '2020-01-01T00:00:00.000Z',
    });
    expect(status).toBe(200);
    expect(body).toEqual({ ...whole, amount: 870, version: 2, updated_at: body.updated_at });
  });

  test.each([
    ['guaranteed_view', true],
    ['status', 'accepted'],
    ['contractor_id', 'ctr_000000000000000000000000000'],
    ['hold_id', 'hld_000000000000000000000000000'],
    ['suspended', true],
    ['created_at', '2020-01-01T00:00:00.000Z'],
    ['submitted_at', null],
  ])('can’t change %s', async (field, value) => {
    const job = await givenBid();
    const before = await everythingOn(app, job);
    const refused = await revise(job, { amount: 1, [field]: value });
    expect(restOutcome(refused)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED', fields: [field] });
    expect(await everythingOn(app, job)).toEqual(before);
  });

  test('has only the fields of the offer in GraphQL', async () => {
    const query = '{ __type(name: "ReviseBidInput") { inputFields { name } } }';
    const { data } = await app.graphql(query, { token: people.owner.token });
    expect(data.__type.inputFields.map(({ name }: Json) => name).toSorted()).toEqual(
      [
        'amount',
        'estimatedDurationDays',
        'materialsIncluded',
        'message',
        'paymentTerms',
        'proposedStartDate',
      ].toSorted(),
    );
  });

  test('sent twice with one key is made once', async () => {
    const job = await givenBid();
    const headers = { 'idempotency-key': 'lower-the-price' };
    const [first, second] = [
      await revise(job, { amount: 800 }, people.awardee, headers),
      await revise(job, { amount: 800 }, people.awardee, headers),
    ];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await bidAs(people.awardee, job.bids.awardee!)).toMatchObject({ version: 2, amount: 800 });
  });

  test('as a dry run changes nothing', async () => {
    const job = await givenBid();
    const before = await everythingOn(app, job);
    const answer = await revise(job, { amount: 800 }, people.awardee, { 'dry-run': 'true' });
    expect(answer.body).toMatchObject({ amount: 800, version: 2 });
    expect(await everythingOn(app, job)).toEqual(before);
  });
});

describe("the bid's version", () => {
  test('is its ETag, and If-Match names it: 412 after another revision', async () => {
    const job = await givenBid();
    const url = `/v1/bids/${job.bids.awardee!}`;
    const read = await app.rest('GET', url, { token: people.awardee.token });
    expect(read.headers.get('etag')).toBe('"1"');
    const revised = await revise(job, { amount: 890 }, people.awardee, { 'if-match': '"1"' });
    expect([revised.status, revised.headers.get('etag')]).toEqual([200, '"2"']);
    const before = await everythingOn(app, job);
    const stale = await revise(job, { amount: 880 }, people.awardee, { 'if-match': '"1"' });
    expect(stale.body).toMatchObject({
      status: 412,
      error: 'The bid has been revised since you read it. Read it again, then retry.',
      details: { code: 'STALE_VERSION', expected_version: 1, version: 2 },
    });
    expect(await everythingOn(app, job)).toEqual(before);
    expect((await revise(job, { amount: 880 }, people.awardee, { 'if-match': '*' })).status).toBe(200);
    const malformed = await revise(job, { amount: 880 }, people.awardee, { 'if-match': '3' });
    expect(restOutcome(malformed)).toMatchObject({ status: 400, code: 'MALFORMED_REQUEST' });
  });

  test('doesn’t cover the status, so a reader who has the ETag still gets the new status', async () => {
    const job = await givenBid();
    const url = `/v1/bids/${job.bids.awardee!}`;
    await must(app, 'view', people.owner, job, job.bids.awardee!);
    const read = await app.rest('GET', url, { token: people.awardee.token, headers: { 'if-none-match': '"1"' } });
    expect([read.status, read.body.status, read.body.version]).toEqual([200, 'viewed', 1]);
  });

  test('is expectedVersion in GraphQL', async () => {
    const job = await givenBid();
    const ask = (expectedVersion: number, amount: number) =>
      app.graphql(
        `mutation($id: ID!, $version: Int, $amount: Float) {
          reviseBid(id: $id, expectedVersion: $version, input: { amount: $amount }) { bid { amount version } } }`,
        { token: people.awardee.token, variables: { id: job.bids.awardee!, version: expectedVersion, amount } },
      );
    expect((await ask(1, 800)).data.reviseBid.bid).toEqual({ amount: 800, version: 2 });
    const { errors } = await ask(1, 700);
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'STALE_VERSION',
      status: 412,
      expectedVersion: 1,
      version: 2,
    });
  });

  test('says whether Olive has edited the job since, until Ava revises the bid', async () => {
    const job = await givenBid();
    const outdated = async () =>
      Promise.all(
        (['awardee', 'bidder'] as const).map(
          async (who) => (await bidAs(people[who], job.bids[who]!)).is_outdated as boolean,
        ),
      );
    const edit = (body: object) => must(app, 'update', people.owner, job, undefined, body);
    expect(await outdated()).toEqual([false, false]);
    await edit({ title: 'Mend the roof' });
    expect(await outdated()).toEqual([false, false]);
    await edit({ requirements: 'Bring a ladder.' });
    expect(await outdated()).toEqual([true, true]);
    await must(app, 'revise', people.awardee, job, job.bids.awardee!, { message: 'With a ladder.' });
    expect(await outdated()).toEqual([false, true]);
    const { data } = await app.graphql(
      'query($id: ID!) { job(id: $id) { bids { nodes { id isOutdated version } } } }',
      { token: people.owner.token, variables: { id: job.id } },
    );
    expect(data.job.bids.nodes).toEqual([
      { id: job.bids.bidder, isOutdated: true, version: 1 },
      { id: job.bids.awardee, isOutdated: false, version: 2 },
    ]);
    await edit({ requirements: null });
    expect(await outdated()).toEqual([true, true]);
    const late = await callRest(app, 'submitBid', { by: people.stranger, job: job.id, body: { amount: 5 } });
    expect(late.body).toMatchObject({ is_outdated: false, version: 1 });
  });
});

describe('the earlier offers', () => {
  test('are listed newest first for Olive, Ava, and Ada, page by page, and for nobody else', async () => {
    const job = await givenBid();
    const id = job.bids.awardee!;
    for (const amount of [899, 898, 897]) await must(app, 'revise', people.awardee, job, id, { amount });
    for (const who of [people.owner, people.awardee, people.admin]) {
      const { body } = await revisionsAs(who, id);
      expect(body.data.map(({ version, amount }: Json) => [version, amount])).toEqual([
        [3, 898],
        [2, 899],
        [1, 900],
      ]);
      expect(body.pagination).toMatchObject({ page: 1, per_page: 20, total: 3 });
    }
    const first = await revisionsAs(people.owner, id, '?per_page=2');
    const [, next] = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
    const second = await app.rest('GET', next!, { token: people.owner.token });
    expect(second.body.data.map(({ version }: Json) => version)).toEqual([1]);
    for (const who of [people.bidder, people.stranger, people.other])
      expect(restOutcome(await revisionsAs(who, id))).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    const nothing = await revisionsAs(people.owner, 'bid_000000000000000000000000000');
    expect(restOutcome(nothing)).toMatchObject({ status: 404 });
    expect(restOutcome(await app.rest('GET', `/v1/bids/${id}/revisions`))).toMatchObject({ status: 401 });
  });

  test('are a connection in GraphQL, for the same people', async () => {
    const job = await givenBid();
    const id = job.bids.awardee!;
    for (const amount of [899, 898, 897]) await must(app, 'revise', people.awardee, job, id, { amount });
    const query = `query($id: ID!, $after: String) { node(id: $id) { ... on Bid { version revisions(first: 2,
      after: $after) { totalCount nodes { version amount message estimatedDurationDays proposedStartDate
      materialsIncluded paymentTerms replacedAt } pageInfo { hasNextPage endCursor } } } } }`;
    const read = async ({ token }: Person, after?: string) => app.graphql(query, { token, variables: { id, after } });
    for (const who of [people.owner, people.awardee, people.admin]) {
      const { data, errors } = await read(who);
      expect(errors).toBeUndefined();
      const { totalCount, nodes, pageInfo } = data.node.revisions;
      expect([totalCount, pageInfo.hasNextPage]).toEqual([3, true]);
      expect(nodes[0]).toEqual({
        version: 3,
        amount: 898,
        message: OFFER.message,
        estimatedDurationDays: 3,
        proposedStartDate: '2030-06-01',
        materialsIncluded: true,
        paymentTerms: OFFER.payment_terms,
        replacedAt: expect.any(String),
      });
      const rest = await read(who, pageInfo.endCursor);
      expect(rest.data.node.revisions.nodes.map(({ version }: Json) => version)).toEqual([1]);
    }
    for (const who of [people.bidder, people.other])
      expect((await read(who)).errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN' });
  });

  test('can’t be changed or deleted, not even by the service', async () => {
    const job = await givenBid();
    await must(app, 'revise', people.awardee, job, job.bids.awardee!, { amount: 1 });
    const id = job.bids.awardee!;
    await expect(app.sql`update bid_revisions set amount = 2 where bid_id = ${id}`).rejects.toThrow(/never changed/);
    await expect(app.sql`delete from bid_revisions where bid_id = ${id}`).rejects.toThrow(/never changed/);
  });

  test('leave an event that Olive, Ava, and Ada read, and Ben doesn’t', async () => {
    const job = await givenBid();
    await must(app, 'revise', people.awardee, job, job.bids.awardee!, { amount: 1 });
    const last = async ({ token }: Person) =>
      (await app.rest('GET', `/v1/jobs/${job.id}/events`, { token })).body.data.at(-1);
    for (const who of [people.owner, people.awardee, people.admin])
      expect(await last(who)).toMatchObject({
        type: 'bid.revised',
        bid_id: job.bids.awardee,
        fields: ['amount'],
        data: { version: 2 },
      });
    expect(await last(people.bidder)).toMatchObject({ type: 'bid.submitted', bid_id: job.bids.bidder });
  });
});

describe('a refusal changes nothing, and comes in the fixed order', () => {
  test.each(APIS)('a bid that was awarded in the meantime can’t be revised through %s', async (api) => {
    const job = await givenBid();
    await award(app, people, job, job.bids.awardee!);
    const before = await everythingOn(app, job);
    for (const who of ['awardee', 'bidder'] as const) {
      const asked = { by: people[who], job: job.id, bid: job.bids[who]!, body: { amount: 9_999 }, version: 1 };
      expect(await outcomeOf(app, api, 'revise', asked)).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
    }
    const { body } = await revise(job, { amount: 9_999 });
    expect(body).toMatchObject({
      error: 'Only a pending, viewed, or shortlisted bid can be revised.',
      details: { from_state: 'accepted', allowed_operations: [] },
    });
    expect(await everythingOn(app, job)).toEqual(before);
  });

  test.each(APIS)('an eleventh revision is refused through %s', async (api) => {
    const job = await givenBid();
    const id = job.bids.awardee!;
    for (let amount = 899; amount >= 890; amount -= 1) await must(app, 'revise', people.awardee, job, id, { amount });
    const before = await everythingOn(app, job);
    const asked = { by: people.awardee, job: job.id, bid: id, body: { amount: 1 }, version: 11 };
    expect(await outcomeOf(app, api, 'revise', asked)).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
    const { body } = await revise(job, { amount: 1 });
    expect(body).toMatchObject({
      error: 'You have already revised this bid 10 times.',
      details: { from_state: 'pending', allowed_operations: ['withdrawBid'] },
    });
    expect(await everythingOn(app, job)).toEqual(before);
    expect((await revisionsAs(people.owner, id)).body.pagination.total).toBe(10);
    const actions = await app.rest('GET', `/v1/bids/${id}/actions`, { token: people.awardee.token });
    expect(actions.body.data.find(({ action }: Json) => action === 'revise')).toMatchObject({
      allowed: false,
      reason: 'INVALID_TRANSITION',
    });
  });

  test.each(APIS)('through %s: the role, the input, the bid, whose it is, its version, and its state', async (api) => {
    const job = await givenBid();
    const id = job.bids.awardee!;
    await must(app, 'reject', people.owner, job, id);
    const before = await everythingOn(app, job);
    const ask = (by: Person | undefined, body: object, more: { bid?: string; version?: number } = {}) =>
      outcomeOf(app, api, 'revise', { by, job: job.id, bid: id, body, ...more });
    const wrong = { estimated_duration_days: 0 };
    expect(await ask(undefined, wrong)).toMatchObject({ status: 401 });
    expect(await ask(people.owner, wrong)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    const bid = 'bid_000000000000000000000000000';
    expect(await ask(people.bidder, wrong, { bid })).toMatchObject({ fields: ['estimated_duration_days'] });
    expect(await ask(people.bidder, { amount: 1 }, { bid })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    for (const other of [people.bidder, people.stranger, people.admin])
      expect(await ask(other, { amount: 1 })).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await ask(people.awardee, { amount: null }, { version: 2 })).toMatchObject({ code: 'STALE_VERSION' });
    expect(await ask(people.awardee, { amount: null })).toMatchObject({ code: 'INVALID_TRANSITION' });
    expect(await everythingOn(app, job)).toEqual(before);
  });

  test('the job in the URL must be the bid’s own', async () => {
    const [job, other] = [await givenBid(), await givenBid()];
    const asked = { by: people.awardee, job: other.id, bid: job.bids.awardee!, body: { amount: 1 } };
    expect(restOutcome(await callRest(app, 'revise', asked))).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});

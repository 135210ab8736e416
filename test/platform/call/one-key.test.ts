/** An Idempotency-Key means the same in both APIs. It matches exactly the inputs that an operation treats alike. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callGraphql, callRest, changedBy, operationName, type Asked, type OperationKey } from '../../story/calls.js';
import { givenHappyJob, happyCall, OPERATION_KEYS } from '../../story/happy-calls.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { gather, givenJob, type GivenJob, type People } from '../../story/journey.js';
import { copiesOf } from '../../story/scenes.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

let keys = 0;
const newKey = () => ({ 'idempotency-key': `one key ${(keys += 1)}` });

interface Outcome {
  readonly status: number;
  readonly replayed: boolean;
  readonly id: string | undefined;
}

async function byRest(key: OperationKey, asked: Asked): Promise<Outcome> {
  const { status, headers, body } = await callRest(app, key, asked);
  return {
    status: status < 300 ? 200 : status,
    replayed: headers.get('idempotency-replayed') === 'true',
    id: (body.job ?? body).id,
  };
}

async function byGraphql(key: OperationKey, asked: Asked): Promise<Outcome> {
  const { headers, data, errors } = await callGraphql(app, key, asked);
  return {
    status: errors?.[0]?.extensions.status ?? 200,
    replayed: headers.get('idempotency-replayed') === 'true',
    id: data?.[operationName(key)]?.[changedBy(key)].id,
  };
}

const APIS = { REST: byRest, GraphQL: byGraphql };
type Api = keyof typeof APIS;
const BOTH_WAYS: readonly (readonly [Api, Api])[] = [
  ['REST', 'GraphQL'],
  ['GraphQL', 'REST'],
];

describe.each(BOTH_WAYS)('a call made in %s and repeated in %s runs once:', (first, second) => {
  it.each(OPERATION_KEYS)('%s, with and without the version that was read', async (key) => {
    const copies = await copiesOf(app, await givenHappyJob(app, key, people), 2);
    for (const [at, job] of copies.entries()) {
      const [row] = await app.sql<{ version: number }[]>`select version from jobs where id = ${job.id}`;
      const asked = {
        ...happyCall(key, people, job),
        headers: newKey(),
        // Nobody has revised the bid.
        ...(at === 1 && { version: key === 'revise' ? 1 : (row?.version ?? 0) }),
      };
      const done = await APIS[first](key, asked);
      expect([done.status, done.replayed]).toEqual([200, false]);
      const again = await APIS[second](key, asked);
      // For a deleted draft, REST returns only a message.
      expect([again.status, again.replayed, key === 'delete' || again.id === done.id]).toEqual([200, true, true]);
    }
  });

  it('for a whole draft, whatever the order of its fields, and with null for omitted ones', async () => {
    const body = {
      title: 'Fix the sink',
      description: 'It drips.',
      category: 'plumbing',
      urgency: 'urgent',
      budget_min: 10,
      budget_max: 20.5,
      city: 'Austin',
      state: 'TX',
      desired_start_date: '2031-02-03',
    };
    const headers = newKey();
    const done = await APIS[first]('create', { by: people.owner, headers, body });
    const turned = { requirements: null, country: '  ', ...Object.fromEntries(Object.entries(body).toReversed()) };
    expect(await APIS[second]('create', { by: people.owner, headers, body: turned })).toEqual({
      ...done,
      replayed: true,
    });
  });

  it('for a bid that stakes nothing, expressed as false, null, or not at all', async () => {
    const { id: job } = await givenJob(app, 'open', people);
    const headers = newKey();
    const bid = (stake: object) => ({ by: people.stranger, job, headers, body: { amount: 5, ...stake } });
    const done = await APIS[first]('submitBid', bid({ guaranteed_view: false }));
    expect([done.status, done.replayed]).toEqual([200, false]);
    for (const stake of [{}, { guaranteed_view: null }, { guaranteed_view: false }])
      expect(await APIS[second]('submitBid', bid(stake))).toEqual({ ...done, replayed: true });
  });
});

describe.each(BOTH_WAYS)('a key sent in %s is refused in %s with another input:', (first, second) => {
  const REUSED = { status: 422, replayed: false };

  async function expectApart(key: OperationKey, one: Asked, other: Asked): Promise<void> {
    const headers = newKey();
    expect(await APIS[first](key, { ...one, headers })).toMatchObject({ status: 200, replayed: false });
    expect(await APIS[second](key, { ...other, headers })).toMatchObject(REUSED);
  }

  it('another title', async () => {
    const draft = (title: string) => ({ by: people.owner, body: { title, description: 'It drips.' } });
    await expectApart('create', draft('A sink'), draft('Another sink'));
  });

  it('another bid', async () => {
    const job = await givenJob(app, 'open', people);
    const award = (bid_id: string | null) => ({ by: people.owner, job: job.id, body: { bid_id } });
    await expectApart('award', award(job.bids.awardee), award(job.bids.bidder));
  });

  it('another version', async () => {
    const job = await givenJob(app, 'draft', people);
    await expectApart('publish', { by: people.owner, job: job.id }, { by: people.owner, job: job.id, version: 1 });
  });

  it('null for a field that it clears and that was omitted before', async () => {
    const job = await givenJob(app, 'draft', people);
    const edit = (body: object): Asked => ({ by: people.owner, job: job.id, body });
    await expectApart('update', edit({ title: 'A roof' }), edit({ title: 'A roof', requirements: null }));
  });
});

describe("the caller's own account", () => {
  const PROFILE =
    'mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { viewer { user { phone } } } }';
  const put = (headers: Record<string, string>, body: object) =>
    app.rest('PUT', '/v1/me', { token: people.owner.token, headers, body });
  const mutate = (headers: Record<string, string>, input: object) =>
    app.graphql(PROFILE, { token: people.owner.token, headers, variables: { input } });

  it('is edited once through both APIs, where a null part equals an omitted one', async () => {
    const headers = newKey();
    expect((await mutate(headers, { user: { phone: '1', firstName: 'Olive' } })).errors).toBeUndefined();
    const again = await put(headers, {
      contractor: null,
      user: { first_name: 'Olive', phone: '1', updated_at: 'as it was read' },
    });
    expect([again.status, again.headers.get('idempotency-replayed'), again.body.user.phone]).toEqual([
      200,
      'true',
      '1',
    ]);
  });

  it('distinguishes a field that null clears from an omitted one', async () => {
    const headers = newKey();
    expect((await put(headers, { user: { first_name: 'Olive' } })).status).toBe(200);
    expect((await mutate(headers, { user: { firstName: 'Olive', phone: null } })).errors?.[0]?.extensions.code).toBe(
      'IDEMPOTENCY_KEY_REUSED',
    );
  });
});

it("a bid is the same whether or not the address names its job, and another bid isn't", async () => {
  const job: GivenJob = await givenJob(app, 'open', people);
  const headers = newKey();
  expect(await byGraphql('view', { by: people.owner, bid: job.bids.bidder ?? '', headers })).toMatchObject({
    status: 200,
    replayed: false,
  });
  expect(await byRest('view', { by: people.owner, job: job.id, bid: job.bids.bidder ?? '', headers })).toMatchObject({
    status: 200,
    replayed: true,
  });
  expect(await byRest('view', { by: people.owner, job: job.id, bid: job.bids.awardee ?? '', headers })).toMatchObject({
    status: 422,
  });
});

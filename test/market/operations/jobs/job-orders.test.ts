/**
 * Lists of jobs in every order and with every filter. Both APIs return the same jobs as a scan of every row, page by
 * page.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callRest } from '../../../story/calls.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { DRAFT, gather, givenJob, type People } from '../../../story/journey.js';
import { copiesOf } from '../../../story/scenes.js';

let app: TestApp;
let people: People;
const SINCE = '2026-04-01T00:00:00.000Z';
const BEFORE = '2026-02-10T00:00:00.000Z';

beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  for (const state of ['draft', 'open', 'awarded', 'in_review', 'completed'] as const)
    await copiesOf(app, await givenJob(app, state, people), 4);
  // The timestamps and budgets are independent of each other.
  await app.sql`with placed as (select id, row_number() over (order by md5(id)) as n from jobs),
      moved as (update jobs set created_at = timestamptz '2026-01-01' + n % 7 * interval '1 day',
        updated_at = timestamptz '2026-03-01' + (n * 7919) % 50 * interval '1 day',
        status_changed_at = timestamptz '2026-02-01' + (n * 31) % 17 * interval '1 day',
        budget_max = case when n % 4 > 0 then n * 7 % 5 * 100.25 end,
        budget_min = case when n % 3 > 0 then n * 7 % 5 * 50.5 end, title = 'Sink ' || n,
        category = case when n % 2 = 0 then 'plumbing' when n % 5 = 0 then 'doors, "b"\\ä' else 'roofing' end
        from placed where placed.id = jobs.id returning jobs.id, jobs.created_at)
    update bids set job_created_at = moved.created_at from moved where moved.id = bids.job_id`;
  await app.sql`update job_search set created_at = jobs.created_at from jobs where jobs.id = job_id`;
});
afterAll(() => app.close());

const ORDERS = {
  NEWEST: 'created_at desc, id desc',
  OLDEST: 'created_at, id',
  RECENTLY_UPDATED: 'updated_at desc, id desc',
  HIGHEST_BUDGET: 'budget_max desc nulls last, id desc',
} as const;
const ADMINS_ORDERS = { ...ORDERS, LONGEST_UNCHANGED: 'status_changed_at, id' } as const;
const ordersOf = (who: (typeof READERS)[number]) => Object.entries(who === 'admin' ? ADMINS_ORDERS : ORDERS);

/** Jobs without a budget don't match. */
const overlaps = (min: number | null, max: number | null) =>
  `numrange(budget_min, budget_max, '[]') && numrange(${min}, ${max}, '[]')
    and (budget_min is not null or budget_max is not null)`;

const FILTERS: [name: string, query: string, filter: string, where: string][] = [
  ['everything', '', '', 'true'],
  ['one state', 'status=open', 'status: OPEN', `status = 'open'`],
  ['a state twice', 'status=open&status=in_review', 'statuses: [IN_REVIEW, OPEN]', `status in ('open', 'in_review')`],
  ['states', 'statuses=draft,completed', 'statuses: [DRAFT, COMPLETED]', `status in ('draft', 'completed')`],
  ['what changed', `updated_since=${SINCE}`, `updatedSince: "${SINCE}"`, `updated_at >= '${SINCE}'`],
  [
    'what changed, with an offset whose + a query turns into a space',
    `updated_since=${SINCE.replace('Z', '+00:00')}`,
    `updatedSince: "${SINCE}"`,
    `updated_at >= '${SINCE}'`,
  ],
  ['a trade', 'category=plumbing', 'category: "plumbing"', `category = 'plumbing'`],
  [
    'trades',
    'categories=plumbing,tiling,roofing',
    'categories: ["plumbing", "tiling", "roofing"]',
    `category in ('plumbing', 'roofing')`,
  ],
  [
    'a trade twice, which may contain a comma',
    `category=${encodeURIComponent('doors, "b"\\ä')}&category=roofing`,
    String.raw`categories: ["roofing", "doors, \"b\"\\ä", "roofing"]`,
    `category <> 'plumbing'`,
  ],
  ['one of several trades', 'categories=roofing,roofing', 'categories: ["roofing"]', `category = 'roofing'`],
  ['what pays at least an amount', 'budget_min=200.5', 'budgetMin: 200.5', overlaps(200.5, null)],
  ['what costs at most an amount', 'budget_max=101', 'budgetMax: 101', overlaps(null, 101)],
  ['a range', 'budget_min=101&budget_max=150', 'budgetMin: 101, budgetMax: 150', overlaps(101, 150)],
  ['no cost', 'budget_min=0&budget_max=0', 'budgetMin: 0, budgetMax: 0', overlaps(0, 0)],
  [
    'a range in trades and states',
    'budget_max=120&budget_min=60&categories=roofing,plumbing&statuses=open,completed',
    'budgetMax: 120, budgetMin: 60, categories: ["roofing", "plumbing"], statuses: [OPEN, COMPLETED]',
    `${overlaps(60, 120)} and category in ('roofing', 'plumbing') and status in ('open', 'completed')`,
  ],
  [
    'a word in a range and in trades',
    'search=sink&budget_min=60&categories=roofing,tiling',
    'search: "sink", budgetMin: 60, categories: ["roofing", "tiling"]',
    `${overlaps(60, null)} and category = 'roofing'`,
  ],
  ['blank texts, which ask for nothing', 'search=%20&category=&near_zip=', 'search: "", category: " "', 'true'],
  ['a common word', 'search=sink', 'search: "sink"', `title ilike '%sink%'`],
  ['a rare word', 'search=sink%2011', 'search: "sink 11"', `title ilike '%sink 11%'`],
  [
    'a word, a trade, states and what changed',
    `search=sink&category=roofing&statuses=open,awarded&updated_since=${SINCE}`,
    `search: "sink", category: "roofing", statuses: [OPEN, AWARDED], updatedSince: "${SINCE}"`,
    `category = 'roofing' and status in ('open', 'awarded') and updated_at >= '${SINCE}'`,
  ],
];

const READERS = ['owner', 'awardee', 'stranger', 'admin'] as const;

function seenBy(who: (typeof READERS)[number]): string {
  const { profileId } = people[who];
  if (who === 'admin') return 'true';
  if (who === 'owner') return `homeowner_id = '${profileId}'`;
  return (
    `(status = 'open' or exists (select from bids b where b.job_id = jobs.id and b.contractor_id ` +
    `= '${profileId}'))`
  );
}

async function byLinks(token: string, query: string, size: number): Promise<string[]> {
  const ids: string[] = [];
  for (let address: string | undefined = `/v1/jobs?per_page=${size}&${query}`; address;) {
    const { status, body, headers }: { status: number; body: Json; headers: Headers } = await app.rest('GET', address, {
      token,
    });
    expect([status, body.details]).toEqual([200, undefined]);
    ids.push(...body.data.map(({ id }: Json) => id));
    address = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return ids;
}

async function expectInEveryOrder(
  who: (typeof READERS)[number],
  [query, filter, where]: readonly [query: string, filter: string, where: string],
): Promise<void> {
  const { token } = people[who];
  for (const [order, inSql] of ordersOf(who)) {
    const expected = (
      await app.sql.unsafe(`select id from jobs where ${seenBy(who)} and ${where} order by ${inSql}`)
    ).map(({ id }) => String(id));
    const inOrder = `${query}&order_by=${order.toLowerCase()}`;
    expect(await byLinks(token, inOrder, 7), order).toEqual(expected);
    const second = await app.rest('GET', `/v1/jobs?${inOrder}&per_page=4&page=2`, { token });
    expect(second.body.data.map(({ id }: Json) => id)).toEqual(expected.slice(4, 8));
    expect(second.body.pagination.total).toBe(expected.length);
    const inGraphql = `orderBy: ${order}${filter && `, filter: { ${filter} }`}`;
    for (const size of ['first: 100', 'last: 100']) {
      const { data, errors } = await app.graphql(`{ jobs(${size}, ${inGraphql}) { totalCount nodes { id } } }`, {
        token,
      });
      expect(errors).toBeUndefined();
      expect(data.jobs).toEqual({ totalCount: expected.length, nodes: expected.map((id) => ({ id })) });
    }
  }
}

describe.each(READERS)('the %s', (who) => {
  test.each(FILTERS)('finds %s in every order, page by page, in both APIs', (_, ...filter) =>
    expectInEveryOrder(who, filter),
  );
});

describe('the jobs awarded to a contractor', () => {
  test.each(['admin', 'awardee'] as const)('are listed for the %s, with every other filter', async (who) => {
    const { profileId } = people.awardee;
    const [query, filter] = [`contractor_id=${profileId}`, `contractorId: "${profileId}"`];
    const where = `awarded_contractor_id = '${profileId}'`;
    await expectInEveryOrder(who, [query, filter, where]);
    await expectInEveryOrder(who, [
      `${query}&search=sink&category=roofing&statuses=awarded,completed`,
      `${filter}, search: "sink", category: "roofing", statuses: [AWARDED, COMPLETED]`,
      `${where} and category = 'roofing' and status in ('awarded', 'completed')`,
    ]);
  });

  test.each(['owner', 'bidder', 'stranger'] as const)(
    'are refused to the %s, even if the jobs are theirs',
    async (who) => {
      const { token } = people[who];
      const { status, body } = await app.rest('GET', `/v1/jobs?contractor_id=${people.awardee.profileId}`, { token });
      expect([status, body.details.code]).toEqual([403, 'FORBIDDEN']);
      const filter = `contractorId: "${people.awardee.profileId}"`;
      const { errors } = await app.graphql(`{ jobs(filter: { ${filter} }) { totalCount } }`, { token });
      expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    },
  );
});

describe("jobs that haven't moved for long", () => {
  const before = [`status_changed_before=${BEFORE}`, `statusChangedBefore: "${BEFORE}"`] as const;
  test.each([
    ['of all states', '', '', 'true'],
    [
      'of several states',
      '&statuses=draft,in_review',
      ', statuses: [DRAFT, IN_REVIEW]',
      `status in ('draft', 'in_review')`,
    ],
    [
      'of a trade and a state',
      '&category=roofing&status=open',
      ', category: "roofing", status: OPEN',
      `category = 'roofing' and status = 'open'`,
    ],
    ['that hold a word', '&search=sink%201', ', search: "sink 1"', `title ilike '%sink 1%'`],
  ])('are listed for an admin, %s', async (_, query, filter, where) => {
    await expectInEveryOrder('admin', [
      before[0] + query,
      before[1] + filter,
      `status_changed_at < '${BEFORE}' and ${where}`,
    ]);
  });

  test('belong to one homeowner, if an admin asks for these', async () => {
    const { profileId } = people.owner;
    const where = `status_changed_at < '${BEFORE}' and homeowner_id = '${profileId}'`;
    await expectInEveryOrder('admin', [
      `${before[0]}&homeowner_id=${profileId}`,
      `${before[1]}, homeownerId: "${profileId}"`,
      where,
    ]);
  });

  test.each(['owner', 'awardee', 'stranger'] as const)("aren't listed for the %s", async (who) => {
    const { token } = people[who];
    for (const query of [before[0], 'order_by=longest_unchanged']) {
      const { status, body } = await app.rest('GET', `/v1/jobs?${query}`, { token });
      expect([query, status, body.details.code]).toEqual([query, 403, 'FORBIDDEN']);
    }
    for (const list of [`filter: { ${before[1]} }`, 'orderBy: LONGEST_UNCHANGED']) {
      const { errors } = await app.graphql(`{ jobs(${list}) { totalCount } }`, { token });
      expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    }
  });

  test('move to the end of the list when published, but not when edited or bid on', async () => {
    const { owner, stranger, admin } = people;
    const category = 'waiting';
    const [first = '', second = ''] = [
      await callRest(app, 'create', { by: owner, body: { ...DRAFT, category } }),
      await callRest(app, 'create', { by: owner, body: { ...DRAFT, category } }),
    ].map(({ body }) => body.id as string);
    const listed = async () =>
      (await byLinks(admin.token, `order_by=longest_unchanged&category=${category}`, 100)).map((id) =>
        id === first ? 'first' : 'second',
      );
    const put = await app.rest('PUT', `/v1/jobs/${first}`, { token: owner.token, body: { title: 'Another' } });
    expect([put.body.title, await listed()]).toEqual(['Another', ['first', 'second']]);
    await callRest(app, 'publish', { by: owner, job: first });
    expect(await listed()).toEqual(['second', 'first']);
    await callRest(app, 'publish', { by: owner, job: second });
    expect(await listed()).toEqual(['first', 'second']);
    await callRest(app, 'submitBid', { by: stranger, job: first, body: { amount: 5 } });
    expect(await listed()).toEqual(['first', 'second']);
  });
});

test("without an order, the contractor's list is newest first", async () => {
  const { token } = people.awardee;
  expect(await byLinks(token, '', 100)).toEqual(await byLinks(token, 'order_by=newest', 100));
});

test.each(['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'])(
  "a time that the database can't store is refused: %s",
  async (moment) => {
    const { token } = people.owner;
    const byRest = await app.rest('GET', `/v1/jobs?updated_since=${encodeURIComponent(moment)}`, { token });
    expect([byRest.status, byRest.body.details.fields]).toEqual([
      400,
      { updated_since: 'must be in the years 1 to 9999' },
    ]);
    const query = `{ jobs(filter: { updatedSince: "${moment}" }) { totalCount } }`;
    const byGraphql = await app.graphql(query, { token });
    expect(byGraphql.errors?.[0]?.extensions.fields).toEqual({ updatedSince: 'must be in the years 1 to 9999' });
    const key = await app.rest('POST', '/v1/api-keys', { token, body: { name: 'A', expires_at: moment } });
    expect([key.status, key.body.details.code]).toEqual([400, 'VALIDATION_FAILED']);
  },
);

const NOT_BOTH = { status: 'can’t be combined with several statuses' };
const REFUSED: [query: string, filter: string | undefined, fields: Record<string, string>][] = [
  ['status=open&statuses=draft', 'status: OPEN, statuses: [DRAFT]', NOT_BOTH],
  ['statuses=open,lost', undefined, { 'statuses.1': expect.stringMatching(/^must be one of draft, open/) }],
  ['status=open&status=lost', undefined, { 'statuses.1': expect.stringMatching(/^must be one of draft, open/) }],
  [
    'category=plumbing&categories=roofing',
    'category: "plumbing", categories: ["roofing"]',
    { category: 'can’t be combined with several categories' },
  ],
  ['categories=roofing&category=plumbing', undefined, { category: 'can’t be combined with several categories' }],
  ['categories=roofing,,plumbing', 'categories: ["roofing", ""]', { 'categories.1': 'must not be blank' }],
  ['categories=', 'categories: []', { 'categories.0': 'must not be blank' }],
  [
    `categories=${Array(21).fill('a').join()}`,
    `categories: ${JSON.stringify(Array(21).fill('a'))}`,
    { categories: 'must have at most 20 entries' },
  ],
  [
    'budget_min=5&budget_max=4',
    'budgetMin: 5, budgetMax: 4',
    {
      budget_min: 'must not be greater than the maximum budget',
      budget_max: 'must not be less than the minimum budget',
    },
  ],
  [
    'budget_min=-1&budget_max=0.001&status=open&statuses=draft',
    'budgetMin: -1, budgetMax: 0.001',
    { ...NOT_BOTH, budget_min: 'must be at least 0', budget_max: 'must have at most two decimal places' },
  ],
  ['updated_since=yesterday', 'updatedSince: "yesterday"', { updated_since: expect.stringContaining('time zone') }],
  [
    'order_by=best',
    undefined,
    { order_by: 'must be one of newest, oldest, recently_updated, highest_budget, longest_unchanged, nearest' },
  ],
  ['order_by=nearest', undefined, { order_by: 'requires a place and a distance in miles' }],
  [
    'order_by=nearest&near_zip=78701&within_miles=101',
    undefined,
    { within_miles: 'must be at most 100 when you sort by distance' },
  ],
  [
    'status_changed_before=long%20ago',
    'statusChangedBefore: "long ago"',
    { status_changed_before: expect.stringContaining('time zone') },
  ],
  ['near_zip=78701', undefined, { within_miles: 'is required with a place' }],
  [
    'near_city=Austin&within_miles=9000',
    undefined,
    { near_state: 'is required with a city', within_miles: 'must be at most 500' },
  ],
  ['near_zip=00000&within_miles=5', undefined, { near_zip: 'isn’t a ZIP code we recognize' }],
  [
    'near_city=Nowhere&near_state=TX&within_miles=5',
    undefined,
    { near_city: 'isn’t a city we recognize in that state' },
  ],
  [
    'within_miles=5&status=open&statuses=draft&per_page=0',
    undefined,
    { ...NOT_BOTH, near_zip: 'is required, unless you send a city and its state', per_page: 'must be 1 to 100' },
  ],
];

test.each(REFUSED)('?%s fails with all of its problems', async (query, filter, fields) => {
  const { token } = people.admin;
  const { status, body } = await app.rest('GET', `/v1/jobs?${query}`, { token });
  expect([status, body.details.code, body.details.fields]).toEqual([400, 'VALIDATION_FAILED', fields]);
  if (filter === undefined) return;
  const { errors } = await app.graphql(`{ jobs(filter: { ${filter} }) { totalCount } }`, { token });
  expect(errors?.[0]?.extensions.code).toBe('VALIDATION_FAILED');
});

test('a radius out of range is one mistake, even with the nearest first', async () => {
  const { errors } = await app.graphql(
    '{ jobs(orderBy: NEAREST, filter: { near: { zipCode: "78701", withinMiles: 501 } }) { totalCount } }',
    { token: people.admin.token },
  );
  expect(Object.keys(errors?.[0]?.extensions.fields)).toEqual(['near.withinMiles']);
});

test('jobs near a place are found by ZIP code and by city, in both APIs', async () => {
  const { owner, stranger } = people;
  const titles = ['Near the river', 'Far away'];
  for (const [at, [zip_code, city, state]] of [
    ['78701', 'Austin', 'TX'],
    ['60601', 'Chicago', 'IL'],
  ].entries()) {
    const body = { title: titles[at], description: 'A', category: 'near', urgency: 'standard', address_line1: '1' };
    const made = await callRest(app, 'create', { by: owner, body: { ...body, zip_code, city, state } });
    await app.sql`update jobs set status = 'open' where id = ${made.body.id}`;
  }
  const { token } = stranger;
  for (const query of ['near_zip=78702&within_miles=20', 'near_city=Austin&near_state=TX&within_miles=10']) {
    const { body } = await app.rest('GET', `/v1/jobs?category=near&${query}`, { token });
    expect(body.data.map(({ title }: Json) => title)).toEqual([titles[0]]);
  }
  for (const near of ['zipCode: "60601"', 'city: "Chicago", state: "IL"'])
    for (const order of Object.keys(ORDERS)) {
      const { data } = await app.graphql(
        `{ jobs(filter: { category: "near", near: ` +
          `{ ${near}, withinMiles: 25 } }, orderBy: ${order}) { nodes { title } } }`,
        { token },
      );
      expect(data.jobs.nodes).toEqual([{ title: titles[1] }]);
    }
});

describe('the distance of jobs from a place', () => {
  const category = 'measured';
  const PLACES = ['San Marcos', 'Austin', 'Round Rock', 'San Marcos', 'Chicago'] as const;
  /** From Austin. Of jobs at equal distances, the newest comes first. */
  const NEAREST_FIRST = [1, 2, 3, 0];
  let ids: string[];
  let nearest: { id: string; distance: number }[];

  beforeAll(async () => {
    const made: string[] = [];
    for (const city of PLACES) {
      const body = { ...DRAFT, category, city, state: city === 'Chicago' ? 'IL' : 'TX', zip_code: '99501' };
      const { id } = (await callRest(app, 'create', { by: people.owner, body })).body;
      await app.sql`update jobs set status = 'open' where id = ${id}`;
      made.push(id);
    }
    ids = await putInOrder(made);
    const towns = await app.sql<{ id: string; x: number; y: number }[]>`
      select job_id as id, town[0] as x, town[1] as y from job_search where job_id in ${app.sql(ids)}`;
    const townOf = (at: number) => towns.find(({ id }) => id === ids[at])!;
    nearest = NEAREST_FIRST.map((at) => {
      const miles = milesBetween(townOf(1), townOf(at));
      return { id: ids[at]!, distance: Math.round(miles * 10) / 10 };
    });
  });

  const place = 'near: { city: "Austin", state: "TX", withinMiles: 60 }';
  const query = 'near_city=Austin&near_state=TX&within_miles=60';

  test('is measured between the centers of the towns, whatever the address', () => {
    const [austin = 0, roundRock = 0, ...sanMarcos] = nearest.map(({ distance }) => distance);
    expect([austin, new Set(sanMarcos).size]).toEqual([0, 1]);
    expect([roundRock > 10 && roundRock < 25, sanMarcos[0]! > 25 && sanMarcos[0]! < 40]).toEqual([true, true]);
  });

  test.each(['stranger', 'owner', 'admin'] as const)('is the order in which the %s reads them', async (who) => {
    const { token } = people[who];
    expect(await byLinks(token, `category=${category}&order_by=nearest&${query}`, 2)).toEqual(
      nearest.map(({ id }) => id),
    );
    const read = async (page: string) => {
      const filter = `filter: { category: "${category}", ${place} }, orderBy: NEAREST`;
      const { data, errors } = await app.graphql(
        `{ jobs(${filter}, ${page}) { totalCount pageInfo { startCursor } edges { distance node { id } } } }`,
        { token },
      );
      expect([errors, data.jobs.totalCount]).toEqual([undefined, 4]);
      return {
        before: data.jobs.pageInfo.startCursor as string,
        jobs: data.jobs.edges.map(({ distance, node }: Json) => ({ id: node.id, distance })) as typeof nearest,
      };
    };
    expect((await read('first: 10')).jobs).toEqual(nearest);
    const { before, jobs } = await read('last: 1');
    expect([...(await read(`last: 3, before: "${before}"`)).jobs, ...jobs]).toEqual(nearest);
  });

  test('is part of each job in a list with a place, in any order, and nowhere else', async () => {
    const { token } = people.stranger;
    const list = async (more: string): Promise<typeof nearest> =>
      (await app.rest('GET', `/v1/jobs?category=${category}${more}`, { token })).body.data;
    const oldestFirst = await list(`&${query}&order_by=oldest`);
    expect(oldestFirst.map(({ id, distance }) => ({ id, distance }))).toEqual(
      nearest.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id)),
    );
    expect((await list('')).map(({ distance }) => distance)).toEqual(PLACES.map(() => null));
    expect((await app.rest('GET', `/v1/jobs/${ids[0]}`, { token })).body).not.toHaveProperty('distance');
    const { data } = await app.graphql('{ jobs(first: 1) { edges { distance } } }', { token });
    expect(data.jobs.edges).toEqual([{ distance: null }]);
    const made = await app.graphql(
      'mutation { createJob(input: { title: "A", description: "B" }) { jobEdge { distance } } }',
      { token: people.owner.token },
    );
    expect([made.errors, made.data.createJob.jobEdge]).toEqual([undefined, { distance: null }]);
  });

  test("isn't an order without a place, or with a radius of more than a hundred miles", async () => {
    for (const [filter, fields] of [
      ['', { orderBy: expect.stringContaining('place') }],
      [`filter: { ${place.replace('60', '101')} }, `, { 'near.withinMiles': expect.stringContaining('at most 100') }],
    ] as const) {
      const { errors } = await app.graphql(`{ jobs(${filter}orderBy: NEAREST) { totalCount } }`, {
        token: people.stranger.token,
      });
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'VALIDATION_FAILED', fields });
    }
  });
});

/** Gives jobs identifiers in the order of their creation. Identifiers from the same second have no order. */
async function putInOrder(made: readonly string[]): Promise<string[]> {
  const ordered = made.map((id, at) => `${made[0]!.slice(0, 8)}${at}${id.slice(9)}`);
  await app.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const [at, id] of made.entries()) {
      await tx`update jobs set id = ${ordered[at]!}, created_at = created_at + ${at} * interval '1 second'
        where id = ${id}`;
      for (const table of ['events', 'job_search', 'open_job_search'])
        await tx`update ${tx(table)} set job_id = ${ordered[at]!} where job_id = ${id}`;
    }
    await tx`update job_search set created_at = jobs.created_at from jobs where jobs.id = job_id`;
    await tx`update open_job_search set created_at = jobs.created_at from jobs where jobs.id = job_id`;
  });
  return ordered;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Uses the angle between two directions from the Earth's center. */
function milesBetween(one: Point, other: Point): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const [here, there] = [radians(one.y), radians(other.y)];
  const cosine =
    Math.sin(here) * Math.sin(there) + Math.cos(here) * Math.cos(there) * Math.cos(radians(other.x - one.x));
  return 3958.8 * Math.acos(Math.min(1, cosine));
}

test("one order's cursor is refused by the others, but newest and oldest share theirs", async () => {
  const orders = Object.keys(ADMINS_ORDERS);
  const ask = (order: string, after = '') =>
    app.graphql(`{ jobs(orderBy: ${order}, first: 2${after && `, after: "${after}"`}) { pageInfo { endCursor } } }`, {
      token: people.admin.token,
    });
  for (const from of orders) {
    const { endCursor } = (await ask(from)).data.jobs.pageInfo;
    const taken: string[] = [];
    for (const by of orders) {
      const { errors } = await ask(by, endCursor);
      if (errors)
        expect(errors[0]?.extensions).toMatchObject({
          code: 'VALIDATION_FAILED',
          fields: { after: expect.any(String) },
        });
      else taken.push(by);
    }
    expect(taken).toEqual(['NEWEST', 'OLDEST'].includes(from) ? ['NEWEST', 'OLDEST'] : [from]);
  }
});

/** The directory of contractors, through both APIs: its entries, order, pages, and hidden fields. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { callRest } from '../../../story/calls.js';
import { admin, contractor, homeowner, type Person } from '../../../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { DRAFT, giveTokens } from '../../../story/journey.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';

interface Given {
  readonly name: string;
  readonly company: string | null;
  readonly profile: object;
  readonly verified?: true;
  /** Completed jobs, the number of ratings, and their sum. */
  readonly record?: readonly [completed: number, ratings: number, sum: number];
}

/** In the order in which they joined. */
const GIVEN: readonly Given[] = [
  { name: 'Ada', company: 'Roof & Sons', profile: { specialties: ['Roofing', 'gutters'], service_areas: ['Austin'] } },
  {
    name: 'Bob',
    company: '100% Pipes',
    profile: { specialties: ['plumbing'], service_areas: ['Round Rock, TX'], bio: 'We mend ROOF leaks too.' },
    verified: true,
    record: [9, 2, 9],
  },
  { name: 'Cleo', company: null, profile: { specialties: ['roofing'], service_areas: ['austin'] }, record: [9, 4, 18] },
  { name: 'Dan', company: 'Dan_s', profile: { specialties: [], bio: 'Nothing special.' }, record: [12, 3, 8] },
  { name: 'Eve', company: 'Eve’s', profile: { service_areas: ['Austin'] }, verified: true, record: [0, 1, 5] },
];

let app: TestApp;
let hanna: Person;
let ada: Person;
let carls: Person[];

beforeAll(async () => {
  app = await openTestApp();
  [hanna, ada] = await Promise.all([homeowner(app, 'Hanna'), admin(app)]);
  carls = [];
  for (const { name, company, profile, verified, record } of GIVEN) {
    const person = await contractor(app, name, { company_name: company });
    carls.push(person);
    const secret = { license_number: `L-${name}`, insurance_policy_number: `P-${name}` };
    const body = { user: { phone: '1' }, contractor: { ...profile, ...secret } };
    expect((await app.rest('PUT', '/v1/me', { token: person.token, body })).status).toBe(200);
    if (verified) await app.rest('POST', `/v1/contractors/${person.profileId}/verify`, { token: ada.token });
    const [completed, ratings, sum] = record ?? [0, 0, 0];
    await app.sql`update contractors set completed_jobs = ${completed}, rating_count = ${ratings}, rating_sum = ${sum}
      where id = ${person.profileId}`;
  }
});
afterAll(() => app.close());

const nameOf = (id: string) => GIVEN[carls.findIndex(({ profileId }) => profileId === id)]?.name ?? id;

/** The names that both APIs find, in pages of two. Also checks the total count. */
async function found(query: string, filter: string, orderBy?: string): Promise<string[]> {
  const byNumber: string[] = [];
  for (let page = 1, more = true; more; page += 1) {
    const order = orderBy ? `&order_by=${orderBy.toLowerCase()}` : '';
    const { status, body } = await app.rest('GET', `/v1/contractors?per_page=2&page=${page}&${query}${order}`, {
      token: hanna.token,
    });
    expect([status, body.details]).toEqual([200, undefined]);
    byNumber.push(...body.data.map(({ id }: Json) => nameOf(id)));
    more = page < body.pagination.total_pages;
    if (!more) expect(byNumber).toHaveLength(body.pagination.total);
  }
  const byCursor: string[] = [];
  for (let after: string | null = null, more = true; more;) {
    const { data, errors } = await app.graphql(
      `query ($after: String) { contractors(first: 2, after: $after,
        filter: { ${filter} }${orderBy ? `, orderBy: ${orderBy}` : ''}) {
        totalCount nodes { id } pageInfo { hasNextPage endCursor } } }`,
      { token: hanna.token, variables: { after } },
    );
    expect(errors).toBeUndefined();
    const { nodes, pageInfo, totalCount } = data.contractors;
    byCursor.push(...nodes.map(({ id }: Json) => nameOf(id)));
    ({ endCursor: after, hasNextPage: more } = pageInfo);
    if (!more) expect(byCursor).toHaveLength(totalCount);
  }
  expect(byNumber).toEqual(byCursor);
  return byCursor;
}

test.each([
  ['NEWEST', ['Eve', 'Dan', 'Cleo', 'Bob', 'Ada']],
  ['BEST_RATED', ['Eve', 'Cleo', 'Bob', 'Dan', 'Ada']],
  ['MOST_COMPLETED', ['Dan', 'Cleo', 'Bob', 'Eve', 'Ada']],
])('%s first is the same in both APIs, page by page', async (orderBy, names) => {
  expect(await found('', '', orderBy)).toEqual(names);
});

test.each([
  ['', '', ['Eve', 'Dan', 'Cleo', 'Bob', 'Ada']],
  ['search=ROOF', 'search: "ROOF"', ['Bob', 'Ada']],
  ['search=%25', 'search: "%"', ['Bob']],
  ['search=_', 'search: "_"', ['Dan']],
  ['search=%20', 'search: " "', ['Eve', 'Dan', 'Cleo', 'Bob', 'Ada']],
  ['search=roofing', 'search: "roofing"', []],
  ['search=cleo+o', 'search: "cleo o"', ['Cleo']],
  ['search=of+TEST', 'search: "of TEST"', ['Eve', 'Dan', 'Cleo', 'Bob', 'Ada']],
  ['search=example.test', 'search: "example.test"', []],
  ['search=testRoof', 'search: "testRoof"', []],
  ['specialty=ROOFING', 'specialty: "ROOFING"', ['Cleo', 'Ada']],
  ['specialty=roof', 'specialty: "roof"', []],
  ['service_area=Austin', 'serviceArea: "Austin"', ['Eve', 'Cleo', 'Ada']],
  ['service_area=round+rock,+tx', 'serviceArea: "round rock, tx"', ['Bob']],
  ['verified=true', 'verified: true', ['Eve', 'Bob']],
  ['verified=false', 'verified: false', ['Dan', 'Cleo', 'Ada']],
  ['service_area=austin&specialty=roofing', 'serviceArea: "austin", specialty: "roofing"', ['Cleo', 'Ada']],
  ['service_area=austin&verified=true', 'serviceArea: "austin", verified: true', ['Eve']],
])('a search for “%s” finds them, newest first', async (query, filter, names) => {
  expect(await found(query, filter)).toEqual(names);
});

test('a person who changes their name is found by the new name, and no longer by the former', async () => {
  const rename = async (name: string) => {
    const body = { user: { first_name: name }, contractor: { company_name: 'Dan_s' } };
    expect((await app.rest('PUT', '/v1/me', { token: carls[3]!.token, body })).status).toBe(200);
  };
  await rename('Daniela');
  expect(await found('search=DANIELA', 'search: "DANIELA"')).toEqual(['Dan']);
  await rename('Dan');
  expect(await found('search=DANIELA', 'search: "DANIELA"')).toEqual([]);
});

test.each(['NEWEST', 'BEST_RATED', 'MOST_COMPLETED'])(
  'a rare term is found by its index, %s first, and matches a check of every row',
  async (orderBy) => {
    // More rows than the query tries in the list's order before it uses the index.
    await app.sql.begin(async (tx) => {
      await tx`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code, created_at)
        select 'usr_' || lpad(n::text, 27, '0'), 'n' || n || '@example.test', 'contractor', 'N', 'N', 'x', 'N' || n,
          now() + interval '1 day'
        from generate_series(1, 1200) n on conflict do nothing`;
      await tx`insert into contractors (id, user_id, company_name, rating_count, rating_sum, completed_jobs, created_at)
        select 'ctr_' || lpad(n::text, 27, '0'), 'usr_' || lpad(n::text, 27, '0'), 'Crowd', 1, 5, 20,
          now() + interval '1 day'
        from generate_series(1, 1200) n on conflict do nothing`;
    });
    expect(await found('specialty=roofing', 'specialty: "roofing"', orderBy)).toEqual(['Cleo', 'Ada']);
    const last = await app.rest('GET', `/v1/contractors?page=13&per_page=100&order_by=${orderBy.toLowerCase()}`, {
      token: hanna.token,
    });
    expect(last.body.data.map(({ id }: Json) => nameOf(id)).slice(-1)).toEqual(['Ada']);
    await app.sql`delete from contractors where company_name = 'Crowd'`;
  },
);

describe('private fields', () => {
  const ASK = '{ contractors(first: 100) { nodes { id licenseNumber insurancePolicyNumber user { email phone } } } }';

  async function shown(reader: Person, of: Person): Promise<unknown[]> {
    const { data } = await app.graphql(ASK, { token: reader.token });
    const node = data.contractors.nodes.find(({ id }: Json) => id === of.profileId);
    const { body } = await app.rest('GET', '/v1/contractors?per_page=100', { token: reader.token });
    const row = body.data.find(({ id }: Json) => id === of.profileId);
    expect([row.license_number, row.insurance_policy_number]).toEqual([node.licenseNumber, node.insurancePolicyNumber]);
    return [node.licenseNumber, node.insurancePolicyNumber, node.user.email, node.user.phone];
  }

  it('are for the contractor and admins, and for a homeowner what the bid and its award reveal', async () => {
    const [, bob] = carls as [Person, Person];
    const all = ['L-Bob', 'P-Bob', bob.email, '1'];
    expect(await shown(bob, bob)).toEqual(all);
    expect(await shown(ada, bob)).toEqual(all);
    expect(await shown(carls[0]!, bob)).toEqual([null, null, null, null]);
    expect(await shown(hanna, bob)).toEqual([null, null, null, null]);

    await giveTokens(app, ada, hanna, 100);
    const { body: job } = await callRest(app, 'create', { by: hanna, body: DRAFT });
    await callRest(app, 'publish', { by: hanna, job: job.id });
    const { body: bid } = await callRest(app, 'submitBid', { by: bob, job: job.id, body: { amount: 10 } });
    expect(await shown(hanna, bob)).toEqual(['L-Bob', 'P-Bob', null, null]);
    await callRest(app, 'award', { by: hanna, job: job.id, body: { bid_id: bid.id } });
    expect(await shown(hanna, bob)).toEqual(all);
  });
});

describe('an invalid request', () => {
  test.each([
    ['order_by=dearest', 'order_by', undefined],
    ['verified=perhaps', 'verified', undefined],
    ['search=%00', 'search', 'filter: { search: "\\u0000" }'],
    [`specialty=${'x'.repeat(101)}`, 'specialty', `filter: { specialty: "${'x'.repeat(101)}" }`],
    ['after=nonsense', 'after', 'after: "nonsense"'],
    ['per_page=101', 'per_page', undefined],
    ['near=Austin', 'near', undefined],
  ])('with “%s” is refused by the directory', async (query, field, inGraphql) => {
    expect(byRest(await app.rest('GET', `/v1/contractors?${query}`, { token: hanna.token }))).toEqual(invalid(field));
    if (inGraphql === undefined) return;
    const answer = await app.graphql(`{ contractors(${inGraphql}) { totalCount } }`, { token: hanna.token });
    expect(byGraphql(answer)).toEqual(invalid(field));
  });

  it("with one order's cursor is refused by another order", async () => {
    const cursorIn = async (orderBy: string): Promise<string> =>
      (
        await app.graphql(`{ contractors(first: 1, orderBy: ${orderBy}) { pageInfo { endCursor } } }`, {
          token: hanna.token,
        })
      ).data.contractors.pageInfo.endCursor;
    const ORDERS = ['NEWEST', 'BEST_RATED', 'MOST_COMPLETED'];
    for (const from of ORDERS) {
      const after = await cursorIn(from);
      for (const to of ORDERS) {
        const answer = await app.rest('GET', `/v1/contractors?order_by=${to.toLowerCase()}&after=${after}`, {
          token: hanna.token,
        });
        expect([from, to, answer.status]).toEqual([from, to, from === to ? 200 : 400]);
      }
    }
  });

  it('without a token is refused', async () => {
    expect((await app.rest('GET', '/v1/contractors')).status).toBe(401);
    const { data, errors } = await app.graphql('{ contractors { totalCount } }');
    expect([data, errors?.[0]?.extensions.code]).toEqual([{ contractors: null }, 'UNAUTHENTICATED']);
  });
});

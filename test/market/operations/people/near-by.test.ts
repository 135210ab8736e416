/** Contractors near a place, through both APIs: matching service areas, distances, and order. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { admin, contractor, type Person } from '../../../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';

/** In the order in which they joined. */
const AREAS = {
  Ava: ['78704'],
  Ben: ['AUSTIN, tx', 'Nowhere, TX'],
  Cal: ['San Antonio, TX', 'Round Rock, TX'],
  Dee: ['Austin', 'Austin, Texas', 'all of 78704'],
  Eli: ['St. Louis, MO'],
  Fay: ['Saint Louis, MO'],
} as const;

let app: TestApp;
let ada: Person;
const people: Record<string, Person> = {};

beforeAll(async () => {
  app = await openTestApp();
  ada = await admin(app);
  for (const [name, areas] of Object.entries(AREAS)) {
    const person = (people[name] = await contractor(app, name));
    const body = { contractor: { service_areas: areas, specialties: ['roofing'] } };
    expect((await app.rest('PUT', '/v1/me', { token: person.token, body })).status).toBe(200);
  }
  for (const [at, name] of ['Ava', 'Ben', 'Cal'].entries())
    await app.sql`update contractors set completed_jobs = ${at}, rating_count = 1, rating_sum = ${3 + at}
      where id = ${people[name]!.profileId}`;
});
afterAll(() => app.close());

type Found = readonly [name: string, distance: number | null];

const nameOf = (id: string) => Object.entries(people).find(([, { profileId }]) => profileId === id)?.[0] ?? id;

async function byGraphqlFrom(end: 'first' | 'last', filter: string, orderBy: string, size = 1): Promise<Found[]> {
  const found: Found[] = [];
  const [cursor, more] = end === 'first' ? ['after', 'hasNextPage'] : ['before', 'hasPreviousPage'];
  for (let at: string | null = null, isMore = true; isMore;) {
    const { data, errors } = await app.graphql(
      `query ($at: String) { contractors(${end}: ${size}, ${cursor}: $at, orderBy: ${orderBy}, filter: { ${filter} }) {
        totalCount edges { distance cursor node { id } } pageInfo { ${more} } } }`,
      { token: ada.token, variables: { at } },
    );
    expect(errors).toBeUndefined();
    const { edges, pageInfo, totalCount } = data.contractors;
    const page = edges.map(({ node, distance }: Json) => [nameOf(node.id), distance] as const);
    if (end === 'first') found.push(...page);
    else found.unshift(...page);
    at = edges.at(end === 'first' ? -1 : 0)?.cursor ?? null;
    isMore = pageInfo[more!];
    if (!isMore) expect(found).toHaveLength(totalCount);
  }
  return found;
}

async function byRestPages(query: string, orderBy: string): Promise<Found[]> {
  const found: Found[] = [];
  let path: string | undefined = `/v1/contractors?per_page=2&order_by=${orderBy.toLowerCase()}&${query}`;
  while (path !== undefined) {
    const { status, headers, body }: Awaited<ReturnType<TestApp['rest']>> = await app.rest('GET', path, {
      token: ada.token,
    });
    expect(status).toBe(200);
    found.push(...body.data.map(({ id, distance }: Json) => [nameOf(id), distance] as const));
    path = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    if (path === undefined) expect(found).toHaveLength(body.pagination.total);
  }
  return found;
}

/** Reads page by page from both ends, and checks that the lists match. */
async function found(query: string, filter: string, orderBy = 'NEAREST'): Promise<Found[]> {
  const forwards = await byGraphqlFrom('first', filter, orderBy);
  expect(await byGraphqlFrom('last', filter, orderBy)).toEqual(forwards);
  expect(await byGraphqlFrom('first', filter, orderBy, 100)).toEqual(forwards);
  expect(await byRestPages(query, orderBy)).toEqual(forwards);
  return forwards;
}

const names = (list: readonly Found[]) => list.map(([name]) => name);

const IN_AUSTIN = ['near_zip=78704&within_miles=100', 'near: { zipCode: "78704", withinMiles: 100 }'] as const;

describe('Near Austin', () => {
  it('contractors are found by ZIP code, or by city and state, nearest first', async () => {
    const list = await found(...IN_AUSTIN);
    expect(names(list)).toEqual(['Ava', 'Ben', 'Cal']);
    const [[, ava], [, ben], [, cal]] = list as [Found, Found, Found];
    expect(ava).toBe(0);
    expect(ben).toBeGreaterThan(0);
    expect(ben).toBeLessThan(12);
    // San Antonio is about seventy miles away. Only the nearest of their areas counts.
    expect(cal).toBeGreaterThan(12);
    expect(cal).toBeLessThan(25);
    for (const [, distance] of list) expect(distance).toBe(Math.round(distance! * 10) / 10);
  });

  it('those farther away than requested are left out', async () => {
    const within = (miles: number) =>
      found(
        `near_city=austin&near_state=TX&within_miles=${miles}`,
        `near: { city: "austin", state: "TX", withinMiles: ${miles} }`,
      );
    expect(names(await within(1))).toEqual(['Ben']);
    expect(names(await within(12))).toEqual(['Ben', 'Ava']);
    expect(names(await within(100))).toEqual(['Ben', 'Ava', 'Cal']);
  });

  test.each(['NEWEST', 'BEST_RATED', 'MOST_COMPLETED'])(
    'they are listed in the order %s, with their distance',
    async (order) => {
      const [nearest, inOrder] = [await found(...IN_AUSTIN), await found(...IN_AUSTIN, order)];
      expect(inOrder).toEqual(nearest.toReversed());
    },
  );

  it('every other filter also applies', async () => {
    await app.rest('POST', `/v1/contractors/${people.Ben!.profileId}/verify`, { token: ada.token });
    const and = (query: string, filter: string) => found(`${IN_AUSTIN[0]}&${query}`, `${IN_AUSTIN[1]}, ${filter}`);
    expect(names(await and('verified=true', 'verified: true'))).toEqual(['Ben']);
    expect(names(await and('search=cal+of', 'search: "cal of"'))).toEqual(['Cal']);
    expect(names(await and('specialty=ROOFING', 'specialty: "ROOFING"'))).toEqual(['Ava', 'Ben', 'Cal']);
    expect(names(await and('service_area=round+rock,+tx', 'serviceArea: "round rock, tx"'))).toEqual(['Cal']);
  });
});

it('among equally near contractors, the best rated comes first, and then the newest', async () => {
  const inSaintLouis = () =>
    found(
      'near_city=St.+Louis&near_state=MO&within_miles=5',
      'near: { city: "St. Louis", state: "MO", withinMiles: 5 }',
    );
  expect(await inSaintLouis()).toEqual([
    ['Fay', 0],
    ['Eli', 0],
  ]);
  await app.sql`update contractors set rating_count = 1, rating_sum = 5 where id = ${people.Eli!.profileId}`;
  expect(names(await inSaintLouis())).toEqual(['Eli', 'Fay']);
});

it('without a place, nobody has a distance', async () => {
  for (const list of [await byGraphqlFrom('first', '', 'NEWEST', 100), await byRestPages('', 'NEWEST')])
    expect(new Set(list.map(([, distance]) => distance))).toEqual(new Set([null]));
});

describe('an invalid request', () => {
  test.each([
    [
      'near_zip=78704&within_miles=101',
      'within_miles',
      'near: { zipCode: "78704", withinMiles: 101 }',
      'near.within_miles',
    ],
    [
      'near_zip=78704&within_miles=0',
      'within_miles',
      'near: { zipCode: "78704", withinMiles: 0 }',
      'near.within_miles',
    ],
    ['near_zip=78704', 'within_miles', undefined, undefined],
    ['within_miles=5', 'near_zip', 'near: { withinMiles: 5 }', 'near.zip_code'],
    ['near_zip=00000&within_miles=5', 'near_zip', 'near: { zipCode: "00000", withinMiles: 5 }', 'near.zip_code'],
    ['near_city=Austin&within_miles=5', 'near_state', 'near: { city: "Austin", withinMiles: 5 }', 'near.state'],
  ])("with “%s” doesn't name a place", async (query, field, filter, inGraphql) => {
    expect(byRest(await app.rest('GET', `/v1/contractors?${query}`, { token: ada.token }))).toEqual(invalid(field));
    if (filter === undefined) return;
    const answer = await app.graphql(`{ contractors(filter: { ${filter} }) { totalCount } }`, { token: ada.token });
    expect(byGraphql(answer)).toEqual(invalid(inGraphql));
  });

  it('with too many miles is told the maximum', async () => {
    const { body } = await app.rest('GET', '/v1/contractors?near_zip=78704&within_miles=500', { token: ada.token });
    expect(body.details.fields.within_miles).toBe('must be at most 100');
  });

  it('by distance without a place is refused', async () => {
    const rest = await app.rest('GET', '/v1/contractors?order_by=nearest', { token: ada.token });
    expect(byRest(rest)).toEqual(invalid('order_by'));
    const graphql = await app.graphql('{ contractors(orderBy: NEAREST) { totalCount } }', { token: ada.token });
    expect(byGraphql(graphql)).toEqual(invalid('order_by'));
  });

  it("with another order's cursor is refused", async () => {
    const near = IN_AUSTIN[1];
    const ORDERS = ['NEWEST', 'BEST_RATED', 'MOST_COMPLETED', 'NEAREST'];
    for (const from of ORDERS) {
      const list = `contractors(first: 1, orderBy: ${from}, filter: { ${near} })`;
      const { data } = await app.graphql(`{ ${list} { pageInfo { endCursor } } }`, { token: ada.token });
      for (const to of ORDERS) {
        const { errors } = await app.graphql(
          `query ($after: String) { contractors(after: $after, orderBy: ${to}, filter: { ${near} }) { totalCount } }`,
          { token: ada.token, variables: { after: data.contractors.pageInfo.endCursor } },
        );
        expect([from, to, errors === undefined]).toEqual([from, to, from === to]);
      }
    }
  });
});

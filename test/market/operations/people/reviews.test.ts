/** Homeowners' reviews of contractors, as any signed-in user reads them through both APIs, from any position. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { callRest } from '../../../story/calls.js';
import { homeowner, type Person } from '../../../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { gather, givenJob, type People } from '../../../story/journey.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';

const SAID = [
  { rating: 5, review: 'Quick and clean.' },
  { rating: 3 },
  { review: 'The roof holds.' },
  { rating: 1, review: 'It rains in again.\n\nTwice.' },
] as const;

/** A job approved without a rating, and a job that an admin completed. */
const UNSAID = [
  { rating: null, review: null },
  { rating: null, review: null },
];

let app: TestApp;
let people: People;
let zoe: Person;

beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  zoe = await homeowner(app, 'Zoe');
  for (const [at, body] of SAID.entries()) {
    const job = await givenJob(app, 'in_review', people, { fields: { category: at < 2 ? 'roofing' : 'gutters' } });
    expect((await callRest(app, 'approve', { by: people.owner, job: job.id, body })).status).toBe(200);
  }
  const silent = await givenJob(app, 'in_review', people);
  await callRest(app, 'approve', { by: people.owner, job: silent.id, body: {} });
  const ended = await givenJob(app, 'in_review', people);
  await callRest(app, 'complete', { by: people.admin, job: ended.id, body: { reason: 'Enough.' } });
});
afterAll(() => app.close());

const REVIEWS = `query ($id: ID!, $first: Int, $after: String) { contractor(id: $id) { completedJobs ratingCount
  reviews(first: $first, after: $after) {
  totalCount pageInfo { hasNextPage endCursor } nodes { id rating review category homeownerFirstName createdAt } } } }`;

/** Newest first, in REST's spelling. */
const EXPECTED = SAID.map((said, at) => ({
  id: expect.stringMatching(/^rev_/),
  rating: null,
  review: null,
  ...said,
  category: at < 2 ? 'roofing' : 'gutters',
  home: 'Olive',
})).toReversed();

test('each reader finds those with text, newest first, in both APIs', async () => {
  const path = `/v1/contractors/${people.awardee.profileId}/reviews`;
  for (const reader of [people.awardee, people.stranger, people.other, people.admin, zoe]) {
    const { status, body } = await app.rest('GET', path, { token: reader.token });
    expect([status, body.pagination.total]).toEqual([200, SAID.length]);
    expect(
      body.data.map(({ homeowner_first_name: home, created_at: _, ...rest }: Json) => ({ ...rest, home })),
    ).toEqual(EXPECTED);
    const { data, errors } = await app.graphql(REVIEWS, {
      token: reader.token,
      variables: { id: people.awardee.profileId },
    });
    expect(errors).toBeUndefined();
    const { reviews, ratingCount, completedJobs } = data.contractor;
    expect([reviews.totalCount, ratingCount, completedJobs]).toEqual([SAID.length, 3, 5]);
    expect(
      reviews.nodes.map(({ homeownerFirstName, createdAt, ...rest }: Json) => ({
        ...rest,
        homeowner_first_name: homeownerFirstName,
        created_at: createdAt,
      })),
    ).toEqual(body.data);
  }
});

test('the job has its review, for everyone who sees the job, in both APIs', async () => {
  const sorted = (rows: Json[]) => rows.map(({ rating, review }) => JSON.stringify([rating, review])).toSorted();
  const said = sorted([...SAID.map((one) => ({ rating: null, review: null, ...one })), ...UNSAID]);
  const query = '{ jobs(first: 50, filter: { status: COMPLETED }) { nodes { id rating review } } }';
  for (const { token } of [people.owner, people.awardee, people.bidder, people.admin]) {
    const { data, errors } = await app.graphql(query, { token });
    expect(errors).toBeUndefined();
    const { body } = await app.rest('GET', '/v1/jobs?status=completed&per_page=50', { token });
    expect([sorted(data.jobs.nodes), sorted(body.data)]).toEqual([said, said]);
    const { id, ...shown } = data.jobs.nodes[0];
    expect((await app.rest('GET', `/v1/jobs/${id}`, { token })).body).toMatchObject(shown);
  }
});

test("a review has the content of its approval's event, and its own identifier", async () => {
  const [newest] = (await app.rest('GET', `/v1/contractors/${people.awardee.profileId}/reviews`, { token: zoe.token }))
    .body.data;
  const [event] = await app.sql`select data, occurred_at from events
    where id = ${newest.id.replace('rev_', 'evt_')}`;
  expect(event?.data).toMatchObject({ rating: newest.rating, review: newest.review });
});

test('from any position, for many contractors together, each list continues correctly', async () => {
  const one = (await app.graphql(REVIEWS, { token: zoe.token, variables: { id: people.awardee.profileId, first: 2 } }))
    .data.contractor.reviews;
  expect([one.nodes.length, one.pageInfo.hasNextPage]).toEqual([2, true]);
  const { endCursor: after } = one.pageInfo;
  const { data } = await app.graphql(
    `query ($after: String) { contractors(first: 20) { nodes { id
      reviews(first: 5, after: $after) { totalCount pageInfo { hasNextPage hasPreviousPage } nodes { rating review } }
        } } }`,
    { token: zoe.token, variables: { after } },
  );
  const byId = new Map<string, Json>(data.contractors.nodes.map((node: Json) => [node.id, node.reviews]));
  expect(byId.get(people.awardee.profileId)).toEqual({
    totalCount: 4,
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
    nodes: [
      { rating: 3, review: null },
      { rating: 5, review: 'Quick and clean.' },
    ],
  });
  expect(byId.get(people.stranger.profileId)).toMatchObject({ totalCount: 0, nodes: [] });
  const next = await app.rest('GET', `/v1/contractors/${people.awardee.profileId}/reviews?after=${after}`, {
    token: zoe.token,
  });
  expect(next.body.data.map(({ rating }: Json) => rating)).toEqual([3, 5]);
});

test('a name that changes later is read as it is now', async () => {
  const body = { user: { first_name: 'Olivia' } };
  await app.rest('PUT', '/v1/me', { token: people.owner.token, body });
  const path = `/v1/contractors/${people.awardee.profileId}/reviews`;
  const read = await app.rest('GET', path, { token: zoe.token });
  expect(new Set(read.body.data.map((row: Json) => row.homeowner_first_name))).toEqual(new Set(['Olivia']));
});

test('a dry run of an approval leaves no review', async () => {
  const job = await givenJob(app, 'in_review', people);
  const counted = async () => (await app.sql`select count(*)::int as reviews from reviews`)[0]?.reviews;
  const before = await counted();
  const headers = { 'dry-run': 'true' };
  const { status } = await callRest(app, 'approve', { by: people.owner, job: job.id, body: { rating: 5 }, headers });
  expect([status, await counted()]).toEqual([200, before]);
});

describe('a refusal', () => {
  it('for an unknown contractor, a broken cursor, and a reader without a token', async () => {
    const path = (id: string, query = '') => `/v1/contractors/${id}/reviews${query}`;
    const { profileId } = people.awardee;
    for (const id of [newId('contractor'), people.owner.profileId, 'x']) {
      const refused = byRest(await app.rest('GET', path(id), { token: zoe.token }));
      expect(refused).toEqual({ status: 404, code: 'NOT_FOUND', fields: [] });
    }
    const broken = await app.rest('GET', path(profileId, '?after=x'), { token: zoe.token });
    expect(byRest(broken)).toEqual(invalid('after'));
    const variables = { id: profileId, after: 'x' };
    expect(byGraphql(await app.graphql(REVIEWS, { token: zoe.token, variables }))).toEqual(invalid('after'));
    expect((await app.rest('GET', path(profileId))).status).toBe(401);
  });

  it('for rewriting a review, even by the service itself', async () => {
    await expect(app.sql`update reviews set rating = 5`).rejects.toMatchObject({ code: '23001' });
    await expect(app.sql`delete from reviews`).rejects.toMatchObject({ code: '23001' });
  });
});

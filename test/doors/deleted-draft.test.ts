/** A draft that was thrown away is answered once more, with what hung on it: only its events are left. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestHouse, type TestHouse } from '../house.js';
import { gather, givenJob, type People } from '../journey.js';

let house: TestHouse;
let people: People;
beforeAll(async () => {
  house = await openTestHouse();
  people = await gather(house);
});
afterAll(() => house.close());

const DELETE = `mutation ($id: ID!) { deleteJob(id: $id) { job { id homeowner { id } myBid { id } awardedBid { id } dispute { reason }
  bids { totalCount nodes { id } } timeline(first: 1) { totalCount nodes { type } pageInfo { hasNextPage } } } } }`;

it('answers its homeowner, no bids, and what happened until it went', async () => {
  const { id } = await givenJob(house, 'draft', people);
  const { data, errors } = await house.graphql(DELETE, { token: people.owner.token, variables: { id } });
  expect(errors).toBeUndefined();
  expect(data.deleteJob.job).toEqual({
    id,
    homeowner: { id: expect.stringMatching(/^hmw_/) },
    myBid: null,
    awardedBid: null,
    dispute: null,
    bids: { totalCount: 0, nodes: [] },
    timeline: { totalCount: 2, nodes: [{ type: 'JOB_CREATED' }], pageInfo: { hasNextPage: true } },
  });
});

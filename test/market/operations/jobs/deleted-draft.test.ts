/** Deleting a draft returns it one last time, with everything attached to it. Only its events are left. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { gather, givenJob, type People } from '../../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

const DELETE = `mutation ($id: ID!) { deleteJob(id: $id) { job { id homeowner { id } myBid { id } awardedBid { id }
  dispute { reason }
  bids { totalCount nodes { id } } timeline(first: 1) { totalCount nodes { type } pageInfo { hasNextPage } } } } }`;

it('returns its homeowner, no bids, and its events until it was deleted', async () => {
  const { id } = await givenJob(app, 'draft', people);
  const { data, errors } = await app.graphql(DELETE, { token: people.owner.token, variables: { id } });
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

/** A job's events as each person reads them: who acted, by name, and the details in separate fields. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callRest, snake } from '../../../story/calls.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { gather, givenJob, type People } from '../../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

const DETAILS = ['bidId', 'rating', 'review', 'fields', 'tokensCharged', 'tokensRefunded'] as const;

const TIMELINE = `query ($id: ID!) { job(id: $id) { timeline(first: 100) { nodes {
  type actorId actor { id firstName lastName userType } ${DETAILS.join(' ')} data } } } }`;

async function read(id: string, who: keyof People): Promise<Record<string, Json>> {
  const { token } = people[who];
  const { data } = await app.graphql(TIMELINE, { token, variables: { id } });
  const { body } = await app.rest('GET', `/v1/jobs/${id}/events?per_page=100`, { token });
  const nodes: Json[] = data.job.timeline.nodes;
  expect(nodes.map(({ type }) => type)).toEqual(
    body.data.map(({ type }: Json) => type.toUpperCase().replaceAll('.', '_')),
  );
  for (const [at, node] of nodes.entries()) {
    const event = body.data[at];
    const { actor } = node;
    expect(event.actor).toEqual(
      actor && { id: actor.id, name: `${actor.firstName} ${actor.lastName}`, role: actor.userType.toLowerCase() },
    );
    for (const name of DETAILS)
      expect(event[snake(name)], name).toEqual(name === 'fields' ? (node.fields?.map(snake) ?? null) : node[name]);
  }
  return Object.fromEntries(nodes.map((node) => [node.type, node]));
}

test('an approved job shows its rating to everyone who sees it, and its cost to its owner', async () => {
  const { id, bids } = await givenJob(app, 'draft', people);
  const edited = await callRest(app, 'update', { by: people.owner, job: id, body: { budget_max: 900 } });
  expect([edited.status, bids]).toEqual([200, expect.anything()]);
  const owner = await read(id, 'owner');
  expect(owner.JOB_UPDATED).toMatchObject({ fields: ['budgetMax'], tokensCharged: 0, data: {} });
  expect(owner.JOB_CREATED).toMatchObject({ actorId: people.owner.userId, fields: null, tokensCharged: null });

  const done = await givenJob(app, 'in_review', people);
  await callRest(app, 'approve', { by: people.owner, job: done.id, body: { rating: 4, review: 'Tidy.' } });
  const byOwner = await read(done.id, 'owner');
  expect(byOwner.JOB_PUBLISHED.tokensCharged).toBeGreaterThan(0);
  expect(byOwner.BID_ACCEPTED.bidId).toBe(done.bids.awardee);
  expect(byOwner.BID_SUBMITTED.actor).toMatchObject({ userType: 'CONTRACTOR', firstName: expect.any(String) });
  const byBidder = await read(done.id, 'bidder');
  expect(byBidder.JOB_APPROVED).toMatchObject({
    rating: 4,
    review: 'Tidy.',
    actor: { id: people.owner.userId, userType: 'HOMEOWNER' },
    data: {},
  });
  expect(byBidder.JOB_PUBLISHED).toMatchObject({ tokensCharged: null, data: {} });
  expect(byBidder.JOB_CHECKED_IN.actor).toBeNull();
  const byAwardee = await read(done.id, 'awardee');
  expect(byAwardee.JOB_PUBLISHED.tokensCharged).toBeNull();
  expect(byAwardee.JOB_CHECKED_IN.data).toHaveProperty('notes');
  expect(byAwardee.BID_ACCEPTED.bidId).toBe(done.bids.awardee);
});

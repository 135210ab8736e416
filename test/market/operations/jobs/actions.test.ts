/** A user's available actions and job counts, through both APIs. They are identical and correct. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BID_ACTIONS } from '../../../../src/market/rules/bids.js';
import { JOB_STATES } from '../../../../src/market/rules/states.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { callRest, snake } from '../../../story/calls.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { gather, givenJob, PEOPLE, type GivenJob, type People } from '../../../story/journey.js';
import { copiesOf } from '../../../story/scenes.js';

let app: TestApp;
let people: People;
let jobs: GivenJob[];
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  jobs = [];
  for (const state of JOB_STATES) jobs.push(await givenJob(app, state, people));
});
afterAll(() => app.close());

/** GraphQL's response, in REST's spelling. */
const asRest = ({ action, missingFields, ...rest }: Json) => ({
  ...rest,
  action: action.toLowerCase(),
  ...(missingFields && { missing_fields: missingFields.map(snake), token_cost: rest.tokenCost, tokenCost: undefined }),
});

test('the actions on every job are the same in both APIs, for everyone', async () => {
  const query = '{ action allowed reason message missingFields tokenCost until }';
  for (const { id } of jobs)
    for (const who of PEOPLE) {
      const { token } = people[who];
      const { status, body } = await app.rest('GET', `/v1/jobs/${id}/actions`, { token });
      const { data, errors } = await app.graphql(`query ($id: ID!) { job(id: $id) { availableActions ${query} } }`, {
        token,
        variables: { id },
      });
      if (errors) expect(status).toBe(errors[0]?.extensions.status);
      else expect(body.data).toEqual(data.job.availableActions.map(asRest));
    }
});

test('a bid that a dry run makes has its actions, too', async () => {
  const job = await givenJob(app, 'open', people);
  const { data } = await app.graphql(
    `mutation($id: ID!) { submitBid(jobId: $id, input: { amount: 5 }) { bid {
      availableActions { action allowed } } } }`,
    { token: people.stranger.token, variables: { id: job.id }, headers: { 'dry-run': 'true' } },
  );
  expect(data.submitBid.bid.availableActions).toContainEqual({ action: 'REVISE', allowed: true });
  expect(await app.sql`select id from bids where job_id = ${job.id} and amount = 5`).toEqual([]);
});

test('the actions on a bid say what each call would get', async () => {
  const keys = Object.keys(BID_ACTIONS) as (keyof typeof BID_ACTIONS)[];
  for (const state of ['open', 'awarded', 'cancelled'] as const) {
    const job = await givenJob(app, state, people);
    for (const who of ['owner', 'bidder', 'admin'] as const) {
      const { token } = people[who];
      const bid = job.bids.bidder!;
      const { body } = await app.rest('GET', `/v1/bids/${bid}/actions`, { token });
      const { data } = await app.graphql(
        'query ($id: ID!) { node(id: $id) { ... on Bid { availableActions { action allowed reason message } } } }',
        { token, variables: { id: bid } },
      );
      expect(body.data).toEqual(data.node.availableActions.map(asRest));
      const copies = await copiesOf(app, job, keys.length);
      for (const [at, key] of keys.entries()) {
        const said = body.data.find(({ action }: Json) => action === BID_ACTIONS[key].action.toLowerCase());
        const copy = copies[at]!;
        const offer = key === 'revise' ? { body: { amount: 1 } } : {};
        const asked = { by: people[who], job: copy.id, bid: copy.bids.bidder!, ...offer };
        const { status, body: got } = await callRest(app, key, asked);
        const expected = status < 300 ? [true, null] : [false, got.details.code];
        const call = `${key} by the ${who} on a job that is ${state}`;
        expect([said.allowed, said.reason], call).toEqual(expected);
        // A caller with the wrong role gets an error before the bid is read.
        if (said.reason === 'FORBIDDEN') expect(said.message, call).toMatch(/^Only .+ can do this\.$/);
        else expect(said.message, call).toBe(status < 300 ? null : got.error);
      }
    }
  }
});

test.each([
  ['a bid that is nobody’s', () => newId('bid'), 'owner', 404],
  ['a bid, read by another contractor', () => jobs[1]!.bids.bidder!, 'stranger', 403],
  ['a bid, read by nobody', () => jobs[1]!.bids.bidder!, undefined, 401],
] as const)('the actions on %s are refused', async (_, id, who, expected) => {
  const token = who && people[who].token;
  for (const part of ['', '/hold', '/actions'])
    expect((await app.rest('GET', `/v1/bids/${id()}${part}`, { token })).status).toBe(expected);
});

test("the counts of jobs match each state's list", async () => {
  for (const who of PEOPLE) {
    const { token } = people[who];
    const { body } = await app.rest('GET', '/v1/me/job-counts', { token });
    const { data } = await app.graphql('{ viewer { jobCounts { status count } } }', { token });
    expect(body.data).toEqual(
      data.viewer.jobCounts.map(({ status, count }: Json) => ({ status: status.toLowerCase(), count })),
    );
    expect(body.data.map(({ status }: Json) => status)).toEqual(JOB_STATES);
    for (const { status, count } of body.data) {
      const list = await app.rest('GET', `/v1/jobs?status=${status}`, { token });
      expect([who, status, count]).toEqual([who, status, list.body.pagination.total]);
    }
  }
  expect((await app.rest('GET', '/v1/me/job-counts')).status).toBe(401);
});

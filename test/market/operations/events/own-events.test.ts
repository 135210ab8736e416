/** A user's own events by position. Both APIs return the same events as the timelines of the user's jobs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOB_STATES } from '../../../../src/market/rules/states.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { callRest } from '../../../story/calls.js';
import { homeowner, type Person } from '../../../story/cast.js';
import { gather, givenJob, type People } from '../../../story/journey.js';
import {
  hearAsEvents,
  JOB_EVENTS,
  MY_EVENTS as OWN_STREAM,
  refusalOf,
} from '../../../platform/graphql/streams/clients.js';
import { allNumbered } from '../../../platform/live/positions.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  for (const state of JOB_STATES) await givenJob(app, state, people);
  await allNumbered(app);
});
afterAll(() => app.close());

async function byRest(by: Person, perPage = 100, after?: string): Promise<Json[]> {
  const found: Json[] = [];
  for (let from = after; ;) {
    const path = `/v1/events?per_page=${perPage}${from === undefined ? '' : `&after=${from}`}`;
    const { status, body } = await app.rest('GET', path, { token: by.token });
    expect(status).toBe(200);
    found.push(...body.data);
    expect(body.next_after).toBe(body.data.at(-1)?.position ?? from ?? '0');
    if (body.data.length < perPage) return found;
    from = body.next_after;
  }
}

const MY_EVENTS = `query ($first: Int, $after: String) { myEvents(first: $first, after: $after) {
  edges { cursor node { id position sequence type jobId data } } pageInfo { hasNextPage endCursor } totalCount } }`;

async function byGraphql(by: Person, first: number): Promise<Json[]> {
  const found: Json[] = [];
  for (let after: string | null = null; ;) {
    const { data } = await app.graphql(MY_EVENTS, { token: by.token, variables: { first, after } });
    const { edges, pageInfo } = data.myEvents;
    expect(edges.map(({ cursor }: Json) => cursor)).toEqual(edges.map(({ node }: Json) => node.position));
    found.push(...edges.map(({ node }: Json) => node));
    if (!pageInfo.hasNextPage) return found;
    after = pageInfo.endCursor;
  }
}

/** The timelines of all the user's jobs, merged. */
async function byTimelines(by: Person): Promise<Json[]> {
  const { body: jobs } = await app.rest('GET', '/v1/jobs?per_page=100', { token: by.token });
  const events: Json[] = [];
  for (const { id } of jobs.data) {
    const { body } = await app.rest('GET', `/v1/jobs/${id}/events?per_page=100`, { token: by.token });
    events.push(...body.data);
  }
  return events.toSorted((one, other) => Number(one.position) - Number(other.position));
}

describe('the list of your own events', () => {
  it.each(['owner', 'awardee', 'bidder', 'admin'] as const)('shows the %s what their timelines show', async (who) => {
    const timelines = await byTimelines(people[who]);
    expect(timelines.length).toBeGreaterThan(20);
    expect(await byRest(people[who])).toEqual(timelines);
  });

  it.each(['owner', 'awardee', 'bidder', 'admin'] as const)('is the same in pages of seven for the %s', async (who) => {
    const whole = (await byRest(people[who])).map(({ id }) => id);
    expect((await byRest(people[who], 7)).map(({ id }) => id)).toEqual(whole);
    expect((await byGraphql(people[who], 7)).map(({ id }) => id)).toEqual(whole);
    const counted = await app.graphql('{ myEvents(first: 1) { totalCount } }', { token: people[who].token });
    expect(counted.data.myEvents.totalCount).toBe(whole.length);
  });

  it('is empty for people without a job of their own, even if there are open jobs', async () => {
    expect(await byRest(people.stranger)).toEqual([]);
    expect(await byRest(people.other)).toEqual([]);
  });

  it("continues after a position, even if another viewer's event has it", async () => {
    const all = await byRest(people.admin);
    const own = await byRest(people.bidder);
    for (const { position } of all.filter((_, at) => at % 11 === 0)) {
      const behind = own.filter((event) => BigInt(event.position) > BigInt(position));
      expect(await byRest(people.bidder, 100, position)).toEqual(behind);
    }
  });

  it('excludes jobs on which the bid was withdrawn, and includes them again with another bid', async () => {
    const job = await givenJob(app, 'open', people);
    const jobsOf = async () => (await byRest(people.bidder)).map(({ job_id: id }) => id);
    await allNumbered(app);
    expect(await jobsOf()).toContain(job.id);
    await callRest(app, 'withdraw', { by: people.bidder, job: job.id, bid: job.bids.bidder! });
    expect(await jobsOf()).not.toContain(job.id);
    await callRest(app, 'submitBid', { by: people.bidder, job: job.id, body: { amount: 700 } });
    expect(await jobsOf()).toContain(job.id);
  });

  it('includes the events of a deleted draft, for its owner and for admins', async () => {
    const hilde = await homeowner(app, 'Hilde');
    const draft = await givenJob(app, 'draft', { ...people, owner: hilde });
    await callRest(app, 'delete', { by: hilde, job: draft.id });
    await allNumbered(app);
    const types = ['job.created', 'job.deleted'];
    expect((await byRest(hilde)).map(({ type }) => type)).toEqual(types);
    const seen = (await byRest(people.admin)).filter(({ job_id: id }) => id === draft.id);
    expect(seen.map(({ type }) => type)).toEqual(types);
  });

  it.each(['x', '-1', '1.5', '99999999999999999999', ''])('refuses %j as a position, in both APIs', async (after) => {
    const { token } = people.owner;
    const answer = await app.rest('GET', `/v1/events?after=${after}`, { token });
    expect([answer.status, answer.body.details.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(answer.body.details.fields).toHaveProperty('after');
    const { errors } = await app.graphql(MY_EVENTS, { token, variables: { after } });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'VALIDATION_FAILED', fields: { after: expect.any(String) } });
  });

  it('refuses a position after the last one, which a restored database may never have assigned', async () => {
    await allNumbered(app);
    const { token } = people.owner;
    const [{ last }] = (await app.sql`select max(position)::text as last from events`) as [{ last: string }];
    const after = String(BigInt(last) + 1n);
    const fields = { after: `is after the last position, which is ${last}` };
    const answer = await app.rest('GET', `/v1/events?after=${after}`, { token });
    expect([answer.status, answer.body.details.fields]).toEqual([400, fields]);
    const { errors } = await app.graphql(MY_EVENTS, { token, variables: { after } });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'VALIDATION_FAILED', fields });
    expect((await app.rest('GET', `/v1/events?after=${last}`, { token })).body).toEqual({ data: [], next_after: last });
    const [{ job_id: job }] = (await byRest(people.owner)) as [Json];
    for (const document of [OWN_STREAM, JOB_EVENTS]) {
      const heard = hearAsEvents(app.url, people.owner, document, { job, after });
      expect(await refusalOf(heard)).toEqual(['VALIDATION_FAILED']);
    }
  });
});

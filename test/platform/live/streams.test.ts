/** A client with an open stream gets the events that the timeline would show them at that moment. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEvents } from '../../../src/market/operations/events/live-events.js';
import type { JobId } from '../../../src/market/rules/ids.js';
import type { Viewer } from '../../../src/market/rules/viewer.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { callRest } from '../../story/calls.js';
import { DRAFT, gather, givenJob, ROLES_OF, type People } from '../../story/journey.js';
import { allNumbered, followEvents } from './positions.js';
import { takeUntil, viewerOf } from './viewers.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

const viewer = (who: keyof People): Viewer => viewerOf(people[who], ROLES_OF[who]);

function open(who: keyof People, wanted: { jobId?: string; after?: string } = {}) {
  return openEvents(app.services.live, viewer(who), wanted as { jobId?: JobId; after?: string }, app.services.db);
}

const timeline = async (who: keyof People, jobId: string) => {
  const { body } = await app.rest('GET', `/v1/jobs/${jobId}/events?per_page=100`, { token: people[who].token });
  return body.data.map(({ id }: { id: string }) => id);
};

const lastPosition = async () => {
  await allNumbered(app);
  const [{ last } = { last: 0 }] = await app.sql`select coalesce(max(position), 0) as last from events`;
  return String(last);
};

describe("a stream of the viewer's own events", () => {
  it('sends a homeowner new events of their jobs, each once and in order', async () => {
    const stream = open('owner');
    const job = await givenJob(app, 'open', people);
    await callRest(app, 'cancel', { by: people.owner, job: job.id, body: {} });
    const received = await takeUntil(stream, ({ type, jobId }) => jobId === job.id && type === 'bid.rejected');
    const ofJob = received.filter(({ jobId }) => jobId === job.id);
    expect(ofJob.map(({ sequence }) => sequence)).toEqual(ofJob.map((_, at) => at + 1));
    const positions = received.map(({ position }) => BigInt(position ?? -1));
    expect(positions).toEqual([...new Set(positions)].toSorted((one, another) => Number(one - another)));
    stream.close();
  });

  it.each(['owner', 'awardee', 'bidder', 'admin'] as const)('sends the %s what the timeline shows', async (who) => {
    const after = await lastPosition();
    const job = await givenJob(app, 'completed', people);
    const shown = await timeline(who, job.id);
    // These events are replayed, because they have already happened. `reach.test.ts` shows that live events are the
    // same.
    const stream = open(who, { after });
    const received = await takeUntil(stream, ({ id }) => id === shown.at(-1));
    expect(received.map(({ id }) => id)).toEqual(shown);
    stream.close();
  });

  it('replays missed events, and continues with new ones', async () => {
    const after = await lastPosition();
    const past = await givenJob(app, 'completed', people);
    const stream = open('owner', { after });
    const first = await stream.next();
    expect(first.value).toMatchObject({ jobId: past.id, sequence: 1 });
    const present = await givenJob(app, 'completed', people);
    const received = await takeUntil(stream, ({ jobId, type }) => jobId === present.id && type === 'job.approved');
    expect(received.map(({ sequence, jobId }) => [jobId, sequence])).toEqual([
      ...(await timeline('owner', past.id)).slice(1).map((_: string, at: number) => [past.id, at + 2]),
      ...(await timeline('owner', present.id)).map((_: string, at: number) => [present.id, at + 1]),
    ]);
    stream.close();
  });

  it('loses nothing if nobody reads it for a thousand events, and buffers no more than its limit', async () => {
    const stream = open('owner');
    const { body } = await callRest(app, 'create', { by: people.owner, body: DRAFT });
    await app.sql`insert into events (id, job_id, sequence, type, homeowner_id, from_status, to_status)
      select 'evt_' || gen_random_uuid(), ${body.id}, n, 'job.updated', ${people.owner.profileId}, 'draft', 'draft'
      from generate_series(2, 1300) n`;
    await allNumbered(app);
    const received = await takeUntil(stream, ({ sequence }) => sequence === 1300);
    expect(received.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 1300 }, (_, at) => at + 1));
    stream.close();
  });

  it('sends nothing to a contractor who has withdrawn, and sends again once they bid again', async () => {
    const allHeard = followEvents(app);
    const job = await givenJob(app, 'open', people);
    await allHeard();
    const stream = open('bidder');
    const withdrawn = await callRest(app, 'withdraw', { by: people.bidder, job: job.id, bid: job.bids.bidder! });
    expect(withdrawn.status).toBe(200);
    await callRest(app, 'update', { by: people.owner, job: job.id, body: { budget_max: 10_000 } });
    await callRest(app, 'cancel', { by: people.owner, job: job.id, body: {} });
    const another = await givenJob(app, 'awarded', people);
    const received = await takeUntil(stream, ({ jobId, type }) => jobId === another.id && type === 'job.awarded');
    expect(received.filter(({ jobId }) => jobId === job.id)).toEqual([]);
    stream.close();
  });
});

describe('a stream of one job', () => {
  it('sends nothing to a contractor to whom it was open, once it is awarded to another', async () => {
    const job = await givenJob(app, 'open', people);
    await allNumbered(app);
    const stream = open('stranger', { jobId: job.id });
    const next = stream.next();
    const { status } = await callRest(app, 'award', {
      by: people.owner,
      job: job.id,
      body: { bid_id: job.bids.awardee },
    });
    expect(status).toBe(200);
    await callRest(app, 'checkIn', { by: people.awardee, job: job.id, body: {} });
    await allNumbered(app);
    // Meanwhile, someone who may see the event receives it.
    const owners = open('owner', { jobId: job.id, after: '0' });
    await takeUntil(owners, ({ type }) => type === 'job.checked_in');
    stream.close();
    expect(await next).toEqual({ done: true, value: undefined });
    owners.close();
  });

  it("sends only that job's events, as the timeline shows them to the viewer", async () => {
    const job = await givenJob(app, 'draft', people);
    const stream = open('owner', { jobId: job.id, after: '0' });
    await givenJob(app, 'draft', people);
    await callRest(app, 'publish', { by: people.owner, job: job.id });
    const received = await takeUntil(stream, ({ type }) => type === 'job.published');
    expect(received.map(({ id }) => id)).toEqual(await timeline('owner', job.id));
    stream.close();
  });
});

describe('the end of a stream', () => {
  it('settles a pending next() when the stream is closed or returned from', async () => {
    for (const end of ['close', 'return'] as const) {
      const stream = open('owner');
      const next = stream.next();
      await stream[end]();
      expect(await next).toEqual({ done: true, value: undefined });
      expect(await stream.next()).toEqual({ done: true, value: undefined });
    }
  });

  it('comes for all streams when the server closes', async () => {
    const other = await openTestApp({}, { sameDatabaseAs: app });
    const stream = openEvents(other.services.live, viewer('owner'), {}, other.services.db);
    const next = stream.next();
    await other.close();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

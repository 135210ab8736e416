/** Ben stakes tokens so that Olive looks at his bid. If she doesn't, he gets them back. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { checkDatabase } from '../../../../setup/database/checker.js';
import type { Json } from '../../../../setup/app.js';
import { bidOf, bidsOn, must, tokensOf } from '../../../../story/awards.js';
import { daysAfter, openTimedApp, type TimedApp } from '../../../../story/deadlines.js';
import { givenJob, type GivenJob, type People } from '../../../../story/journey.js';

let app: TimedApp;
let people: People;
beforeAll(async () => {
  app = await openTimedApp();
  people = app.people;
});
afterAll(async () => {
  expect(await checkDatabase(app.sql)).toEqual([]);
  await app.close();
});

const OWNER = 'job.reminded owner';
const RELEASED = 'bid.stake_released';

/** Ben stakes tokens on his bid. Ava, who bid before him, doesn't. */
const jobWithStake = () => givenJob(app, 'open', people, { offers: { bidder: { guaranteed_view: true } } });
const holdOf = async (job: GivenJob): Promise<string | undefined> => (await bidsOn(app, job))[job.bids.bidder!];
const bidsListed = async ({ id }: GivenJob): Promise<string[]> => {
  const { body } = await app.rest('GET', `/v1/jobs/${id}/bids`, { token: people.owner.token });
  return body.data.map((bid: Json) => bid.id);
};

describe('a stake on a bid that the owner doesn’t look at', () => {
  it('is released after 72 hours and a reminder, and the bid keeps its place at the top', async () => {
    const before = await tokensOf(app, people.bidder);
    const job = await jobWithStake();
    const late = await bidOf(app, people.stranger, job);
    const order = await bidsListed(job);
    expect(order[0]).toBe(job.bids.bidder);
    expect(await tokensOf(app, people.bidder)).toEqual({ ...before, held: before.held + 5 });
    const { version } = await app.readJob(people.owner, job);
    await app.hours(23.9);
    expect(await app.clockEvents(job)).toEqual([]);
    await app.hours(0.2);
    expect(await app.clockEvents(job)).toEqual([OWNER]);
    await app.hours(47.8);
    expect(await holdOf(job)).toBe('pending, active hold');
    await app.hours(0.2);
    expect(await app.clockEvents(job)).toEqual([OWNER, RELEASED]);
    expect(await holdOf(job)).toBe('pending, released hold');
    expect(await tokensOf(app, people.bidder)).toEqual(before);
    expect(await bidsListed(job)).toEqual(order);
    expect(order).toContain(late);
    expect(await app.readJob(people.owner, job)).toMatchObject({ status: 'open', version });
    await must(app, 'withdraw', people.bidder, job, job.bids.bidder!);
    expect(await tokensOf(app, people.bidder)).toEqual(before);
  });

  test.each(['award', 'reject', 'cancel'] as const)(
    'was released once, even if the owner then decides: %s',
    async (key) => {
      const before = await tokensOf(app, people.bidder);
      const job = await jobWithStake();
      await app.hours(24.1);
      await app.hours(48);
      expect(await tokensOf(app, people.bidder)).toEqual(before);
      const bid = job.bids.bidder!;
      await must(app, key, people.owner, job, bid, key === 'award' ? { bid_id: bid } : {});
      expect(await tokensOf(app, people.bidder)).toEqual(before);
      await app.days(10);
      expect((await app.clockEvents(job)).filter((type) => type === RELEASED)).toEqual([RELEASED]);
    },
  );

  it('isn’t released before its reminder was 48 hours ago, however far the clock jumps', async () => {
    const job = await jobWithStake();
    await app.days(10);
    expect(await app.clockEvents(job)).toEqual([OWNER]);
    await app.hours(47.9);
    expect(await holdOf(job)).toBe('pending, active hold');
    await app.hours(0.2);
    expect(await holdOf(job)).toBe('pending, released hold');
  });

  it('is released bid by bid, and each release names its own bidder', async () => {
    const job = await jobWithStake();
    await app.hours(12);
    const second = await bidOf(app, people.stranger, job, { guaranteed_view: true });
    await app.hours(12.1);
    await app.hours(12);
    expect(await app.clockEvents(job)).toEqual([OWNER, OWNER]);
    await app.hours(36);
    expect((await bidsOn(app, job))[second]).toBe('pending, active hold');
    await app.hours(12);
    expect((await bidsOn(app, job))[second]).toBe('pending, released hold');
    const rows = await app.sql`select bidder_id, data from events where job_id = ${job.id} and type = ${RELEASED}
      order by sequence`;
    expect([...rows]).toEqual([
      { bidder_id: people.bidder.profileId, data: { bidId: job.bids.bidder } },
      { bidder_id: people.stranger.profileId, data: { bidId: second } },
    ]);
  });
});

describe('a stake stays', () => {
  test.each(['view', 'shortlist'] as const)('if the owner looked at the bid in time: %s', async (key) => {
    const job = await jobWithStake();
    await app.hours(24.1);
    if (key === 'shortlist') await must(app, 'view', people.owner, job, job.bids.bidder!);
    await must(app, key, people.owner, job, job.bids.bidder!);
    await app.hours(60);
    expect(await holdOf(job)).toBe(`${key === 'view' ? 'viewed' : 'shortlisted'}, active hold`);
    expect(await app.clockEvents(job)).toEqual([OWNER]);
  });

  it('without a reminder if the owner looked at the bid within 24 hours', async () => {
    const job = await jobWithStake();
    await must(app, 'view', people.owner, job, job.bids.bidder!);
    await app.hours(80);
    expect(await app.clockEvents(job)).toEqual([]);
  });

  it('with the bid that was awarded', async () => {
    const job = await jobWithStake();
    await must(app, 'award', people.owner, job, undefined, { bid_id: job.bids.bidder });
    await app.hours(80);
    expect(await holdOf(job)).toBe('accepted, active hold');
    expect(await app.clockEvents(job)).toEqual(['job.reminded awardee']);
  });
});

it('the owner, the bidder, and admins read when a stake is released, and other bidders don’t', async () => {
  const job = await jobWithStake();
  const [stake, expiry] = (await app.upcoming(people.owner, job)) as [Json, Json];
  expect([stake.action, expiry.action]).toEqual(['release_stake', 'expire']);
  // The job was published before the bid.
  const apartMs = Date.parse(stake.at) - Date.parse(daysAfter(expiry.at, -27));
  expect(apartMs).toBeGreaterThanOrEqual(0);
  expect(apartMs).toBeLessThan(60_000);
  expect(await app.upcoming(people.bidder, job)).toEqual([stake, expiry]);
  expect(await app.upcoming(people.admin, job)).toEqual([stake, expiry]);
  expect(await app.upcoming(people.awardee, job)).toEqual([expiry]);
  expect(await app.upcoming(people.stranger, job)).toEqual([expiry]);
  await app.hours(24.1);
  await app.hours(48);
  const typesFor = async ({ token }: { token: string }): Promise<string[]> => {
    const { body } = await app.rest('GET', `/v1/jobs/${job.id}/events`, { token });
    return body.data.map(({ type }: Json) => type).slice(-2);
  };
  for (const who of ['owner', 'admin'] as const)
    expect(await typesFor(people[who])).toEqual(['job.reminded', RELEASED]);
  expect(await typesFor(people.bidder)).toEqual(['bid.submitted', RELEASED]);
  expect(await typesFor(people.awardee)).toEqual(['job.published', 'bid.submitted']);
  expect(await app.upcoming(people.owner, job)).toMatchObject([{ action: 'expire' }]);
});

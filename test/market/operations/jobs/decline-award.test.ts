/** Ava declines a job that was awarded to her, through both APIs. The other bids are as they were before the award. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkDatabase } from '../../../setup/database/checker.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { award, bidOf, bidsOn, eventsSince, everythingOn, givenAward, must, tokensOf } from '../../../story/awards.js';
import { APIS, callRest, outcomeOf, restOutcome } from '../../../story/calls.js';
import { gather, givenJob, type People } from '../../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(async () => {
  expect(await checkDatabase(app.sql)).toEqual([]);
  await app.close();
});

const jobAs = async (who: keyof People, id: string): Promise<Json> =>
  (await app.rest('GET', `/v1/jobs/${id}`, { token: people[who].token })).body;

describe('an award that Ava declines', () => {
  test.each(APIS)('through %s opens the job again and restores the other bids without their stakes', async (api) => {
    const { job, paul, bids } = await givenAward(app, people);
    const before = await jobAs('owner', job.id);
    const [row] = await app.sql<[{ events: number }]>`select event_count as events from jobs where id = ${job.id}`;
    const owner = await tokensOf(app, people.owner);
    const ava = await tokensOf(app, people.awardee);
    expect((await jobAs('awardee', job.id)).address_line1).toBe('12 Oak Lane');

    const asked = { by: people.awardee, job: job.id, body: { reason: 'My van broke down.' } };
    expect(await outcomeOf(app, api, 'declineAward', asked)).toMatchObject({ ok: true, status: 200 });

    expect(await jobAs('owner', job.id)).toMatchObject({
      status: 'open',
      awarded_bid_id: null,
      version: before.version + 1,
      address_line1: '12 Oak Lane',
    });
    expect(await bidsOn(app, job)).toEqual({
      [bids.awarded]: 'withdrawn, released hold',
      [bids.viewed]: 'viewed, released hold',
      [bids.shortlisted]: 'shortlisted, no hold',
      [bids.pending]: 'pending, released hold',
    });
    expect(await eventsSince(app, job, row.events)).toEqual([
      {
        type: 'job.award_declined',
        from: 'awarded',
        to: 'open',
        data: { reason: 'My van broke down.', contractorId: people.awardee.profileId },
      },
      { type: 'bid.withdrawn', from: null, to: null, data: { bidId: bids.awarded } },
      ...(['viewed', 'shortlisted', 'pending'] as const).map((status) => ({
        type: 'bid.restored',
        from: null,
        to: null,
        data: { bidId: bids[status], status },
      })),
    ]);
    expect(await tokensOf(app, people.owner)).toEqual(owner);
    expect(await tokensOf(app, people.awardee)).toEqual({ ...ava, held: ava.held - 5 });
    expect(await tokensOf(app, paul)).toMatchObject({ held: 0 });
  });

  test('no longer shows Ava the address, which the next awardee reads', async () => {
    const { job, bids } = await givenAward(app, people);
    const declined = await callRest(app, 'declineAward', { by: people.awardee, job: job.id });
    expect(declined.body).toMatchObject({ id: job.id, status: 'open', address_line1: null, zip_code: null });
    expect(await jobAs('awardee', job.id)).toMatchObject({ address_line1: null, zip_code: null, latitude: null });
    await award(app, people, job, bids.viewed);
    expect((await jobAs('bidder', job.id)).address_line1).toBe('12 Oak Lane');
    expect((await jobAs('awardee', job.id)).address_line1).toBeNull();
    await must(app, 'checkIn', people.bidder, job);
  });

  test('keeps the restored bids at their places in the list', async () => {
    const { job, bids } = await givenAward(app, people);
    const listed = async () => {
      const { body } = await app.rest('GET', `/v1/jobs/${job.id}/bids`, { token: people.owner.token });
      return body.data.map(({ id }: Json) => id);
    };
    const before = await listed();
    await must(app, 'declineAward', people.awardee, job);
    expect(await listed()).toEqual(before);
    expect(before).toEqual([bids.pending, bids.viewed, bids.awarded, bids.shortlisted]);
  });

  test('lets Ava bid again, and Olive award the job to her again', async () => {
    const { job } = await givenAward(app, people);
    await must(app, 'declineAward', people.awardee, job);
    const again = await bidOf(app, people.awardee, job);
    await award(app, people, job, again);
    expect(await jobAs('owner', job.id)).toMatchObject({ status: 'awarded', awarded_bid_id: again });
    // Declining has no limit, because only one bid can be awarded at a time.
    await must(app, 'declineAward', people.awardee, job);
    expect((await bidsOn(app, job))[again]).toBe('withdrawn, no hold');
  });

  test('lets everyone find the job again', async () => {
    const { job } = await givenAward(app, people, { fields: { title: 'Mend the gutter of the barn' } });
    const found = async () => {
      const url = '/v1/jobs?status=open&search=gutter%20of%20the%20barn';
      return (await app.rest('GET', url, { token: people.admin.token })).body.data.map(({ id }: Json) => id);
    };
    const searched = async () => (await app.sql`select from open_job_search where job_id = ${job.id}`).count;
    expect([await found(), await searched()]).toEqual([[], 0]);
    await must(app, 'declineAward', people.awardee, job);
    expect([await found(), await searched()]).toEqual([[job.id], 1]);
  });

  test('restores no bid that its contractor withdrew, or that Olive rejected, before the award', async () => {
    const job = await givenJob(app, 'open', people);
    await must(app, 'reject', people.owner, job, job.bids.bidder!);
    const withdrawn = await bidOf(app, people.stranger, job);
    await must(app, 'withdraw', people.stranger, job, withdrawn);
    await award(app, people, job, job.bids.awardee!);
    await must(app, 'declineAward', people.awardee, job);
    expect(await bidsOn(app, job)).toEqual({
      [job.bids.awardee!]: 'withdrawn, no hold',
      [job.bids.bidder!]: 'rejected, no hold',
      [withdrawn]: 'withdrawn, no hold',
    });
    const duplicate = await callRest(app, 'submitBid', { by: people.bidder, job: job.id, body: { amount: 1 } });
    expect(restOutcome(duplicate)).toMatchObject({ code: 'DUPLICATE_BID' });
  });

  test('restores the bids that the second award rejected, with the status they had before it', async () => {
    const { job, bids } = await givenAward(app, people);
    await must(app, 'declineAward', people.awardee, job);
    await must(app, 'shortlist', people.owner, job, bids.viewed);
    await award(app, people, job, bids.pending);
    await must(app, 'reopen', people.owner, job);
    expect(await bidsOn(app, job)).toEqual({
      [bids.awarded]: 'withdrawn, released hold',
      [bids.viewed]: 'shortlisted, released hold',
      [bids.shortlisted]: 'shortlisted, no hold',
      [bids.pending]: 'rejected, released hold',
    });
  });
});

describe('a refusal changes nothing, and comes in the fixed order', () => {
  test.each(APIS)('Ava can’t decline through %s what is in progress', async (api) => {
    const { job } = await givenAward(app, people);
    await must(app, 'checkIn', people.awardee, job);
    const before = await everythingOn(app, job);
    const asked = { by: people.awardee, job: job.id, body: { reason: 'Too much work.' } };
    expect(await outcomeOf(app, api, 'declineAward', asked)).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
    expect(await outcomeOf(app, api, 'declineAward', { ...asked, version: 1 })).toMatchObject({
      code: 'STALE_VERSION',
    });
    expect(await everythingOn(app, job)).toEqual(before);
  });

  test.each(APIS)('through %s, the role comes before the text, and the text before whose job it is', async (api) => {
    const { job } = await givenAward(app, people);
    const before = await everythingOn(app, job);
    const tooLong = { reason: 'x'.repeat(5_001) };
    const ask = (by: People['owner'] | undefined, body: object) =>
      outcomeOf(app, api, 'declineAward', { by, job: job.id, body });
    expect(await ask(undefined, tooLong)).toMatchObject({ status: 401 });
    expect(await ask(people.owner, tooLong)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await ask(people.bidder, tooLong)).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['reason'] });
    for (const other of [people.bidder, people.stranger, people.admin])
      expect(await ask(other, {})).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await everythingOn(app, job)).toEqual(before);
  });

  test('the second of two declines finds that the job is no longer hers', async () => {
    const { job } = await givenAward(app, people);
    const [one, other] = await Promise.all(
      [1, 2].map(() => callRest(app, 'declineAward', { by: people.awardee, job: job.id })),
    );
    expect([one!, other!].map((answer) => restOutcome(answer).code).toSorted()).toEqual(['FORBIDDEN', null]);
  });
});

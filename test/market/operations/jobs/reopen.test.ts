/** Olive takes an award back before the work has started, through both APIs, at most twice per job. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkDatabase } from '../../../setup/database/checker.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { award, bidsOn, eventsSince, everythingOn, givenAward, must, tokensOf } from '../../../story/awards.js';
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

describe('a job that Olive reopens', () => {
  test.each(APIS)('through %s is open again: Ava’s bid is rejected, and the others are restored', async (api) => {
    const { job, bids } = await givenAward(app, people);
    const before = await jobAs('owner', job.id);
    const [row] = await app.sql<[{ events: number }]>`select event_count as events from jobs where id = ${job.id}`;
    const owner = await tokensOf(app, people.owner);
    const ava = await tokensOf(app, people.awardee);

    const asked = { by: people.owner, job: job.id, body: { reason: 'She never called back.' } };
    expect(await outcomeOf(app, api, 'reopen', asked)).toMatchObject({ ok: true, status: 200 });

    expect(await jobAs('owner', job.id)).toMatchObject({
      status: 'open',
      awarded_bid_id: null,
      version: before.version + 1,
    });
    expect(await bidsOn(app, job)).toEqual({
      [bids.awarded]: 'rejected, released hold',
      [bids.viewed]: 'viewed, released hold',
      [bids.shortlisted]: 'shortlisted, no hold',
      [bids.pending]: 'pending, released hold',
    });
    expect(await eventsSince(app, job, row.events)).toEqual([
      {
        type: 'job.reopened',
        from: 'awarded',
        to: 'open',
        data: { reason: 'She never called back.', contractorId: people.awardee.profileId },
      },
      { type: 'bid.rejected', from: null, to: null, data: { bidId: bids.awarded } },
      ...(['viewed', 'shortlisted', 'pending'] as const).map((status) => ({
        type: 'bid.restored',
        from: null,
        to: null,
        data: { bidId: bids[status], status },
      })),
    ]);
    expect(await tokensOf(app, people.owner)).toEqual(owner);
    expect(await tokensOf(app, people.awardee)).toEqual({ ...ava, held: ava.held - 5 });
    expect(await jobAs('awardee', job.id)).toMatchObject({ status: 'open', address_line1: null, zip_code: null });
  });

  test('can be awarded to a bidder who was passed over, and not to Ava, who can’t bid again', async () => {
    const { job, bids } = await givenAward(app, people);
    await must(app, 'reopen', people.owner, job);
    const again = await callRest(app, 'submitBid', { by: people.awardee, job: job.id, body: { amount: 1 } });
    expect(restOutcome(again)).toMatchObject({ status: 400, code: 'DUPLICATE_BID' });
    const body = { bid_id: bids.awarded };
    const refused = await callRest(app, 'award', { by: people.owner, job: job.id, body });
    expect(restOutcome(refused)).toMatchObject({ code: 'UNKNOWN_BID' });
    await award(app, people, job, bids.shortlisted);
    expect(await bidsOn(app, job)).toEqual({
      [bids.awarded]: 'rejected, released hold',
      [bids.viewed]: 'rejected, released hold',
      [bids.shortlisted]: 'accepted, no hold',
      [bids.pending]: 'rejected, released hold',
    });
    await must(app, 'checkIn', people.stranger, job);
  });

  test('restores only what the last award rejected', async () => {
    const { job, bids } = await givenAward(app, people);
    await must(app, 'reopen', people.owner, job);
    await must(app, 'reject', people.owner, job, bids.pending);
    await award(app, people, job, bids.viewed);
    await must(app, 'reopen', people.owner, job);
    expect(await bidsOn(app, job)).toEqual({
      [bids.awarded]: 'rejected, released hold',
      [bids.viewed]: 'rejected, released hold',
      [bids.shortlisted]: 'shortlisted, no hold',
      [bids.pending]: 'rejected, released hold',
    });
  });

  test('keeps the base of its budgets, so two awards don’t lower the limit', async () => {
    const job = await givenJob(app, 'awarded', people, { fields: { budget_max: 1_000 } });
    const edit = (budget: number) =>
      callRest(app, 'update', { by: people.owner, job: job.id, body: { budget_max: budget } });
    await must(app, 'reopen', people.owner, job);
    expect((await edit(900)).body).toMatchObject({ budget_max: 900 });
    await award(app, people, job, job.bids.bidder!);
    await must(app, 'reopen', people.owner, job);
    expect(restOutcome(await edit(899))).toMatchObject({ code: 'BUDGET_DECREASE_TOO_LARGE', fields: ['budget_max'] });
    expect((await edit(901)).status).toBe(200);
    const [row] = await app.sql`select highest_budget_max::text as highest from jobs where id = ${job.id}`;
    expect(row).toEqual({ highest: '1000.00' });
  });

  test('can be cancelled, without a refund because it had bids', async () => {
    const job = await givenJob(app, 'awarded', people);
    await must(app, 'reopen', people.owner, job);
    const before = await tokensOf(app, people.owner);
    await must(app, 'cancel', people.owner, job);
    expect(await tokensOf(app, people.owner)).toEqual(before);
    expect(await bidsOn(app, job)).toEqual({
      [job.bids.awardee!]: 'rejected, no hold',
      [job.bids.bidder!]: 'rejected, no hold',
    });
  });
});

describe('a refusal changes nothing, and comes in the fixed order', () => {
  test.each(APIS)('Olive can’t reopen a job a third time through %s', async (api) => {
    const { job, bids } = await givenAward(app, people);
    for (const next of [bids.viewed, bids.shortlisted]) {
      await must(app, 'reopen', people.owner, job);
      await award(app, people, job, next);
    }
    const before = await everythingOn(app, job);
    expect(await outcomeOf(app, api, 'reopen', { by: people.owner, job: job.id })).toMatchObject({
      status: 400,
      code: 'INVALID_TRANSITION',
    });
    const { body } = await callRest(app, 'reopen', { by: people.owner, job: job.id });
    expect(body).toMatchObject({
      error: 'You have already reopened this job 2 times. You can cancel it instead.',
      details: { from_state: 'awarded', allowed_operations: ['cancelJob', 'updateJob'] },
    });
    expect(await everythingOn(app, job)).toEqual(before);
    const actions = await app.rest('GET', `/v1/jobs/${job.id}/actions`, { token: people.owner.token });
    expect(actions.body.data.find(({ action }: Json) => action === 'reopen')).toMatchObject({
      allowed: false,
      reason: 'INVALID_TRANSITION',
    });
    // The contractor can still decline, which isn't a reopening.
    await must(app, 'declineAward', people.stranger, job);
  });

  test.each(APIS)('Olive can’t reopen through %s what is in progress, or what was never awarded', async (api) => {
    const going = await givenJob(app, 'in_progress', people);
    const open = await givenJob(app, 'open', people);
    for (const job of [going, open]) {
      const before = await everythingOn(app, job);
      const asked = { by: people.owner, job: job.id };
      expect(await outcomeOf(app, api, 'reopen', asked)).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
      expect(await outcomeOf(app, api, 'reopen', { ...asked, version: 1 })).toMatchObject({ code: 'STALE_VERSION' });
      expect(await everythingOn(app, job)).toEqual(before);
    }
  });

  test.each(APIS)('only Olive can do it through %s, and her text has a limit', async (api) => {
    const job = await givenJob(app, 'awarded', people);
    const ask = (by: People['owner'] | undefined, body: object) =>
      outcomeOf(app, api, 'reopen', { by, job: job.id, body });
    const tooLong = { reason: 'x'.repeat(5_001) };
    expect(await ask(undefined, tooLong)).toMatchObject({ status: 401 });
    expect(await ask(people.awardee, tooLong)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await ask(people.other, tooLong)).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['reason'] });
    for (const other of [people.other, people.awardee, people.bidder, people.admin])
      expect(await ask(other, {})).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect((await jobAs('owner', job.id)).status).toBe('awarded');
  });
});

/** Olive awards the version of a bid that she has read, so nobody can raise a price unseen. Through both APIs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkDatabase } from '../../../setup/database/checker.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { everythingOn, must } from '../../../story/awards.js';
import { APIS, callRest, outcomeOf } from '../../../story/calls.js';
import { gather, givenJob, type GivenJob, type People } from '../../../story/journey.js';

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

/** An open job on which Ava has revised her bid. */
async function revised(...amounts: number[]): Promise<GivenJob> {
  const job = await givenJob(app, 'open', people);
  for (const amount of amounts) await must(app, 'revise', people.awardee, job, job.bids.awardee!, { amount });
  return job;
}

const awarding = ({ id, bids }: GivenJob, more: object = {}) => ({
  by: people.owner,
  job: id,
  body: { bid_id: bids.awardee!, ...more },
});

describe('a revised bid', () => {
  test.each(APIS)('is awarded through %s in the version that Olive names', async (api) => {
    const job = await revised(5_000, 450);
    const asked = awarding(job, { expected_bid_version: 3 });
    expect(await outcomeOf(app, api, 'award', asked)).toMatchObject({ ok: true });
    const [row] = await app.sql`select j.awarded_bid_id as id, b.amount::text, b.version, e.data from jobs j
      join bids b on b.id = j.awarded_bid_id join events e on e.job_id = j.id and e.type = 'job.awarded'
      where j.id = ${job.id}`;
    expect(row).toEqual({ id: job.bids.awardee, amount: '450.00', version: 3, data: { bidId: job.bids.awardee } });
  });

  test.each(APIS)('isn’t awarded through %s without a version, and the error names the field', async (api) => {
    const job = await revised(5_000);
    const before = await everythingOn(app, job);
    for (const more of [{}, { expected_bid_version: null }])
      expect(await outcomeOf(app, api, 'award', awarding(job, more))).toMatchObject({
        status: 400,
        code: 'VALIDATION_FAILED',
        fields: ['expected_bid_version'],
      });
    const { body } = await callRest(app, 'award', awarding(job));
    expect(body).toMatchObject({
      error: 'The contractor has revised this bid. Read it again, and send its version.',
      details: { fields: { expected_bid_version: 'is required because the bid was revised' } },
    });
    expect(await everythingOn(app, job)).toEqual(before);
  });

  test('isn’t awarded in a version that no integer in the response could repeat', async () => {
    const job = await revised(5_000);
    const { status, body } = await callRest(app, 'award', awarding(job, { expected_bid_version: 2 ** 31 }));
    expect([status, Object.keys(body.details.fields)]).toEqual([400, ['expected_bid_version']]);
  });

  test.each(APIS)('isn’t awarded through %s in an earlier version, or in one that doesn’t exist', async (api) => {
    const job = await revised(5_000, 6_000);
    const before = await everythingOn(app, job);
    for (const version of [1, 2, 4])
      expect(await outcomeOf(app, api, 'award', awarding(job, { expected_bid_version: version }))).toMatchObject({
        status: 412,
        code: 'STALE_VERSION',
      });
    const { body } = await callRest(app, 'award', awarding(job, { expected_bid_version: 2 }));
    expect(body).toMatchObject({
      error: 'The bid has been revised since you read it. Read it again, then retry.',
      details: { expected_version: 2, version: 3 },
    });
    expect(await everythingOn(app, job)).toEqual(before);
  });

  test('needs its version again if it is restored after an award', async () => {
    const job = await revised(5_000);
    await must(app, 'award', people.owner, job, undefined, { bid_id: job.bids.bidder! });
    await must(app, 'reopen', people.owner, job);
    expect(await outcomeOf(app, 'rest', 'award', awarding(job))).toMatchObject({ code: 'VALIDATION_FAILED' });
    await must(app, 'award', people.owner, job, undefined, awarding(job, { expected_bid_version: 2 }).body);
  });
});

describe('a bid as it was made', () => {
  test.each(APIS)('is awarded through %s with or without its version', async (api) => {
    expect(await outcomeOf(app, api, 'award', awarding(await revised()))).toMatchObject({ ok: true });
    const named = awarding(await revised(), { expected_bid_version: 1 });
    expect(await outcomeOf(app, api, 'award', named)).toMatchObject({ ok: true });
  });

  test.each(APIS)('isn’t awarded through %s in another version', async (api) => {
    const job = await revised();
    const asked = awarding(job, { expected_bid_version: 2 });
    expect(await outcomeOf(app, api, 'award', asked)).toMatchObject({ status: 412, code: 'STALE_VERSION' });
  });
});

describe('the order of the checks', () => {
  test.each(APIS)('through %s: the job’s version, its state, the bid, and the bid’s version', async (api) => {
    const job = await revised(5_000);
    const ask = (more: object, version?: number) =>
      outcomeOf(app, api, 'award', { ...awarding(job, more), ...(version !== undefined && { version }) });
    expect(await ask({ expected_bid_version: 'two' })).toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(await ask({}, 1)).toMatchObject({ status: 412, code: 'STALE_VERSION', fields: [] });
    const gone = { bid_id: 'bid_000000000000000000000000000', expected_bid_version: 9 };
    expect(await ask(gone)).toMatchObject({ code: 'UNKNOWN_BID', fields: ['bid_id'] });
    await must(app, 'cancel', people.owner, job);
    expect(await ask({})).toMatchObject({ code: 'INVALID_TRANSITION' });
    expect(await ask({ expected_bid_version: 1 })).toMatchObject({ code: 'INVALID_TRANSITION' });
  });
});

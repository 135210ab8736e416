/** Olive approves work without a rating and rates it later: once, within 30 days, through both APIs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { APIS, callRest, outcomeOf, restOutcome } from '../../../story/calls.js';
import { contractor, type Person } from '../../../story/cast.js';
import { gather, givenJob, type GivenJob, type People } from '../../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

/** Each test has its own contractor, so the average reflects only this job. */
async function approved(body: object = {}): Promise<{ job: GivenJob; ava: Person }> {
  const ava = await contractor(app, 'Ava');
  const job = await givenJob(app, 'in_review', { ...people, awardee: ava });
  expect((await callRest(app, 'approve', { by: people.owner, job: job.id, body })).status).toBe(200);
  return { job, ava };
}

const recordOf = async ({ profileId, token }: Person): Promise<Json> => {
  const { body } = await app.rest('GET', `/v1/contractors/${profileId}`, { token });
  return [body.completed_jobs, body.rating_average, body.rating_count];
};
const reviewsOf = async ({ profileId, token }: Person): Promise<Json[]> =>
  (await app.rest('GET', `/v1/contractors/${profileId}/reviews`, { token })).body.data;
const rate = (job: GivenJob, body: object, by = people.owner) => callRest(app, 'review', { by, job: job.id, body });

describe('a rating given after the approval', () => {
  test.each(APIS)('counts the same through %s as one given with it', async (api) => {
    const { job, ava } = await approved();
    expect([await recordOf(ava), await reviewsOf(ava)]).toEqual([[1, null, 0], []]);
    const before = (await app.rest('GET', `/v1/jobs/${job.id}`, { token: people.owner.token })).body;
    const asked = { by: people.owner, job: job.id, body: { rating: 4, review: 'It holds.' } };
    expect(await outcomeOf(app, api, 'review', asked)).toMatchObject({ ok: true });
    expect(await recordOf(ava)).toEqual([1, 4, 1]);
    expect(await reviewsOf(ava)).toMatchObject([{ rating: 4, review: 'It holds.' }]);
    const after = (await app.rest('GET', `/v1/jobs/${job.id}`, { token: ava.token })).body;
    expect(after).toMatchObject({
      status: 'completed',
      rating: 4,
      review: 'It holds.',
      version: before.version + 1,
      status_changed_at: before.status_changed_at,
    });
    const { body } = await app.rest('GET', `/v1/jobs/${job.id}/events`, { token: ava.token });
    expect(body.data.at(-1)).toMatchObject({
      type: 'job.reviewed',
      actor_id: people.owner.userId,
      from_status: 'completed',
      to_status: 'completed',
      rating: 4,
      review: 'It holds.',
    });
    const bidders = await app.rest('GET', `/v1/jobs/${job.id}/events`, { token: people.bidder.token });
    expect(bidders.body.data.map(({ type }: Json) => type)).not.toContain('job.reviewed');
    expect(await outcomeOf(app, api, 'review', asked)).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
    expect(await recordOf(ava)).toEqual([1, 4, 1]);
  });

  test('joins the review from the approval: it keeps its place, and new text replaces the old', async () => {
    const [kept, replaced] = [await approved({ review: 'Tidy.' }), await approved({ review: 'Tidy.' })];
    const [before] = await reviewsOf(kept.ava);
    expect((await rate(kept.job, { rating: 5 })).body).toMatchObject({ rating: 5, review: 'Tidy.' });
    expect((await rate(replaced.job, { rating: 2, review: 'It leaks.' })).status).toBe(200);
    expect(await reviewsOf(kept.ava)).toEqual([{ ...before, rating: 5 }]);
    expect(await reviewsOf(replaced.ava)).toMatchObject([{ rating: 2, review: 'It leaks.' }]);
  });

  test('two concurrent ratings: one wins and counts once', async () => {
    const { job, ava } = await approved();
    const answers = await Promise.all([rate(job, { rating: 1 }), rate(job, { rating: 5 })]);
    expect(answers.map((answer) => restOutcome(answer).code).toSorted()).toEqual(['INVALID_TRANSITION', null]);
    const won = answers.find(({ status }) => status === 200)?.body.rating;
    expect(await recordOf(ava)).toEqual([1, won, 1]);
  });

  test('is accepted on the 30th day and rejected on the 31st', async () => {
    const [soon, late] = [await approved(), await approved()];
    for (const [{ job }, days] of [
      [soon, '29 days 23 hours'],
      [late, '30 days 1 minute'],
    ] as const)
      await app.sql`update jobs set status_changed_at = now() - ${days}::interval where id = ${job.id}`;
    expect((await rate(soon.job, { rating: 5 })).status).toBe(200);
    const refused = await rate(late.job, { rating: 5 });
    expect(refused.body).toMatchObject({
      status: 400,
      error: 'You can rate a job only within 30 days of its completion.',
      details: { code: 'INVALID_TRANSITION', from_state: 'completed', allowed_operations: [] },
    });
    expect(await recordOf(late.ava)).toEqual([1, null, 0]);
  });
});

describe('anyone who cannot rate is told why', () => {
  test('a rating given with the approval is final, and a job that ended another way cannot be rated', async () => {
    const { job } = await approved({ rating: 3 });
    expect((await rate(job, { rating: 5 })).body.error).toBe('You have already rated this job. A rating is final.');
    const ended = await givenJob(app, 'in_review', people);
    const body = { reason: 'Enough.' };
    expect((await callRest(app, 'complete', { by: people.admin, job: ended.id, body })).status).toBe(200);
    expect((await rate(ended, { rating: 5 })).body.error).toBe('Only a job that you approved can be rated.');
    const open = await givenJob(app, 'open', people);
    expect(restOutcome(await rate(open, { rating: 5 }))).toMatchObject({ code: 'INVALID_TRANSITION' });
  });

  test.each(APIS)('through %s, a rating from 1 to 5 is required, and only the owner can give it', async (api) => {
    const { job, ava } = await approved();
    const ask = (by: Person, body: object) => outcomeOf(app, api, 'review', { by, job: job.id, body });
    for (const body of [{}, { review: 'Nice.' }, { rating: null }])
      expect(await ask(people.owner, body)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    for (const rating of [0, 6])
      expect(await ask(people.owner, { rating })).toMatchObject({ status: 400, fields: ['rating'] });
    for (const other of [ava, people.other, people.bidder, people.admin])
      expect(await ask(other, { rating: 5 })).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await recordOf(ava)).toEqual([1, null, 0]);
  });

  test('availableActions says the same', async () => {
    const { job } = await approved();
    const foretold = async () => {
      const { body } = await app.rest('GET', `/v1/jobs/${job.id}/actions`, { token: people.owner.token });
      return body.data.find(({ action }: Json) => action === 'review');
    };
    expect(await foretold()).toMatchObject({ allowed: true, reason: null });
    expect((await rate(job, { rating: 5 })).status).toBe(200);
    expect(await foretold()).toMatchObject({
      allowed: false,
      reason: 'INVALID_TRANSITION',
      message: 'You have already rated this job. A rating is final.',
    });
  });
});

test('the database lets a review gain a rating and nothing else', async () => {
  const { job } = await approved({ rating: 3, review: 'Tidy.' });
  await expect(app.sql`update reviews set rating = 5 where job_id = ${job.id}`).rejects.toThrow(/never changed/);
  await expect(app.sql`delete from reviews where job_id = ${job.id}`).rejects.toThrow(/never changed/);
  const { job: unrated } = await approved({ review: 'Tidy.' });
  await expect(app.sql`update reviews set rating = 5, created_at = now() where job_id = ${unrated.id}`).rejects.toThrow(
    /never changed/,
  );
});

/** What the clock does if nobody acts. The tests move its time with `advanceClock`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkDatabase } from '../../../setup/database/checker.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { tokensOf } from '../../../story/awards.js';
import { callRest, restOutcome } from '../../../story/calls.js';
import { gather, givenJob, type GivenJob, type People } from '../../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp({ DEADLINES: 'act', CLOCK: 'adjustable' });
  people = await gather(app);
});
afterAll(async () => {
  console.log(app.logged.filter((l) => l.includes('"level":50')).slice(0, 3));
  expect(await checkDatabase(app.sql)).toEqual([]);
  await app.close();
});

async function days(count: number): Promise<void> {
  const { token } = people.admin;
  const answer = await app.rest('POST', '/v1/test-clock', { token, body: { seconds: Math.round(count * 86_400) } });
  expect([answer.status, answer.body]).toEqual([200, { now: expect.any(String) }]);
}

const jobAs = async (who: keyof People, { id }: GivenJob): Promise<Json> =>
  (await app.rest('GET', `/v1/jobs/${id}`, { token: people[who].token })).body;

const upcomingOf = async (who: keyof People, { id }: GivenJob): Promise<Json[]> =>
  (await app.rest('GET', `/v1/jobs/${id}/upcoming`, { token: people[who].token })).body.data;

async function clockEvents({ id }: GivenJob): Promise<string[]> {
  const rows = await app.sql<{ type: string; to: string | null }[]>`select type, data ->> 'to' as to from events
    where job_id = ${id} and actor_id is null order by sequence`;
  return rows.map(({ type, to }) => (to === null ? type : `${type} ${to}`));
}

describe('a job that is open', () => {
  it('expires after 30 days and two reminders, and the owner gets the publishing cost back', async () => {
    const { balance } = await tokensOf(app, people.owner);
    const job = await givenJob(app, 'open', people);
    const { version } = await jobAs('owner', job);
    await days(21.1);
    expect(await clockEvents(job)).toEqual(['job.reminded owner']);
    expect(await jobAs('owner', job)).toMatchObject({ status: 'open', version });
    await days(7);
    expect(await clockEvents(job)).toEqual(['job.reminded owner', 'job.reminded owner']);
    expect(await upcomingOf('owner', job)).toMatchObject([{ action: 'expire' }]);
    await days(2);
    expect(await jobAs('owner', job)).toMatchObject({ status: 'cancelled', version: version + 1 });
    expect((await clockEvents(job)).slice(2)).toEqual(['job.expired']);
    expect((await tokensOf(app, people.owner)).balance).toBe(balance);
  });

  it('isn’t touched before its reminder was 48 hours ago, however far the clock jumps', async () => {
    const job = await givenJob(app, 'open', people);
    await days(100);
    expect(await clockEvents(job)).toEqual(['job.reminded owner']);
    await days(1.9);
    expect(await jobAs('owner', job)).toMatchObject({ status: 'open' });
    await days(0.2);
    expect(await jobAs('owner', job)).toMatchObject({ status: 'cancelled' });
  });
});

describe('work in review', () => {
  it('counts as approved after 14 days, and the contractor gets the credit', async () => {
    const job = await givenJob(app, 'in_review', people);
    const { token } = people.owner;
    const path = `/v1/contractors/${people.awardee.profileId}`;
    const before = (await app.rest('GET', path, { token })).body.completed_jobs;
    await days(5.1);
    await days(7);
    await days(2);
    expect(await jobAs('owner', job)).toMatchObject({ status: 'completed' });
    expect((await app.rest('GET', path, { token })).body.completed_jobs).toBe(before + 1);
    expect(await clockEvents(job)).toEqual(['job.reminded owner', 'job.reminded owner', 'job.auto_approved']);
    expect(
      restOutcome(await callRest(app, 'review', { by: people.owner, job: job.id, body: { rating: 5 } })),
    ).toMatchObject({ ok: true });
  });

  it('has more time after its owner extended the deadline, which they can do once', async () => {
    const job = await givenJob(app, 'in_review', people);
    const [{ at }] = (await upcomingOf('owner', job)) as [Json];
    const later = (count: number) => new Date(Date.parse(at) + count * 86_400_000).toISOString();
    const extend = (until: string) =>
      callRest(app, 'extendDeadline', { by: people.owner, job: job.id, body: { until } }).then(restOutcome);
    expect(await extend(later(15))).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    expect(await extend(later(-1))).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    expect(await extend(later(10))).toMatchObject({ ok: true });
    expect(await extend(later(12))).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
    expect(await upcomingOf('awardee', job)).toMatchObject([{ action: 'approve', at: later(10) }]);
    await days(15);
    expect(await jobAs('owner', job)).toMatchObject({ status: 'in_review' });
    await days(7.1);
    await days(2);
    expect(await jobAs('owner', job)).toMatchObject({ status: 'completed' });
  });
});

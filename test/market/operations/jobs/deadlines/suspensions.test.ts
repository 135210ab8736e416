/** A deadline is paused while a person who would have to respond to it is suspended. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { checkDatabase } from '../../../../setup/database/checker.js';
import type { Json } from '../../../../setup/app.js';
import { must, tokensOf } from '../../../../story/awards.js';
import type { Person } from '../../../../story/cast.js';
import { daysAfter, openTimedApp, withClock, type TimedApp } from '../../../../story/deadlines.js';
import { gather, givenJob, propose, type GivenJob, type People } from '../../../../story/journey.js';

let app: TimedApp;
let people: People;
beforeAll(async () => {
  app = await openTimedApp();
});
beforeEach(async () => {
  people = await gather(app);
  app = withClock(app, people);
});
afterAll(async () => {
  expect(await checkDatabase(app.sql)).toEqual([]);
  await app.close();
});

async function call({ userId }: Person, what: 'suspend' | 'restore'): Promise<void> {
  const { token } = people.admin;
  const body = what === 'suspend' ? { reason: 'Under review.' } : {};
  const answer = await app.rest('POST', `/v1/users/${userId}/${what}`, { token, body });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  // The clock notices at its next check.
  await app.days(0);
}

const OWNER = 'job.reminded owner';
const ADMIN = 'job.reminded admin';

const stateOf = async (job: GivenJob): Promise<string> => (await app.readJob(people.admin, job)).status;
const endOf = async (job: GivenJob): Promise<string | undefined> => (await app.upcoming(people.admin, job))[0]?.at;

describe('while the owner is suspended', () => {
  it('their deadline is paused, admins are told once, and it resumes where it stopped', async () => {
    const job = await givenJob(app, 'in_review', people);
    await app.days(5.1);
    const end = await endOf(job);
    await call(people.owner, 'suspend');
    expect(await app.clockEvents(job)).toEqual([OWNER, ADMIN]);
    expect(await app.upcoming(people.awardee, job)).toEqual([]);
    expect(await app.untils(people.awardee, job)).toEqual({});
    await app.days(100);
    await app.days(100);
    expect(await app.clockEvents(job)).toEqual([OWNER, ADMIN]);
    expect(await stateOf(job)).toBe('in_review');
    await call(people.owner, 'restore');
    const late = Date.parse((await endOf(job)) ?? '') - Date.parse(daysAfter(end!, 200));
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(60_000);
    await app.days(6.8);
    expect(await app.clockEvents(job)).toEqual([OWNER, ADMIN]);
    await app.days(0.2);
    expect(await app.clockEvents(job)).toEqual([OWNER, ADMIN, OWNER]);
    await app.days(2);
    expect(await stateOf(job)).toBe('completed');
  });

  it('stakes on their bids are paused, too', async () => {
    const job = await givenJob(app, 'open', people, { offers: { bidder: { guaranteed_view: true } } });
    const { held } = await tokensOf(app, people.bidder);
    await app.hours(24.1);
    await call(people.owner, 'suspend');
    await app.days(200);
    expect((await tokensOf(app, people.bidder)).held).toBe(held);
    await call(people.owner, 'restore');
    expect(await app.clockEvents(job)).toEqual([OWNER, ADMIN]);
    await app.hours(47.8);
    expect((await tokensOf(app, people.bidder)).held).toBe(held);
    await app.hours(0.2);
    expect((await tokensOf(app, people.bidder)).held).toBe(held - 5);
    expect(await app.clockEvents(job)).toEqual([OWNER, ADMIN, 'bid.stake_released']);
  });

  it('a decision, which only the contractor can appeal, still stands after 14 days', async () => {
    const job = await givenJob(app, 'decision_reached', people);
    await call(people.owner, 'suspend');
    await app.days(12.1);
    await app.days(2);
    expect(await stateOf(job)).toBe('completed');
    expect(await app.clockEvents(job)).not.toContain(ADMIN);
  });
});

test.each(['owner', 'awardee'] as const)('a dispute is paused while the %s is suspended', async (who) => {
  const job = await givenJob(app, 'disputed', people);
  await app.days(13);
  await call(people[who], 'suspend');
  const other = who === 'owner' ? people.awardee : people.owner;
  await app.days(10);
  // The other party can still make a proposal, which restarts the deadline.
  const resolution = 'Half the price.';
  await must(app, 'resolveDispute', other, job, undefined, { resolution });
  await app.days(30);
  expect(await stateOf(job)).toBe('disputed');
  await call(people[who], 'restore');
  const now = await app.days(0);
  const left = (Date.parse((await endOf(job)) ?? '') - now.getTime()) / 86_400_000;
  // The reminder of the 26th day comes after 13 days, and the clock acts two days later at the earliest.
  expect(left).toBeGreaterThan(14.9);
  expect(left).toBeLessThan(15.1);
  await app.days(13.1);
  await app.days(2);
  expect(await stateOf(job)).toBe('escalated');
});

test('a suspension before the last reminder doesn’t make an old reminder count', async () => {
  const job = await givenJob(app, 'in_review', people);
  await app.days(12.1);
  await call(people.owner, 'suspend');
  await app.days(1);
  await call(people.owner, 'restore');
  await app.days(1.8);
  expect(await stateOf(job)).toBe('in_review');
  await app.days(0.2);
  expect(await stateOf(job)).toBe('completed');
});

test('a job that moves on during a suspension has the new state’s deadline', async () => {
  const job = await givenJob(app, 'disputed', people);
  await call(people.owner, 'suspend');
  await must(app, 'escalate', people.awardee, job, undefined, { escalation_reason: 'Silence.' });
  await app.days(5.1);
  expect((await app.clockEvents(job)).slice(-1)).toEqual([ADMIN]);
  await call(people.owner, 'restore');
  await app.days(100);
  const rows = await app.sql<Json[]>`select from_status, data from events where job_id = ${job.id}
    and type = 'job.reminded' order by sequence`;
  expect(rows.map(({ from_status }) => from_status)).toEqual(['disputed', 'escalated']);
});

test('a proposal stays open as long as the deadline is paused', async () => {
  const job = await givenJob(app, 'disputed', people);
  const { id } = await propose(app, people, job);
  await call(people.owner, 'suspend');
  await app.days(40);
  const { token } = people.awardee;
  const { body } = await app.rest('GET', `/v1/jobs/${job.id}/dispute`, { token });
  expect([body.proposal.id, body.escalation]).toEqual([id, null]);
});

/** Olive asks for more time. She gets it once per status, and by at most the deadline's own length. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { checkDatabase } from '../../../../setup/database/checker.js';
import type { Json } from '../../../../setup/app.js';
import { everythingOn, must } from '../../../../story/awards.js';
import { APIS, callRest, outcomeOf, type Api } from '../../../../story/calls.js';
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

const endOf = async (job: GivenJob): Promise<string> => (await app.upcoming(people.admin, job))[0]?.at;
const extend = (api: Api, who: keyof People | null, job: { id: string }, body: object, version?: number) =>
  outcomeOf(app, api, 'extendDeadline', {
    by: who === null ? undefined : people[who],
    job: job.id,
    body,
    ...(version !== undefined && { version }),
  });

describe.each(APIS)('through %s', (api) => {
  test('work in review: the reminders move along, and the version stays', async () => {
    const job = await givenJob(app, 'in_review', people);
    await app.days(5.1);
    const end = await endOf(job);
    const before = await app.readJob(people.owner, job);
    const until = daysAfter(end, 10);
    expect(await extend(api, 'owner', job, { until }, before.version)).toMatchObject({ ok: true });
    expect(await app.readJob(people.owner, job)).toEqual(before);
    expect(await endOf(job)).toBe(until);
    await app.days(9.8);
    expect(await app.clockEvents(job)).toEqual(['job.reminded owner']);
    await app.days(0.2);
    expect(await app.clockEvents(job)).toEqual(['job.reminded owner', 'job.reminded owner']);
    await app.days(7);
    await app.days(2);
    expect(await app.clockEvents(job)).toEqual([...Array(3).fill('job.reminded owner'), 'job.auto_approved']);
  });

  test('the deadline can move by its own length, and not by a second more', async () => {
    const job = await givenJob(app, 'in_review', people);
    const end = await endOf(job);
    const refused = { status: 400, code: 'VALIDATION_FAILED', fields: ['until'] };
    const before = await everythingOn(app, job);
    expect(await extend(api, 'owner', job, { until: daysAfter(end, 14 + 1 / 86_400) })).toMatchObject(refused);
    expect(await extend(api, 'owner', job, { until: end })).toMatchObject(refused);
    expect(await extend(api, 'owner', job, { until: daysAfter(end, -1) })).toMatchObject(refused);
    expect(await extend(api, 'owner', job, { until: '2020-01-01T00:00:00.000Z' })).toMatchObject(refused);
    expect(await everythingOn(app, job)).toEqual(before);
    expect(await extend(api, 'owner', job, { until: daysAfter(end, 14) })).toMatchObject({ ok: true });
    expect(await endOf(job)).toBe(daysAfter(end, 14));
  });

  test('each refusal comes in the fixed order, and changes nothing', async () => {
    const review = await givenJob(app, 'in_review', people);
    const until = daysAfter(await endOf(review), 1);
    const disputed = await givenJob(app, 'disputed', people);
    const decided = await givenJob(app, 'decision_reached', people);
    const before = await Promise.all([review, disputed, decided].map((job) => everythingOn(app, job)));
    const gone = { id: `job_${'0'.repeat(27)}` };
    const refused = async (who: keyof People | null, job: { id: string }, body: object, version?: number) => {
      const { status, code } = await extend(api, who, job, body, version);
      return `${status} ${code}`;
    };
    const bad = { until: 'tomorrow' };
    expect(await refused(null, gone, bad)).toMatch(/^401 /);
    // A contractor can never extend a deadline, so nothing else is looked at.
    expect(await refused('awardee', gone, { until })).toBe('403 FORBIDDEN');
    expect(await refused('owner', gone, bad)).toBe('400 VALIDATION_FAILED');
    expect(await refused('owner', gone, { until })).toBe('404 NOT_FOUND');
    expect(await refused('other', disputed, { until })).toBe('403 FORBIDDEN');
    expect(await refused('owner', disputed, { until })).toBe('400 INVALID_TRANSITION');
    expect(await refused('admin', disputed, { until })).toBe('400 INVALID_TRANSITION');
    const past = { until: '2020-01-01T00:00:00.000Z' };
    expect(await refused('admin', review, past)).toBe('403 FORBIDDEN');
    expect(await refused('owner', decided, past)).toBe('403 FORBIDDEN');
    expect(await refused('admin', review, { until }, 1)).toBe('403 FORBIDDEN');
    expect(await refused('owner', review, { until }, 1)).toBe('412 STALE_VERSION');
    expect(await refused('owner', review, past)).toBe('400 VALIDATION_FAILED');
    expect(await Promise.all([review, disputed, decided].map((job) => everythingOn(app, job)))).toEqual(before);
    expect(await extend(api, 'owner', review, { until })).toMatchObject({ ok: true });
    expect(await refused('owner', review, past)).toBe('400 INVALID_TRANSITION');
    expect(await refused('owner', review, { until: daysAfter(until, 1) })).toBe('400 INVALID_TRANSITION');
    expect(await refused('other', review, bad)).toBe('400 VALIDATION_FAILED');
  });
});

it('a request without a new deadline learns that it is required', async () => {
  const { id } = await givenJob(app, 'in_review', people);
  const problemOf = async (body: object) =>
    (await app.rest('POST', `/v1/jobs/${id}/extend-deadline`, { token: people.owner.token, body })).body.details.fields;
  expect(await problemOf({})).toEqual({ until: 'is required' });
  expect(await problemOf({ until: null })).toEqual({ until: expect.stringMatching(/^must be a timestamp/) });
});

it('once per status and job, even if the job comes back to the status', async () => {
  const job = await givenJob(app, 'in_review', people);
  const longer = async () => extend('rest', 'owner', job, { until: daysAfter(await endOf(job), 1) });
  expect(await longer()).toMatchObject({ ok: true });
  await must(app, 'requestChanges', people.owner, job, undefined, { reason: 'It still leaks.' });
  await must(app, 'submitForReview', people.awardee, job);
  expect(await longer()).toMatchObject({ code: 'INVALID_TRANSITION' });
  // The second stay has its own deadline again.
  const left = Date.parse(await endOf(job)) - (await app.days(0)).getTime();
  expect(Math.round(left / 86_400_000)).toBe(14);
});

it('for an open job and for its review, once each', async () => {
  const job = await givenJob(app, 'open', people);
  const longer = async () => extend('rest', 'owner', job, { until: daysAfter(await endOf(job), 30) });
  expect(await longer()).toMatchObject({ ok: true });
  await app.days(59);
  expect(await app.readJob(people.owner, job)).toMatchObject({ status: 'open' });
  const step = (key: Parameters<typeof must>[1], who: keyof People, body: object = {}) =>
    must(app, key, people[who], job, undefined, body);
  await step('award', 'owner', { bid_id: job.bids.awardee });
  await step('checkIn', 'awardee');
  await step('submitForReview', 'awardee');
  expect(await extend('graphql', 'owner', job, { until: daysAfter(await endOf(job), 14) })).toMatchObject({ ok: true });
});

it('after the deadline passed, while the clock waits for its own reminder, counted from now', async () => {
  const job = await givenJob(app, 'in_review', people);
  const passed = await endOf(job);
  const now = (await app.days(40)).toISOString();
  const outcome = (until: string) => extend('rest', 'owner', job, { until });
  expect(await outcome(daysAfter(passed, 14))).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['until'] });
  expect(await outcome(daysAfter(now, 14.1))).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['until'] });
  const until = daysAfter(now, 13);
  expect(await outcome(until)).toMatchObject({ ok: true });
  expect(await endOf(job)).toBe(until);
  await app.days(12.9);
  expect(await app.readJob(people.owner, job)).toMatchObject({ status: 'in_review' });
});

it('to the exact millisecond requested', async () => {
  const job = await givenJob(app, 'open', people);
  const until = new Date(Date.parse(await endOf(job)) + 86_400_499).toISOString();
  expect(await extend('graphql', 'owner', job, { until })).toMatchObject({ ok: true });
  expect(await endOf(job)).toBe(until);
});

it('both parties can read why a deadline was extended; on an open job, only the owner can', async () => {
  const read = async (job: GivenJob, who: keyof People): Promise<Json> => {
    const { token } = people[who];
    const { body } = await app.rest('GET', `/v1/jobs/${job.id}/events?per_page=100`, { token });
    return body.data.find(({ type }: Json) => type === 'job.deadline_extended')?.data.reason;
  };
  const review = await givenJob(app, 'in_review', people);
  const open = await givenJob(app, 'open', people);
  for (const job of [review, open]) {
    const until = daysAfter(await endOf(job), 1);
    expect(await extend('rest', 'owner', job, { until, reason: 'I’m away.' })).toMatchObject({ ok: true });
    for (const who of ['owner', 'admin'] as const) expect(await read(job, who)).toBe('I’m away.');
    expect(await read(job, 'bidder')).toBeUndefined();
  }
  expect(await read(review, 'awardee')).toBe('I’m away.');
  expect(await read(open, 'awardee')).toBeUndefined();
  const { owner } = people;
  await callRest(app, 'award', { by: owner, job: open.id, body: { bid_id: open.bids.awardee } });
  expect(await app.readJob(people.awardee, open)).toMatchObject({ status: 'awarded' });
  expect(await read(open, 'awardee')).toBeUndefined();
});

// The suspension ends sessions, so this is the last test.
it('while the deadline is paused, by as much as if it resumed now', async () => {
  const job = await givenJob(app, 'decision_reached', people);
  const { token } = people.admin;
  const person = `/v1/users/${people.awardee.userId}`;
  await app.rest('POST', `${person}/suspend`, { token, body: { reason: 'Under review.' } });
  const paused = Date.parse((await app.days(0)).toISOString());
  const end = Date.parse(daysAfter(new Date(paused), 14));
  const now = (await app.days(40)).getTime();
  const outcome = (days: number) =>
    extend('rest', 'admin', job, { until: daysAfter(new Date(end + now - paused), days) });
  expect(await outcome(-0.1)).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['until'] });
  expect(await outcome(14.1)).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['until'] });
  expect(await outcome(7)).toMatchObject({ ok: true });
  await app.rest('POST', `${person}/restore`, { token, body: {} });
  const restored = (await app.days(0)).getTime();
  const left = Date.parse(await endOf(job)) - restored;
  expect(left / 86_400_000).toBeCloseTo(21, 1);
});

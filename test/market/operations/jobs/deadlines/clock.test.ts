/** What the clock does if nobody acts. The tests move its time with `advanceClock`. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { createClock } from '../../../../../src/market/operations/jobs/clock.js';
import { CLOCK } from '../../../../../src/market/rules/market-limits.js';
import { checkDatabase } from '../../../../setup/database/checker.js';
import type { Json } from '../../../../setup/app.js';
import { must, tokensOf } from '../../../../story/awards.js';
import { APIS, callRest, outcomeOf, restOutcome } from '../../../../story/calls.js';
import { contractor, type Person } from '../../../../story/cast.js';
import { copyJob } from '../../../../story/copies.js';
import { daysAfter, openTimedApp, type TimedApp } from '../../../../story/deadlines.js';
import { DRAFT, givenJob, PROPOSED, propose, type GivenJob, type People } from '../../../../story/journey.js';

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
const AWARDEE = 'job.reminded awardee';
const PARTIES = 'job.reminded parties';
const ADMIN = 'job.reminded admin';

const stateOf = async (job: GivenJob): Promise<string> => (await app.readJob(people.owner, job)).status;

/** An open job that nobody has bid on. */
async function jobWithoutBids(): Promise<GivenJob> {
  const created = await callRest(app, 'create', { by: people.owner, body: DRAFT });
  const job: GivenJob = { id: created.body.id, state: 'draft', bids: { awardee: null, bidder: null } };
  await must(app, 'publish', people.owner, job);
  return { ...job, state: 'open' };
}

describe('a job that is open', () => {
  it('expires after 30 days and two reminders, and its owner gets the publishing cost back', async () => {
    const { balance } = await tokensOf(app, people.owner);
    const job = await jobWithoutBids();
    const { version, updated_at } = await app.readJob(people.owner, job);
    await app.days(20.9);
    expect(await app.clockEvents(job)).toEqual([]);
    await app.days(0.2);
    expect(await app.clockEvents(job)).toEqual([OWNER]);
    await app.days(7);
    expect(await app.clockEvents(job)).toEqual([OWNER, OWNER]);
    expect(await app.upcoming(people.owner, job)).toMatchObject([{ action: 'expire' }]);
    expect(await app.readJob(people.owner, job)).toMatchObject({ status: 'open', version, updated_at });
    await app.days(2);
    expect(await app.readJob(people.owner, job)).toMatchObject({ status: 'cancelled', version: version + 1 });
    expect(await app.clockEvents(job)).toEqual([OWNER, OWNER, 'job.expired']);
    expect((await tokensOf(app, people.owner)).balance).toBe(balance);
    expect(await app.upcoming(people.owner, job)).toEqual([]);
  });

  it('expires without a refund if someone bid on it, and the bids are rejected', async () => {
    const job = await givenJob(app, 'open', people, { offers: { bidder: { guaranteed_view: true } } });
    await must(app, 'shortlist', people.owner, job, job.bids.bidder!);
    const { balance } = await tokensOf(app, people.owner);
    const stake = await tokensOf(app, people.bidder);
    await app.days(28.1);
    await app.days(2.1);
    expect(await stateOf(job)).toBe('cancelled');
    expect(await app.clockEvents(job)).toEqual([OWNER, 'job.expired', 'bid.rejected', 'bid.rejected']);
    expect((await tokensOf(app, people.owner)).balance).toBe(balance);
    expect(await tokensOf(app, people.bidder)).toEqual({ balance: stake.balance, held: stake.held - 5 });
    const { token } = people.bidder;
    const bid = (await app.rest('GET', `/v1/bids/${job.bids.bidder}`, { token })).body;
    expect(bid.status).toBe('rejected');
    const { body } = await app.rest('GET', `/v1/jobs/${job.id}/events`, { token });
    expect(body.data.slice(-2).map(({ type, actor_id }: Json) => [type, actor_id])).toEqual([
      ['job.expired', null],
      ['bid.rejected', null],
    ]);
  });

  it('isn’t touched before its reminder was 48 hours ago, however far the clock jumps', async () => {
    const job = await givenJob(app, 'open', people);
    await app.days(100);
    expect(await app.clockEvents(job)).toEqual([OWNER]);
    await app.days(1.9);
    expect(await stateOf(job)).toBe('open');
    await app.days(0.2);
    expect(await stateOf(job)).toBe('cancelled');
  });

  test.each(['declineAward', 'reopen'] as const)('starts a new deadline after %s', async (key) => {
    const job = await givenJob(app, 'open', people);
    await app.days(28.1);
    await must(app, 'award', people.owner, job, undefined, { bid_id: job.bids.awardee });
    expect(await app.upcoming(people.owner, job)).toEqual([]);
    await must(app, key, key === 'reopen' ? people.owner : people.awardee, job, undefined, {});
    const [{ at }] = (await app.upcoming(people.owner, job)) as [Json];
    const now = await app.days(20.9);
    expect(Math.abs(Date.parse(at) - now.getTime() - 9.1 * 86_400_000)).toBeLessThan(60_000);
    expect(await app.clockEvents(job)).toEqual([OWNER]);
    await app.days(0.2);
    expect(await app.clockEvents(job)).toEqual([OWNER, OWNER]);
    await app.days(7);
    await app.days(2);
    expect((await app.clockEvents(job)).slice(1)).toEqual([OWNER, OWNER, 'job.expired', 'bid.rejected']);
  });
});

describe('work in review', () => {
  it('counts as approved after 14 days, and the contractor gets the credit', async () => {
    const job = await givenJob(app, 'in_review', people);
    const { token } = people.owner;
    const path = `/v1/contractors/${people.awardee.profileId}`;
    const before = (await app.rest('GET', path, { token })).body.completed_jobs;
    await app.days(5.1);
    await app.days(7);
    await app.days(2);
    expect(await stateOf(job)).toBe('completed');
    expect((await app.rest('GET', path, { token })).body.completed_jobs).toBe(before + 1);
    expect(await app.clockEvents(job)).toEqual([OWNER, OWNER, 'job.auto_approved']);
  });

  test.each(APIS)(
    'can be rated through %s once it counts as approved, like work approved without a rating',
    async (api) => {
      const ava = await contractor(app, 'Ava');
      const job = await givenJob(app, 'in_review', { ...people, awardee: ava });
      await app.days(12.1);
      await app.days(2);
      const rate = (rating: number) =>
        outcomeOf(app, api, 'review', { by: people.owner, job: job.id, body: { rating, review: 'Late but good.' } });
      expect(await rate(5)).toMatchObject({ ok: true });
      expect(await rate(1)).toMatchObject({ code: 'INVALID_TRANSITION' });
      const { body } = await app.rest('GET', `/v1/contractors/${ava.profileId}`, { token: ava.token });
      expect(body).toMatchObject({ completed_jobs: 1, rating_average: 5, rating_count: 1 });
    },
  );
});

const disputeOf = async (job: GivenJob): Promise<Json> => {
  const { token } = people.awardee;
  const { body } = await app.rest('GET', `/v1/jobs/${job.id}/dispute`, { token });
  const query = `query($id: ID!) { job(id: $id) { dispute { escalation { by at reason } proposal { id }
    ending { by at how text } } } }`;
  const { data } = await app.graphql(query, { token, variables: { id: job.id } });
  const { escalation, proposal, ending } = data?.job.dispute ?? {};
  expect({
    escalation,
    proposal: proposal?.id ?? null,
    ending: ending && { ...ending, how: ending.how.toLowerCase() },
  }).toEqual({ escalation: body.escalation, proposal: body.proposal?.id ?? null, ending: body.ending });
  return body;
};

describe('a dispute', () => {
  it('is escalated after 14 days without a proposal, and the dispute says that nobody asked for it', async () => {
    const job = await givenJob(app, 'disputed', people);
    await app.days(7.1);
    expect(await app.clockEvents(job)).toEqual([PARTIES]);
    await app.days(5);
    expect(await app.clockEvents(job)).toEqual([PARTIES, PARTIES]);
    expect(await app.upcoming(people.awardee, job)).toMatchObject([{ action: 'escalate' }]);
    await app.days(2);
    expect(await stateOf(job)).toBe('escalated');
    expect((await app.clockEvents(job)).slice(2)).toEqual(['job.auto_escalated']);
    const { escalation, ending } = await disputeOf(job);
    expect([escalation, ending]).toEqual([
      { by: null, at: expect.any(String), reason: expect.stringContaining('in time') },
      null,
    ]);
  });

  it('starts again with each proposal, but takes at most 28 days, and the last proposal lapses', async () => {
    const job = await givenJob(app, 'disputed', people);
    const begin = (await app.days(0)).getTime();
    const endAfter = async (): Promise<number> => {
      const [one] = await app.upcoming(people.owner, job);
      return Math.round((Date.parse(one?.at) - begin) / 86_400_000);
    };
    expect(await endAfter()).toBe(14);
    await app.days(10);
    await propose(app, people, job);
    expect(await endAfter()).toBe(24);
    await app.days(10);
    const body = { resolution: 'Half the price.' };
    await must(app, 'resolveDispute', people.owner, job, undefined, body);
    expect(await endAfter()).toBe(28);
    const { proposal } = await disputeOf(job);
    await app.days(5.5);
    await propose(app, people, job);
    expect(await endAfter()).toBe(28);
    expect(await app.clockEvents(job)).toEqual([PARTIES, PARTIES]);
    await app.days(0.6);
    // The last reminder counts from the beginning of the dispute.
    expect(await app.clockEvents(job)).toEqual([PARTIES, PARTIES, PARTIES]);
    await app.days(1.8);
    expect(await stateOf(job)).toBe('disputed');
    await app.days(0.2);
    expect(await stateOf(job)).toBe('escalated');
    expect((await disputeOf(job)).proposal).toBeNull();
    const asked = { by: people.owner, job: job.id, body: { proposal_id: proposal.id } };
    for (const api of APIS)
      expect(await outcomeOf(app, api, 'acceptResolution', asked)).toMatchObject({ code: 'INVALID_TRANSITION' });
    const again = { by: people.owner, job: job.id, body: { resolution: PROPOSED } };
    expect(restOutcome(await callRest(app, 'resolveDispute', again))).toMatchObject({ code: 'INVALID_TRANSITION' });
  });

  it('that a proposal prolongs to its last day is still announced before it is escalated', async () => {
    const job = await givenJob(app, 'disputed', people);
    await app.days(12.1);
    await propose(app, people, job);
    await app.days(13.8);
    await must(app, 'resolveDispute', people.owner, job, undefined, { resolution: 'Half the price.' });
    await app.days(100);
    expect(await stateOf(job)).toBe('disputed');
    await app.days(2.1);
    expect(await stateOf(job)).toBe('escalated');
  });
});

describe('a decision', () => {
  const creditsOf = async ({ profileId, token }: Person): Promise<number> =>
    (await app.rest('GET', `/v1/contractors/${profileId}`, { token })).body.completed_jobs;

  it('stands after 14 days without an appeal, and the contractor gets no credit', async () => {
    const job = await givenJob(app, 'decision_reached', people);
    const before = await creditsOf(people.awardee);
    await app.days(10.1);
    expect(await app.clockEvents(job)).toEqual([AWARDEE]);
    await app.days(2);
    expect(await app.clockEvents(job)).toEqual([AWARDEE, AWARDEE]);
    expect(await app.upcoming(people.owner, job)).toMatchObject([{ action: 'stand_decision' }]);
    await app.days(2);
    expect(await stateOf(job)).toBe('completed');
    expect((await app.clockEvents(job)).slice(2)).toEqual(['job.decision_stood']);
    const { ending, decision } = await disputeOf(job);
    expect(ending).toEqual({ by: null, at: expect.any(String), how: 'decision_stood', text: decision.decision });
    expect(await creditsOf(people.awardee)).toBe(before);
    const rating = { by: people.owner, job: job.id, body: { rating: 1 } };
    expect(restOutcome(await callRest(app, 'review', rating))).toMatchObject({ code: 'INVALID_TRANSITION' });
  });

  it('has more time after an admin extended it, and the extension is recorded', async () => {
    const job = await givenJob(app, 'decision_reached', people);
    const [{ at }] = (await app.upcoming(people.awardee, job)) as [Json];
    const until = daysAfter(at, 7);
    const asked = { job: job.id, body: { until, reason: 'Ava is ill.' } };
    expect(restOutcome(await callRest(app, 'extendDeadline', { by: people.owner, ...asked }))).toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(restOutcome(await callRest(app, 'extendDeadline', { by: people.admin, ...asked }))).toMatchObject({
      ok: true,
    });
    expect(await app.upcoming(people.owner, job)).toMatchObject([{ action: 'stand_decision', at: until }]);
    const { token } = people.admin;
    const actions = await app.rest('GET', `/v1/admin-actions?job_id=${job.id}`, { token });
    expect(actions.body.data[0]).toMatchObject({ action: 'extendDeadline', until, reason: 'Ava is ill.' });
    for (const { token } of [people.owner, people.awardee]) {
      const { body } = await app.rest('GET', `/v1/jobs/${job.id}/events?per_page=100`, { token });
      expect(body.data.at(-1)).toMatchObject({ type: 'job.deadline_extended', data: { until, reason: 'Ava is ill.' } });
    }
    await app.days(16.9);
    expect(await app.clockEvents(job)).toEqual([]);
    await app.days(0.2);
    expect(await app.clockEvents(job)).toEqual([AWARDEE]);
    await app.days(2);
    await app.days(2);
    expect(await stateOf(job)).toBe('completed');
  });
});

describe('where the clock only reminds', () => {
  it('an awarded contractor is reminded after 3 and 6 days, and nothing else happens', async () => {
    const job = await givenJob(app, 'awarded', people);
    await app.days(3.1);
    expect(await app.clockEvents(job)).toEqual([AWARDEE]);
    await app.days(3);
    await app.days(100);
    expect(await app.clockEvents(job)).toEqual([AWARDEE, AWARDEE]);
    expect(await stateOf(job)).toBe('awarded');
    expect(await app.upcoming(people.owner, job)).toEqual([]);
    expect(await app.untils(people.awardee, job)).toEqual({});
  });

  it('work in progress has reminders only after its owner requested changes', async () => {
    const job = await givenJob(app, 'in_progress', people);
    await app.days(100);
    expect(await app.clockEvents(job)).toEqual([]);
    await must(app, 'submitForReview', people.awardee, job);
    await must(app, 'requestChanges', people.owner, job, undefined, { reason: 'It still leaks.' });
    await app.days(7.1);
    expect(await app.clockEvents(job)).toEqual([AWARDEE]);
    await app.days(5);
    await app.days(100);
    expect(await app.clockEvents(job)).toEqual([AWARDEE, AWARDEE]);
    expect(await stateOf(job)).toBe('in_progress');
  });

  test.each(['escalated', 'appealed'] as const)('admins are reminded of an %s job after 5 days', async (state) => {
    const job = await givenJob(app, state, people);
    await app.days(4.9);
    expect(await app.clockEvents(job)).toEqual([]);
    await app.days(0.2);
    await app.days(100);
    expect(await app.clockEvents(job)).toEqual([ADMIN]);
    expect(await stateOf(job)).toBe(state);
  });

  test.each(['draft', 'in_progress', 'completed', 'cancelled'] as const)(
    'a job that is %s is left alone',
    async (state) => {
      const job = await givenJob(app, state, people);
      await app.days(365);
      expect(await app.clockEvents(job)).toEqual([]);
      expect(await stateOf(job)).toBe(state);
      expect(await app.upcoming(people.owner, job)).toEqual([]);
    },
  );
});

it('a reminder changes neither the job’s version, nor its ETag, nor its times', async () => {
  const job = await givenJob(app, 'awarded', people);
  const { token } = people.owner;
  const before = await app.rest('GET', `/v1/jobs/${job.id}`, { token });
  await app.days(3.1);
  expect(await app.clockEvents(job)).toEqual([AWARDEE]);
  const after = await app.rest('GET', `/v1/jobs/${job.id}`, { token });
  expect(after.body).toEqual(before.body);
  expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
  const version = before.body.version;
  const asked = { by: people.owner, job: job.id, version, body: { desired_completion_date: '2031-01-01' } };
  expect(restOutcome(await callRest(app, 'update', asked))).toMatchObject({ ok: true });
});

it('a job that the clock can’t handle doesn’t keep it from other jobs, and is tried again in an hour', async () => {
  const [broken, sound] = [await jobWithoutBids(), await jobWithoutBids()];
  await app.sql.unsafe(`create function break_job() returns trigger language plpgsql as
    $$ begin if new.event_count > old.event_count then raise 'broken'; end if; return new; end $$`);
  await app.sql.unsafe(`create trigger broken before update on jobs for each row when (new.id = '${broken.id}')
    execute function break_job()`);
  await app.days(21.1);
  expect([await app.clockEvents(broken), await app.clockEvents(sound)]).toEqual([[], [OWNER]]);
  expect(app.logged.join('')).toContain('the clock could not check a job; it tries again in an hour');
  await app.sql.unsafe('drop function break_job cascade');
  await app.hours(0.9);
  expect(await app.clockEvents(broken)).toEqual([]);
  await app.hours(0.2);
  expect(await app.clockEvents(broken)).toEqual([OWNER]);
});

it('after an outage of the clock, people are reminded again before it acts', async () => {
  const job = await givenJob(app, 'in_review', people);
  await app.days(12.1);
  // No server's clock has run for two hours.
  await app.sql`update deadline_clock set ran_at = now() - interval '2 hours'`;
  await app.days(2);
  expect(await app.clockEvents(job)).toEqual([OWNER, OWNER]);
  await app.days(1.9);
  expect(await stateOf(job)).toBe('in_review');
  await app.days(0.2);
  expect(await stateOf(job)).toBe('completed');
});

describe('a job that the clock can’t look at', () => {
  it('doesn’t keep the clock from other jobs, even if there are many such jobs', async () => {
    const broken = await givenJob(app, 'awarded', people);
    await copyJob(app, broken, CLOCK.batchJobs);
    const sound = await givenJob(app, 'awarded', people);
    const clock = createClock(app.services);
    await clock.run();
    await app.sql.unsafe(`create function fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$`);
    await app.sql.unsafe(`create trigger fail before update on jobs for each row when (new.id <> '${sound.id}')
      execute function fail()`);
    await app.sql`update deadline_clock set ahead_seconds = ahead_seconds + ${Math.round(3.1 * 86_400)}`;
    await clock.run();
    await clock.run();
    await app.sql.unsafe('drop function fail cascade');
    expect(await app.clockEvents(sound)).toEqual([AWARDEE]);
    expect(await app.clockEvents(broken)).toEqual([]);
    // Another server hasn't failed yet.
    await app.days(0);
    expect(await app.clockEvents(broken)).toEqual([AWARDEE]);
  });

  it('because someone else locked it is looked at again by the next scan', async () => {
    const job = await givenJob(app, 'awarded', people);
    const clock = createClock(app.services);
    await app.sql`update deadline_clock set ahead_seconds = ahead_seconds + ${Math.round(3.1 * 86_400)}`;
    await app.sql.begin(async (tx) => {
      await tx`select from jobs where id = ${job.id} for update`;
      await clock.run();
    });
    expect(await app.clockEvents(job)).toEqual([]);
    await clock.run();
    expect(await app.clockEvents(job)).toEqual([AWARDEE]);
  });
});

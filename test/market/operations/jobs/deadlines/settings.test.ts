/** What an operator sets: whether the clock acts, how long it takes, and whether tests can move it. */
import { afterEach, describe, expect, it, test } from 'vitest';
import { createClock } from '../../../../../src/market/operations/jobs/clock.js';
import { applySettings } from '../../../../../src/market/store/jobs/due-jobs.js';
import { checkDatabase } from '../../../../setup/database/checker.js';
import { waitingCalls } from '../../../../setup/database/waiting-calls.js';
import { openTestApp, type Json } from '../../../../setup/app.js';
import { byGraphql, byRest } from '../../../../apis/refused.js';
import { bidsOn, tokensOf } from '../../../../story/awards.js';
import { callRest, restOutcome } from '../../../../story/calls.js';
import { copyJob } from '../../../../story/copies.js';
import { ACTING, daysAfter, openTimedApp, withClock, type TimedApp } from '../../../../story/deadlines.js';
import { givenJob, type GivenJob } from '../../../../story/journey.js';
import { until } from '../../../../platform/security/until.js';

const OVERDUE_JOBS = Number(process.env.OVERDUE_JOBS ?? 120);
/** In the nightly run, the clock looks at ten thousand jobs three times. */
const LONG = { timeout: 1_800_000 };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** The database is checked at the end. */
async function opened(env: Record<string, string>): Promise<TimedApp> {
  const app = await openTimedApp(env, { tokensLast: true });
  closing.push(async () => {
    expect(await checkDatabase(app.sql)).toEqual([]);
    await app.close();
  });
  return app;
}

/** Another server on the same database, with other settings. */
async function besides(app: TimedApp, env: Record<string, string>): Promise<TimedApp> {
  const other = await openTestApp({ ...ACTING, ...env }, { sameDatabaseAs: app, tokensLast: true });
  closing.push(() => other.close());
  return withClock(other, app.people);
}

const stateOf = async (app: TimedApp, job: GivenJob): Promise<string> =>
  (await app.readJob(app.people.admin, job)).status;

const OWNER = 'job.reminded owner';
const ADMIN = 'job.reminded admin';

describe('DEADLINES=remind', () => {
  it('only reminds people, and tells admins once when a deadline passes', async () => {
    const app = await opened({ DEADLINES: 'remind' });
    const { people } = app;
    const review = await givenJob(app, 'in_review', people);
    const stake = await givenJob(app, 'open', people, { offers: { bidder: { guaranteed_view: true } } });
    const disputed = await givenJob(app, 'disputed', people);
    const decided = await givenJob(app, 'decision_reached', people);
    expect(await app.upcoming(people.owner, review)).toEqual([]);
    expect(await app.untils(people.owner, review)).toEqual({});
    await app.days(1.1);
    await app.days(2);
    expect(await app.clockEvents(stake)).toEqual([OWNER, ADMIN]);
    expect((await bidsOn(app, stake))[stake.bids.bidder!]).toBe('pending, active hold');
    await app.days(2.1);
    await app.days(7);
    expect(await app.clockEvents(review)).toEqual([OWNER, OWNER]);
    await app.days(2);
    expect(await app.clockEvents(review)).toEqual([OWNER, OWNER, ADMIN]);
    await app.days(100);
    await app.days(100);
    expect(await app.clockEvents(review)).toEqual([OWNER, OWNER, ADMIN]);
    expect((await app.clockEvents(stake)).slice(2)).toEqual([ADMIN]);
    expect((await app.clockEvents(disputed)).filter((type) => type === ADMIN)).toEqual([ADMIN]);
    expect((await app.clockEvents(decided)).filter((type) => type === ADMIN)).toEqual([ADMIN]);
    for (const [job, state] of [
      [review, 'in_review'],
      [stake, 'open'],
      [disputed, 'disputed'],
      [decided, 'decision_reached'],
    ] as const)
      expect(await stateOf(app, job)).toBe(state);
    expect((await tokensOf(app, people.bidder)).held).toBe(5);
  });

  it('is what a server does if nobody sets anything', async () => {
    const app = await openTestApp();
    closing.push(() => app.close());
    expect((await app.rest('GET', '/v1/lifecycle')).body.deadline_mode).toBe('remind');
  });
});

test('DEADLINES=off: nothing happens, and turning it on later starts with reminders', async () => {
  const app = await opened({ DEADLINES: 'off' });
  const { people } = app;
  const job = await givenJob(app, 'in_review', people);
  await app.days(100);
  expect(await app.clockEvents(job)).toEqual([]);
  expect(await app.upcoming(people.owner, job)).toEqual([]);
  expect(await app.untils(people.owner, job)).toEqual({});
  const acting = await besides(app, {});
  await acting.days(0);
  expect(await app.clockEvents(job)).toEqual([OWNER]);
  await acting.days(2.1);
  expect(await stateOf(app, job)).toBe('completed');
});

test('the lifecycle shows the deadlines with this server’s times, the same through both APIs', async () => {
  const app = await opened({ DEADLINE_IN_REVIEW_DAYS: '20', DEADLINE_STAKE_HOURS: '96' });
  const { body } = await app.rest('GET', '/v1/lifecycle');
  const { data } = await app.graphql(`{ lifecycle { deadlineMode deadlines { status countedFrom reminders { to hours }
    action hours to extendedBy description } } }`);
  const lower = (word: string | null) => word?.toLowerCase() ?? null;
  const rows = data?.lifecycle.deadlines.map(({ countedFrom, extendedBy, ...row }: Json) => ({
    ...row,
    status: lower(row.status),
    action: lower(row.action),
    to: lower(row.to),
    counted_from: countedFrom,
    extended_by: extendedBy,
  }));
  expect(body.deadlines).toEqual(rows);
  expect([body.deadline_mode, data?.lifecycle.deadlineMode]).toEqual(['act', 'ACT']);
  const row = (status: string, action: string | null) =>
    body.deadlines.find((one: Json) => one.status === status && one.action === action);
  const times = (one: Json) => [one.reminders.map(({ hours }: Json) => hours), one.hours, one.to];
  expect(times(row('open', 'expire'))).toEqual([[504, 672], 720, 'cancelled']);
  expect(times(row('open', 'release_stake'))).toEqual([[48], 96, null]);
  expect(times(row('awarded', null))).toEqual([[72, 144], null, null]);
  expect(times(row('in_progress', null))).toEqual([[168, 288], null, null]);
  expect(times(row('in_review', 'approve'))).toEqual([[264, 432], 480, 'completed']);
  expect(times(row('disputed', 'escalate'))).toEqual([[168, 288], 336, 'escalated']);
  expect(row('disputed', 'escalate').description).toContain(
    'no later than 28 days after the dispute began. Both parties are reminded on day 26.',
  );
  expect(times(row('escalated', null))).toEqual([[120], null, null]);
  expect(times(row('appealed', null))).toEqual([[120], null, null]);
  expect(times(row('decision_reached', 'stand_decision'))).toEqual([[240, 288], 336, 'completed']);
  const job = await givenJob(app, 'in_review', app.people);
  await app.days(14.5);
  expect(await app.clockEvents(job)).toEqual([OWNER]);
});

describe('advanceClock', () => {
  const GRAPHQL = 'mutation($seconds: Int!) { advanceClock(seconds: $seconds) { now } }';

  test.each(['rest', 'graphql'] as const)('is only for admins and never goes back: %s', async (api) => {
    const app = await opened({});
    const move = async (token: string | undefined, seconds: unknown) =>
      api === 'rest'
        ? byRest(await app.rest('POST', '/v1/test-clock', { token, body: { seconds } }))
        : byGraphql(await app.graphql(GRAPHQL, { token, variables: { seconds } }));
    expect(await move(undefined, 1)).toMatchObject({ status: 401 });
    for (const who of ['owner', 'awardee'] as const)
      expect(await move(app.people[who].token, -1)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    for (const seconds of [-1, 365 * 86_400 + 1])
      expect(await move(app.people.admin.token, seconds)).toEqual({
        status: 400,
        code: 'VALIDATION_FAILED',
        fields: ['seconds'],
      });
    const [row] = await app.sql`select ahead_seconds from deadline_clock`;
    expect(row).toEqual({ ahead_seconds: 0 });
  });

  it('moves by the second, returns the new time, and has done what became due', async () => {
    const app = await opened({});
    const { token } = app.people.admin;
    const job = await givenJob(app, 'in_review', app.people);
    const before = await app.days(0);
    const { data } = await app.graphql(GRAPHQL, { token, variables: { seconds: 12 * 86_400 + 60 } });
    expect(await app.clockEvents(job)).toEqual([OWNER]);
    const moved = Date.parse(data?.advanceClock.now) - Date.parse(daysAfter(before, 12)) - 60_000;
    expect(moved).toBeGreaterThanOrEqual(0);
    expect(moved).toBeLessThan(300_000);
    // Sessions and the times of events stay in real time.
    expect((await app.rest('GET', '/v1/me', { token })).status).toBe(200);
    const [event] = await app.sql`select now() - occurred_at < interval '5 minutes' as is_real from events
      where job_id = ${job.id} and type = 'job.reminded'`;
    expect(event).toEqual({ is_real: true });
  });

  it('fails with CLOCK=real, which is what a server uses if nobody sets anything', async () => {
    const app = await opened({ CLOCK: 'real' });
    const { token } = app.people.admin;
    const refused = { code: 'NOT_CONFIGURED' };
    expect(byRest(await app.rest('POST', '/v1/test-clock', { token, body: { seconds: 1 } }))).toMatchObject(refused);
    expect(byGraphql(await app.graphql(GRAPHQL, { token, variables: { seconds: 1 } }))).toMatchObject(refused);
    expect(byRest(await app.rest('POST', '/v1/test-clock', { token, body: { seconds: -1 } }))).toMatchObject({
      code: 'VALIDATION_FAILED',
    });
  });
});

test('the clock can’t be moved so far ahead that its offset overflows', async () => {
  const app = await opened({});
  await app.sql`update deadline_clock set ahead_seconds = ${20_000 * 86_400 - 1}`;
  const { token } = app.people.admin;
  const answer = await app.rest('POST', '/v1/test-clock', { token, body: { seconds: 2 } });
  expect(answer.status).toBe(400);
  expect(answer.body.details.fields).toEqual({
    seconds: 'would move the clock more than 20000 days ahead of real time',
  });
});

test('a dispute’s deadline can’t be longer than 28 days', async () => {
  await expect(openTestApp({ DEADLINE_DISPUTED_DAYS: '29' })).rejects.toThrow('DEADLINE_DISPUTED_DAYS');
});

describe('from remind to act', () => {
  it(`with ${OVERDUE_JOBS} overdue jobs, each is reminded once, waits 48 hours, and then acts once`, LONG, async () => {
    const reminding = await opened({ DEADLINES: 'remind' });
    const { sql, people } = reminding;
    const job = await givenJob(reminding, 'in_review', people);
    await copyJob(reminding, job, OVERDUE_JOBS - 1);
    await reminding.days(100);
    /** How many jobs have this many reminders of their owner and automatic approvals. */
    const jobs = async () => {
      const rows = await sql`select owner, approved, count(*)::int as jobs from (
        select count(*) filter (where type = 'job.reminded' and data ->> 'to' = 'owner')::int as owner,
          count(*) filter (where type = 'job.auto_approved')::int as approved from events group by job_id) counts
        group by owner, approved`;
      return [...rows];
    };
    expect(await jobs()).toEqual([{ owner: 0, approved: 0, jobs: OVERDUE_JOBS }]);
    const acting = await besides(reminding, {});
    await acting.days(0);
    expect(await jobs()).toEqual([{ owner: 1, approved: 0, jobs: OVERDUE_JOBS }]);
    await acting.days(1.9);
    expect(await jobs()).toEqual([{ owner: 1, approved: 0, jobs: OVERDUE_JOBS }]);
    await acting.days(0.2);
    expect(await jobs()).toEqual([{ owner: 1, approved: 1, jobs: OVERDUE_JOBS }]);
  });

  /** Each server's clock as it runs in the background. */
  const clockOf = ({ services }: TimedApp) => {
    const clock = createClock(services);
    return async () => {
      while (await clock.run());
    };
  };
  const moveTo = async ({ sql }: TimedApp, count: number) => {
    await sql`update deadline_clock set ahead_seconds = ${Math.round(count * 86_400)}`;
  };

  test('after another server was set to remind, one that is still set to act does nothing', async () => {
    const acting = await opened({});
    const { people } = acting;
    const job = await givenJob(acting, 'in_review', people);
    const reminding = await besides(acting, { DEADLINES: 'remind' });
    const [act, remind] = [clockOf(acting), clockOf(reminding)];
    await act();
    await remind();
    for (const day of [5.5, 6, 12.5, 13]) {
      await moveTo(acting, day);
      await act();
      await remind();
    }
    expect(await acting.clockEvents(job)).toEqual([OWNER, OWNER]);
    for (const day of [14.5, 17, 40, 100]) {
      await moveTo(acting, day);
      await act();
      await remind();
    }
    expect(await acting.clockEvents(job)).toEqual([OWNER, OWNER, ADMIN]);
    expect(await stateOf(acting, job)).toBe('in_review');
    // The next server that is set to act warns first.
    const again = clockOf(await besides(acting, {}));
    await again();
    await moveTo(acting, 101.9);
    await again();
    expect(await acting.clockEvents(job)).toEqual([OWNER, OWNER, ADMIN, OWNER]);
    await moveTo(acting, 102.1);
    await again();
    expect((await acting.clockEvents(job)).slice(4)).toEqual(['job.auto_approved']);
  });

  test.each(['remind', 'off'])(
    'a server that is still set to %s doesn’t keep a job from a server that acts',
    async (mode) => {
      const former = await opened({ DEADLINES: mode });
      const { people } = former;
      const first = await givenJob(former, 'in_review', people);
      const acting = await besides(former, {});
      const [old, act] = [clockOf(former), clockOf(acting)];
      await old();
      await act();
      const second = await givenJob(former, 'in_review', people);
      for (const day of [12.1, 14.2]) {
        await moveTo(former, day);
        await old();
        await act();
      }
      const events = [OWNER, 'job.auto_approved'];
      expect([await former.clockEvents(first), await former.clockEvents(second)]).toEqual([events, events]);
    },
  );

  /** Resolves once this many calls wait for a lock. */
  const waiting = ({ sql }: TimedApp, count: number) => until(async () => (await waitingCalls(sql)) === count);

  test.each(['remind', 'off'])(
    'a server that is still set to %s doesn’t look at a job that was marked for the new settings',
    async (mode) => {
      const former = await opened({ DEADLINES: mode });
      const job = await givenJob(former, 'in_review', former.people);
      await former.days(100);
      const [old, act] = [clockOf(former), clockOf(await besides(former, {}))];
      await old();
      const before = await former.clockEvents(job);
      let settling: Promise<void> | undefined;
      let checking: Promise<void> | undefined;
      await former.sql.begin(async (tx) => {
        // Keeps the new settings from being stored.
        await tx`select from deadline_clock for update`;
        settling = act();
        await waiting(former, 1);
        checking = old();
        await waiting(former, 2);
      });
      await Promise.all([settling, checking]);
      expect(await former.clockEvents(job)).toEqual([...before, OWNER]);
      await moveTo(former, 102.1);
      await act();
      expect(await stateOf(former, job)).toBe('completed');
    },
  );

  test('a server that waited for a job’s lock writes nothing if the settings have changed', async () => {
    const former = await opened({ DEADLINES: 'remind' });
    const job = await givenJob(former, 'in_review', former.people);
    const [old, act] = [clockOf(former), clockOf(await besides(former, {}))];
    await old();
    await moveTo(former, 12.1);
    let both: Promise<unknown> | undefined;
    await former.sql.begin(async (tx) => {
      await tx`select from jobs for update`;
      const checking = old();
      await waiting(former, 1);
      const settling = act();
      await waiting(former, 2);
      both = Promise.all([checking, settling]);
    });
    await both;
    expect(await former.clockEvents(job)).toEqual([OWNER]);
    // The reminder counts as a warning, so the server that acts wrote it.
    await moveTo(former, 14.2);
    await act();
    expect(await former.clockEvents(job)).toEqual([OWNER, 'job.auto_approved']);
  });

  test('if a server stops while it applies its settings, another one with the same settings does it', async () => {
    const former = await opened({});
    const { sql, people } = former;
    const job = await givenJob(former, 'in_review', people);
    const act = clockOf(former);
    await act();
    await clockOf(await besides(former, { DEADLINES: 'remind' }))();
    await moveTo(former, 100);
    await sql.unsafe(`create function stop() returns trigger language plpgsql as $$ begin raise 'stop'; end $$`);
    await sql.unsafe('create trigger stop before update on jobs for each row execute function stop()');
    await expect(clockOf(await besides(former, {}))()).rejects.toThrow('stop');
    await sql.unsafe('drop trigger stop on jobs');
    expect(await former.clockEvents(job)).toEqual([]);
    await act();
    expect(await former.clockEvents(job)).toEqual([OWNER]);
  });

  test('new settings make the clock look at every job with a deadline, page by page', async () => {
    const app = await opened({});
    const { people, sql } = app;
    const states = ['open', 'awarded', 'in_progress', 'in_review', 'disputed', 'completed'] as const;
    for (const state of states) {
      const job = await givenJob(app, state, people);
      if (state !== 'completed') await copyJob(app, job, 4);
    }
    await sql`update jobs set next_look_at = null`;
    await applySettings(app.services.db, { settings: 'new', canAct: false, batch: 2 });
    const marked = await sql`select status, count(*)::int as jobs from jobs where next_look_at is not null
      group by status order by status`;
    expect(Object.fromEntries(marked.map(({ status, jobs }) => [status, jobs]))).toEqual({
      open: 5,
      awarded: 5,
      in_review: 5,
      disputed: 5,
    });
  });

  test('a job moved by a server with longer deadlines is looked at in time', async () => {
    const longer = await opened({ DEADLINE_IN_REVIEW_DAYS: '60' });
    const [old, act] = [clockOf(longer), clockOf(await besides(longer, {}))];
    await old();
    await act();
    const job = await givenJob(longer, 'in_review', longer.people);
    for (const day of [5.1, 12.1, 14.2]) {
      await moveTo(longer, day);
      await act();
    }
    expect(await longer.clockEvents(job)).toEqual([OWNER, OWNER, 'job.auto_approved']);
  });

  test('only a server with the stored settings lets the deadline of a restored person continue', async () => {
    const reminding = await opened({ DEADLINES: 'remind' });
    const { people } = reminding;
    const job = await givenJob(reminding, 'in_review', people);
    const [remind, act] = [clockOf(reminding), clockOf(await besides(reminding, {}))];
    await remind();
    await moveTo(reminding, 12.1);
    await remind();
    const { token } = people.admin;
    const person = `/v1/users/${people.owner.userId}`;
    await reminding.rest('POST', `${person}/suspend`, { token, body: { reason: 'Under review.' } });
    await remind();
    await act();
    await moveTo(reminding, 20);
    await reminding.rest('POST', `${person}/restore`, { token, body: {} });
    // The server that only reminds looks while the other one waits for the job.
    let both: Promise<unknown> | undefined;
    await reminding.sql.begin(async (tx) => {
      await tx`select from jobs for update`;
      const acting = act();
      await waiting(reminding, 1);
      await remind();
      both = acting;
    });
    await both;
    // The first reminder wasn't a warning, and it doesn't become one.
    expect(await reminding.clockEvents(job)).toEqual([OWNER, ADMIN, OWNER]);
    await moveTo(reminding, 21.9);
    await act();
    expect(await stateOf(reminding, job)).toBe('in_review');
    await moveTo(reminding, 22.1);
    await act();
    expect(await stateOf(reminding, job)).toBe('completed');
  });

  test('a reminder from before the switch doesn’t become a warning because of a suspension', async () => {
    const reminding = await opened({ DEADLINES: 'remind' });
    const { people } = reminding;
    const offers = { bidder: { guaranteed_view: true } };
    const review = await givenJob(reminding, 'in_review', people);
    await reminding.days(11.1);
    const stake = await givenJob(reminding, 'open', people, { offers });
    await reminding.days(1.1);
    expect(await reminding.clockEvents(stake)).toEqual([OWNER]);
    const { token } = people.admin;
    const person = `/v1/users/${people.owner.userId}`;
    await reminding.rest('POST', `${person}/suspend`, { token, body: { reason: 'Under review.' } });
    await reminding.days(1);
    const acting = await besides(reminding, {});
    await acting.days(50);
    await acting.rest('POST', `${person}/restore`, { token, body: {} });
    await acting.days(0);
    expect((await acting.clockEvents(review)).slice(-1)).toEqual([OWNER]);
    expect((await acting.clockEvents(stake)).slice(-1)).toEqual([OWNER]);
    await acting.days(1.9);
    expect(await stateOf(acting, review)).toBe('in_review');
    expect((await bidsOn(acting, stake))[stake.bids.bidder!]).toBe('pending, active hold');
    await acting.days(0.2);
    expect(await stateOf(acting, review)).toBe('completed');
    expect((await bidsOn(acting, stake))[stake.bids.bidder!]).toBe('pending, released hold');
  });
});

test('a server of the former release moves a job without knowing about deadlines, and the job has one', async () => {
  const app = await opened({});
  const { sql, people } = app;
  const job = await givenJob(app, 'in_progress', people);
  await app.days(50);
  // What that release sends.
  await sql.begin(async (tx) => {
    await tx`update jobs set status = 'in_review', version = version + 1, event_count = event_count + 1,
      updated_at = clock_timestamp(), status_changed_at = clock_timestamp() where id = ${job.id}`;
    await tx`insert into events (id, job_id, sequence, type, actor_id, from_status, to_status, homeowner_id)
      select ${`evt_${job.id.slice(4)}`}, id, event_count, 'job.submitted_for_review', ${people.awardee.userId},
      'in_progress', 'in_review', homeowner_id from jobs where id = ${job.id}`;
  });
  const now = await app.days(0);
  const [{ at }] = (await app.upcoming(people.owner, job)) as [Json];
  expect(Math.abs(Date.parse(at) - Date.parse(daysAfter(now, 14)))).toBeLessThan(300_000);
  expect(await app.clockEvents(job)).toEqual([]);
  await app.days(12.1);
  await app.days(2);
  expect(await app.clockEvents(job)).toEqual([OWNER, 'job.auto_approved']);
  const rate = { by: people.owner, job: job.id, body: { rating: 5 } };
  expect(restOutcome(await callRest(app, 'review', rate))).toMatchObject({ ok: true });
});

test('a server of the former release adds a stake without planning a check, and the stake has a deadline', async () => {
  const app = await opened({});
  const { sql, people } = app;
  const job = await givenJob(app, 'open', people, { offers: { bidder: { guaranteed_view: true } } });
  // What that release inserts.
  await sql.begin(async (tx) => {
    const [hold] = await tx`delete from holds where job_id = ${job.id} returning id, bid_id, job_id, user_id, amount`;
    await tx`update jobs set next_look_at = deadline_from + interval '21 days' where id = ${job.id}`;
    await tx`insert into holds ${tx(hold!)}`;
  });
  await app.days(1.1);
  await app.days(2);
  expect(await app.clockEvents(job)).toEqual([OWNER, 'bid.stake_released']);
});

/**
 * A person calls at the moment when the clock acts. Both wait for the job's lock, in a known order. Whoever is first
 * wins, and the other one finds the job as it is then.
 */
import type { TransactionSql } from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkDatabase } from '../../../../setup/database/checker.js';
import { waitingCalls } from '../../../../setup/database/waiting-calls.js';
import { bidsOn } from '../../../../story/awards.js';
import { outcomeOf, type Asked, type OperationKey, type Outcome } from '../../../../story/calls.js';
import { daysAfter, openTimedApp, type TimedApp } from '../../../../story/deadlines.js';
import { givenJob, type GivenJob, type People } from '../../../../story/journey.js';
import { until } from '../../../../platform/security/until.js';
import { createClock } from '../../../../../src/market/operations/jobs/clock.js';
import type { JobState } from '../../../../../src/market/rules/states.js';

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

interface Race {
  readonly state: JobState;
  /** How many days after the state began the last reminder is sent, and how many days later the clock acts. */
  readonly days: readonly [reminder: number, action: number];
  readonly key: OperationKey;
  readonly who: keyof People;
  readonly asked: (job: GivenJob, end: string) => Omit<Asked, 'by' | 'job'>;
  /** The job's and the staked bid's status if the person is first, and if the clock is. */
  readonly person: string;
  readonly clock: string;
  /** What the person is told if the clock was first. */
  readonly refusal: string | null;
}

const emptyInput = () => ({ body: {} });

const RACES: Readonly<Record<string, Race>> = {
  'an approval, and the clock’s': {
    state: 'in_review',
    days: [12.1, 2],
    key: 'approve',
    who: 'owner',
    asked: () => ({ body: { rating: 3 } }),
    person: 'completed by job.approved',
    clock: 'completed by job.auto_approved',
    refusal: 'INVALID_TRANSITION',
  },
  'a dispute, and the clock’s approval': {
    state: 'in_review',
    days: [12.1, 2],
    key: 'dispute',
    who: 'owner',
    asked: () => ({ body: { reason: 'It leaks.' } }),
    person: 'disputed by job.disputed',
    clock: 'completed by job.auto_approved',
    refusal: 'INVALID_TRANSITION',
  },
  'an extension, and the clock’s approval': {
    state: 'in_review',
    days: [12.1, 2],
    key: 'extendDeadline',
    who: 'owner',
    asked: (_, end) => ({ body: { until: daysAfter(end, 14) } }),
    person: 'in_review by job.deadline_extended',
    clock: 'completed by job.auto_approved',
    refusal: 'INVALID_TRANSITION',
  },
  'an award, and the expiry': {
    state: 'open',
    days: [28.1, 2],
    key: 'award',
    who: 'owner',
    asked: ({ bids }) => ({ body: { bid_id: bids.awardee } }),
    person: 'awarded by job.awarded',
    clock: 'cancelled by job.expired',
    refusal: 'INVALID_TRANSITION',
  },
  'a bid, and the expiry': {
    state: 'open',
    days: [28.1, 2],
    key: 'submitBid',
    who: 'stranger',
    asked: () => ({ body: { amount: 500, guaranteed_view: true } }),
    person: 'cancelled by job.expired',
    clock: 'cancelled by job.expired',
    refusal: 'FORBIDDEN',
  },
  'a proposal, and the escalation': {
    state: 'disputed',
    days: [12.1, 2],
    key: 'resolveDispute',
    who: 'awardee',
    asked: () => ({ body: { resolution: 'Half the price.' } }),
    person: 'disputed by job.resolution_proposed',
    clock: 'escalated by job.auto_escalated',
    refusal: 'INVALID_TRANSITION',
  },
  'an appeal, and the end of the decision': {
    state: 'decision_reached',
    days: [12.1, 2],
    key: 'fileAppeal',
    who: 'awardee',
    asked: () => ({ body: { appeal_reason: 'Too little.' } }),
    person: 'appealed by job.appeal_filed',
    clock: 'completed by job.decision_stood',
    refusal: 'INVALID_TRANSITION',
  },
  'a view of a bid, and the release of its stake': {
    state: 'open',
    days: [1.1, 2],
    key: 'view',
    who: 'owner',
    asked: ({ bids }) => ({ bid: bids.bidder!, body: {} }),
    person: 'viewed, active hold',
    clock: 'viewed, released hold',
    refusal: null,
  },
  'a withdrawal, and the release of its stake': {
    state: 'open',
    days: [1.1, 2],
    key: 'withdraw',
    who: 'bidder',
    asked: ({ bids }) => ({ bid: bids.bidder!, ...emptyInput() }),
    person: 'withdrawn, released hold',
    clock: 'withdrawn, released hold',
    refusal: null,
  },
};

test.each(
  Object.entries(RACES).flatMap(([name, race], at) =>
    (['person', 'clock'] as const).map((first) => [name, first, race, at] as const),
  ),
)('%s: the %s is first', async (_, first, race, at) => {
  const offers = race.days[0] < 2 ? { bidder: { guaranteed_view: true } } : {};
  const job = await givenJob(app, race.state, people, { offers });
  const end = (await app.upcoming(people.admin, job)).at(-1)?.at;
  await app.days(race.days[0]);
  await app.days(race.days[1] - 0.3);
  const asked = { by: people[race.who], job: job.id, ...race.asked(job, end) };
  // Neither API has an advantage.
  const api = at % 2 === 0 ? 'rest' : 'graphql';
  const call = () => outcomeOf(app, api, race.key, asked);
  const act = () => app.days(0.4);
  const held = await holdLock(job, async (waiting) => {
    let outcome: Promise<Outcome>;
    let acting: Promise<unknown>;
    if (first === 'person') {
      outcome = call();
      await waiting(1);
      acting = act();
    } else {
      acting = act();
      await waiting(1);
      outcome = call();
    }
    await waiting(2);
    return () => Promise.all([outcome, acting]);
  });
  const [outcome] = await held();
  expect(outcome.code).toBe(first === 'person' ? null : race.refusal);
  expect(await resultOf(job, race)).toBe(race[first]);
});

async function resultOf(job: GivenJob, { days }: Race): Promise<string | undefined> {
  if (days[0] < 2) return (await bidsOn(app, job))[job.bids.bidder!];
  const [row] = await app.sql<{ result: string }[]>`select j.status || ' by ' || e.type as result from jobs j
    join events e on e.job_id = j.id where j.id = ${job.id} and e.type like 'job.%' and e.type <> 'job.reminded'
    order by e.sequence desc limit 1`;
  return row?.result;
}

/** `waiting` resolves once this many calls wait for a lock. The lock is released when `work` returns. */
function holdLock<T>({ id }: GivenJob, work: (waiting: (count: number) => Promise<void>) => Promise<T>): Promise<T> {
  return app.sql.begin(async (tx: TransactionSql) => {
    await tx`select from jobs where id = ${id} for update`;
    return work((count) => until(async () => (await waitingCalls(app.sql)) === count));
  }) as Promise<T>;
}

test('a suspension that is committed while the clock waits for the job pauses the deadline', async () => {
  const job = await givenJob(app, 'in_review', people);
  await app.days(12.1);
  await app.sql`update deadline_clock set ahead_seconds = ahead_seconds + ${2 * 86_400}`;
  const scanning = await app.sql.begin(async (tx) => {
    await tx`select from jobs where id = ${job.id} for update`;
    const scan = createClock(app.services).run();
    await until(async () => (await waitingCalls(app.sql)) === 1);
    await app.sql`update users set suspended_at = now() where id = ${people.owner.userId}`;
    return [scan];
  });
  await Promise.all(scanning);
  expect((await app.readJob(people.admin, job)).status).toBe('in_review');
  await app.sql`update users set suspended_at = null where id = ${people.owner.userId}`;
});

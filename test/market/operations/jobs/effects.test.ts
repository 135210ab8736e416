/** A transition has exactly the effects that its row lists. The tests observe every effect, and no others. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Effect } from '../../../../src/market/rules/jobs/effects.js';
import { JOB_TRANSITIONS, type JobTransition, type JobTransitionKey } from '../../../../src/market/rules/lifecycle.js';
import type { JobState } from '../../../../src/market/rules/states.js';
import { callRest } from '../../../story/calls.js';
import { HAPPY_CALLS } from '../../../story/happy-calls.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import {
  bodyOf,
  gather,
  givenJob,
  giveTokens,
  PROPOSED,
  propose,
  wayTo,
  type GivenJob,
  type People,
} from '../../../story/journey.js';
import { isIn } from '../../../story/specified.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  for (const bidder of [people.awardee, people.bidder]) await giveTokens(app, people.admin, bidder, 1_000);
});
afterAll(() => app.close());

interface Seen {
  owner: number;
  paid: number;
  budget: string | null;
  completionBase: string | null;
  awarded: string | null;
  accepted: number;
  live: number;
  rejected: number;
  withdrawn: number;
  activeHolds: number;
  changeRequests: number;
  completedJobs: number;
  ratings: number;
  rating: number | null;
  review: string | null;
  /** The type of the latest event. */
  last: string;
  dispute: { proposal: unknown; ending: { how: string } | null } | null;
}

async function read(id: string): Promise<Seen> {
  const [row] = await app.sql<[Omit<Seen, 'dispute'>]>`
    select (select balance from token_balances where user_id = ${people.owner.userId}) as owner,
      j.most_tokens_paid as paid, j.highest_budget_min::text as budget,
      j.completion_date_at_check_in::text as "completionBase", j.awarded_bid_id as awarded,
      (select count(*)::int from bids b where b.job_id = j.id and b.status = 'accepted') as accepted,
      (select count(*)::int from bids b where b.job_id = j.id and b.status in ('pending', 'viewed',
        'shortlisted')) as live,
      (select count(*)::int from bids b where b.job_id = j.id and b.status = 'rejected') as rejected,
      (select count(*)::int from bids b where b.job_id = j.id and b.status = 'withdrawn') as withdrawn,
      j.change_request_count as "changeRequests",
      (select count(*)::int from holds h where h.job_id = j.id and h.status = 'active') as "activeHolds",
      c.completed_jobs as "completedJobs", c.rating_count as ratings, j.rating, j.review,
      (select type from events e where e.job_id = j.id order by sequence desc limit 1) as last
    from jobs j, contractors c where j.id = ${id} and c.id = ${people.awardee.profileId}`;
  const read = await app.rest('GET', `/v1/jobs/${id}/dispute`, { token: people.admin.token });
  return { ...row, dispute: read.status === 200 ? (read.body as Json) : null };
}

const lostAward = (before: Seen, after: Seen) =>
  before.awarded !== null && after.awarded === null && before.accepted === 1 && after.accepted === 0;
const isCredited = (before: Seen, after: Seen) => after.completedJobs === before.completedJobs + 1;

/** How each effect shows in the values before and after the transition. */
const SIGNS: Readonly<Record<Effect, ((before: Seen, after: Seen) => boolean) | null>> = {
  chargePublishing: (before, after) => after.owner < before.owner && after.paid === before.owner - after.owner,
  keepBudgets: (before, after) => before.budget === null && after.budget !== null,
  keepCompletionDate: (before, after) => before.completionBase === null && after.completionBase !== null,
  awardBid: (before, after) =>
    before.awarded === null &&
    after.awarded !== null &&
    before.accepted === 0 &&
    after.accepted === 1 &&
    after.rejected === before.rejected + before.live - 1 &&
    before.live > 1,
  rejectLiveBids: (before, after) => after.rejected === before.rejected + before.live && before.live > 0,
  withdrawAwardedBid: (before, after) => lostAward(before, after) && after.withdrawn === before.withdrawn + 1,
  rejectAwardedBid: (before, after) => lostAward(before, after) && after.withdrawn === before.withdrawn,
  restoreBids: (before, after) => before.live === 0 && after.live === 1,
  countChangeRequest: (before, after) => after.changeRequests === before.changeRequests + 1,
  // The end of an award also releases the hold of the bid that was awarded.
  releaseHolds: (before, after) => before.activeHolds > 0 && after.activeHolds === 0 && !lostAward(before, after),
  creditContractor: (before, after) => isCredited(before, after) && after.last !== 'job.completed',
  creditOnRequest: (before, after) => isCredited(before, after) && after.last === 'job.completed',
  addRating: (before, after) => after.ratings === before.ratings + 1,
  keepReview: (before, after) => before.rating === null && after.rating !== null && after.review !== null,
  refundPublishing: (before, after) => after.owner === before.owner + before.paid && before.paid > 0,
  beginDispute: (before, after) => before.dispute === null && after.dispute !== null,
  lapseProposal: (before, after) =>
    Boolean(before.dispute?.proposal) && !after.dispute?.proposal && after.dispute?.ending?.how !== 'agreement',
  // Effects of operations that aren't transitions.
  chargeRaisedUrgency: null,
  makeBid: null,
  stakeHold: null,
};

const say = (name: string) => `The ${name}.`;

/** With stakes on both bids, and a proposal if the job is disputed. */
async function scene(state: JobState): Promise<GivenJob> {
  const offers = { awardee: { guaranteed_view: true }, bidder: { guaranteed_view: true } };
  const job = await givenJob(app, state, people, { offers, fields: { budget_min: 100 }, say });
  if (state !== 'disputed') return job;
  return { ...job, proposal: await propose(app, people, job) };
}

async function withoutBids(state: JobState): Promise<GivenJob> {
  const job = await givenJob(app, 'draft', people);
  for (const key of wayTo(state)) {
    const led = await callRest(app, key, { by: people.owner, job: job.id, body: bodyOf(key, say, null) });
    expect(led.status).toBe(200);
  }
  return { ...job, state };
}

async function seenEffects(key: JobTransitionKey, job: GivenJob): Promise<Effect[]> {
  const before = await read(job.id);
  const by = people[HAPPY_CALLS[key][1]];
  const credit = key === 'complete' && job.state === 'in_review' ? { credit_contractor: true } : {};
  const usual = { ...bodyOf(key, say, job.bids.awardee, job.proposal), ...credit };
  const body = key === 'resolveDispute' ? { resolution: PROPOSED } : usual;
  const called = await callRest(app, key, { by, job: job.id, body });
  expect([key, job.state, called.status]).toEqual([key, job.state, 200]);
  const after = await read(job.id);
  return (Object.keys(SIGNS) as Effect[]).filter((effect) => SIGNS[effect]?.(before, after));
}

describe('the effects in addition to the state change', () => {
  it.each(Object.entries<JobTransition>(JOB_TRANSITIONS))('of %s are those that its row names', async (key, row) => {
    const jobs = await Promise.all([
      ...row.from.map((state) => scene(state)),
      ...(key === 'award' ? [] : row.from.filter((state) => isIn('bidding', state)).map(withoutBids)),
    ]);
    const seen = new Set<Effect>();
    for (const job of jobs) for (const effect of await seenEffects(key as JobTransitionKey, job)) seen.add(effect);
    expect([...seen].sort()).toEqual([...row.effects].sort());
  });
});

/** If an error lists the operations that the caller can do now, the list is complete, and each of them succeeds. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { APIS, callGraphql, callRest, operationName, outcomeOf, type Asked } from '../story/calls.js';
import { happyCall } from '../story/happy-calls.js';
import { openTestApp, type TestApp } from '../setup/app.js';
import { gather, givenJob, propose, type GivenJob, type People } from '../story/journey.js';
import { JOB_ACTION_KEYS } from '../story/specified.js';
import type { JobActionKey } from '../../src/market/rules/lifecycle.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

type Who = 'owner' | 'awardee' | 'bidder' | 'admin';
type Scene = readonly [
  what: string,
  who: Who,
  refused: JobActionKey,
  allowed: string[],
  given: (people: People) => Promise<GivenJob>,
];

const inState = (state: GivenJob['state']) => (people: People) => givenJob(app, state, people);
const draft = (fields: object) => (people: People) => givenJob(app, 'draft', people, { fields });
const withProposal = async (people: People) => {
  const job = await givenJob(app, 'disputed', people);
  return { ...job, proposal: await propose(app, people, job) };
};
const withPendingUndo = async (people: People) => {
  const job = await givenJob(app, 'open', people);
  await app.sql`update users set email_undo = 'pending' where id = ${people.owner.userId}`;
  return job;
};
const withoutTokens = async (people: People) => {
  const job = await givenJob(app, 'draft', people);
  await app.sql`update token_balances set balance = 0 where user_id = ${people.owner.userId}`;
  return job;
};
const withoutLiveBids = async (people: People) => {
  const job = await givenJob(app, 'open', people);
  for (const bidder of ['awardee', 'bidder'] as const)
    await callRest(app, 'withdraw', { by: people[bidder], job: job.id, bid: job.bids[bidder]! });
  return job;
};
const approvedWithoutRating = (people: People) => givenJob(app, 'completed', people, { unrated: true });
const approvedLongAgo = async (people: People) => {
  const job = await approvedWithoutRating(people);
  await app.sql`update jobs set status_changed_at = now() - interval '31 days' where id = ${job.id}`;
  return job;
};

/** The bidder's bid is restored, so it can be awarded. */
const fallenThrough = async (people: People) => {
  const { bids, ...job } = await givenJob(app, 'open', people, { through: 'awarded' });
  return { ...job, bids: { ...bids, awardee: bids.bidder } };
};
const sentBack = (people: People) => givenJob(app, 'in_progress', people, { through: 'in_review' });

const SCENES: readonly Scene[] = [
  ['a draft', 'owner', 'cancel', ['publishJob', 'updateJob', 'deleteJob'], inState('draft')],
  ['a draft with gaps', 'owner', 'cancel', ['updateJob', 'deleteJob'], draft({ category: null })],
  ['a draft that they cannot pay for', 'owner', 'cancel', ['updateJob', 'deleteJob'], withoutTokens],
  ['an open job', 'owner', 'publish', ['awardJob', 'cancelJob', 'updateJob', 'extendDeadline'], inState('open')],
  [
    'an open job whose bids are withdrawn',
    'owner',
    'delete',
    ['cancelJob', 'updateJob', 'extendDeadline'],
    withoutLiveBids,
  ],
  [
    'an open job, with a disputed address',
    'owner',
    'delete',
    ['cancelJob', 'updateJob', 'extendDeadline'],
    withPendingUndo,
  ],
  ['an awarded job', 'awardee', 'submitForReview', ['declineAward', 'checkInJob'], inState('awarded')],
  ['an awarded job', 'owner', 'approve', ['reopenJob', 'cancelJob', 'updateJob'], inState('awarded')],
  [
    'an award that fell through',
    'owner',
    'publish',
    ['awardJob', 'cancelJob', 'updateJob', 'extendDeadline'],
    fallenThrough,
  ],
  ['work in progress', 'owner', 'dispute', ['cancelJob', 'updateJob'], inState('in_progress')],
  ['work that was sent back', 'awardee', 'fileAppeal', ['submitJobForReview'], sentBack],
  ['an awarded job', 'bidder', 'submitBid', [], inState('awarded')],
  [
    'work in review',
    'owner',
    'cancel',
    ['approveJob', 'requestChanges', 'disputeJob', 'extendDeadline'],
    inState('in_review'),
  ],
  ['a dispute', 'owner', 'approve', ['escalateJob', 'resolveDispute'], inState('disputed')],
  ['a proposal', 'owner', 'approve', ['escalateJob', 'resolveDispute', 'acceptResolution'], withProposal],
  ['their own proposal', 'awardee', 'checkIn', ['escalateJob', 'resolveDispute'], withProposal],
  ['an escalated dispute', 'admin', 'finalizeAppeal', ['reachDecision', 'completeJob'], inState('escalated')],
  ['a decision', 'awardee', 'checkIn', ['acceptDecision', 'fileAppeal'], inState('decision_reached')],
  ['an approval without a rating', 'owner', 'approve', ['reviewJob'], approvedWithoutRating],
  ['an approval with a rating', 'owner', 'approve', [], inState('completed')],
  ['an approval of long ago', 'owner', 'review', [], approvedLongAgo],
  ['the end', 'admin', 'reachDecision', ['completeJob'], inState('completed')],
  ['a cancellation', 'owner', 'publish', [], inState('cancelled')],
];

test.each(SCENES)(
  'after %s, the %s can’t do %s, and the error lists %j',
  async (_what, who, refused, allowed, given) => {
    const people = await gather(app);
    const job = await given(people);
    const asked = (key: JobActionKey): Asked => ({ ...happyCall(key, people, job), by: people[who] });

    const byRest = await callRest(app, refused, asked(refused));
    const byGraphql = await callGraphql(app, refused, asked(refused));
    const from_state = job.state;
    expect(byRest.body.details).toMatchObject({ code: 'INVALID_TRANSITION', from_state, allowed_operations: allowed });
    expect(byGraphql.errors?.[0]?.extensions).toMatchObject({ fromState: from_state, allowedOperations: allowed });

    for (const api of APIS) {
      const done: string[] = [];
      for (const key of JOB_ACTION_KEYS) {
        const call = { ...asked(key), headers: { 'dry-run': 'true' } };
        if ((await outcomeOf(app, api, key, call)).ok) done.push(operationName(key));
      }
      expect(done, api).toEqual(allowed);
    }
  },
);

/**
 * Every operation on jobs and bids, as somebody calls it who may: from a state that allows it, and with all that it
 * needs.
 */
import type { JobState } from '../src/rules/states.js';
import { BID_TRANSITIONS } from '../src/rules/bids.js';
import type { Asked, OperationKey } from './calls.js';
import { bodyOf, type GivenJob, type People } from './journey.js';

export const HAPPY_CALLS: Readonly<Record<OperationKey, readonly [from: JobState, by: keyof People]>> = {
  create: ['draft', 'owner'],
  update: ['draft', 'owner'],
  delete: ['draft', 'owner'],
  publish: ['draft', 'owner'],
  submitBid: ['open', 'stranger'],
  view: ['open', 'owner'],
  shortlist: ['open', 'owner'],
  reject: ['open', 'owner'],
  withdraw: ['open', 'bidder'],
  award: ['open', 'owner'],
  checkIn: ['awarded', 'awardee'],
  submitForReview: ['in_progress', 'awardee'],
  approve: ['in_review', 'owner'],
  dispute: ['in_review', 'owner'],
  resolveDispute: ['disputed', 'owner'],
  escalate: ['disputed', 'awardee'],
  reachDecision: ['escalated', 'admin'],
  fileAppeal: ['decision_reached', 'awardee'],
  finalizeAppeal: ['appealed', 'admin'],
  complete: ['open', 'admin'],
  cancel: ['open', 'owner'],
};

export const OPERATION_KEYS = Object.keys(HAPPY_CALLS) as OperationKey[];

/** The call itself, on a job in such a state or in another. */
export function happyCall(key: OperationKey, people: People, job: GivenJob): Asked {
  return { by: people[HAPPY_CALLS[key][1]], job: job.id, bid: job.bids.bidder ?? undefined, body: bodyFor(key, job) };
}

function bodyFor(key: OperationKey, { bids }: GivenJob): object | undefined {
  if (key === 'create') return { title: 'A', description: 'B', zip_code: '78701', city: 'Austin', state: 'TX' };
  if (key === 'update') return { requirements: 'Bring a ladder.' };
  if (key === 'submitBid') return { amount: 1, guaranteed_view: true };
  if (key === 'delete' || key in BID_TRANSITIONS) return undefined;
  return bodyOf(key as Parameters<typeof bodyOf>[0], (name) => `The ${name}.`, bids.awardee);
}

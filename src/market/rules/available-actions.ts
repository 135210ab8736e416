/** What a viewer may do with a job now and, for all the rest, which refusal the call would meet first. */
import { BID_TRANSITION_LIST, type BidTransition } from './bids.js';
import { REFUSALS, type ErrorCode } from './errors.js';
import { JOB_ACTION_KEYS, JOB_ACTIONS, type JobActionKey, type JobActionName } from './lifecycle.js';
import type { JobParties } from './parties.js';
import { bidDenial, jobDenial, type BidFacts, type Denial, type JobFacts } from './policies.js';
import { missingToPublish, publishCost, type RequiredToPublish, type ToPublish } from './jobs/publishing.js';
import type { BidState } from './states.js';
import type { Viewer } from './viewer.js';

export interface AvailableAction {
  readonly action: JobActionName;
  readonly allowed: boolean;
  readonly reason: ErrorCode | null;
  /** Why not, in a sentence for a person. */
  readonly message: string | null;
  /** What must be filled in first; empty unless the job could otherwise be published. */
  readonly missingFields: readonly RequiredToPublish[];
  /** What the call would charge this viewer; null where that is nothing, or depends on what is sent. */
  readonly tokenCost: number | null;
}

export interface ActionFacts extends Pick<JobFacts, 'standingProposal' | 'reviewWindow'> {
  readonly job: JobParties & ToPublish;
  /** The states of the viewer's own bids on this job, withdrawn ones among them. */
  readonly ownBids: readonly BidState[];
  readonly isOwnerSuspended: boolean;
  /** Whether support has to decide who owns the viewer's account. */
  readonly isEmailDisputed: boolean;
  /** How many bids on this job, anyone's, could be awarded. */
  readonly bidsToAward: number;
  /** The viewer's own balance less what is held. */
  readonly availableTokens: number;
}

/** One entry for every operation on a job, in the order of the table. */
export function availableActions(viewer: Viewer, facts: ActionFacts): AvailableAction[] {
  const job = { ...facts.job, isOwnerSuspended: facts.isOwnerSuspended };
  return JOB_ACTION_KEYS.map((key) => {
    const denial = jobDenial(key, { ...facts, viewer, job, cost: 0 });
    return { action: JOB_ACTIONS[key].action, ...answerFor(denial), ...priceOf(key, job, denial) };
  });
}

export interface AvailableBidAction {
  readonly action: BidActionName;
  readonly allowed: boolean;
  readonly reason: ErrorCode | null;
  readonly message: string | null;
}

export type BidActionName = BidTransition['action'];

/** One entry for every operation on a bid, in the order of the table. */
export function availableBidActions(viewer: Viewer, { bid, job }: Omit<BidFacts, 'viewer'>): AvailableBidAction[] {
  return BID_TRANSITION_LIST.map((row) => ({ action: row.action, ...answerFor(bidDenial(row, { viewer, bid, job })) }));
}

function answerFor(denial: Denial | undefined) {
  if (!denial) return { allowed: true, reason: null, message: null };
  return { allowed: false, reason: denial.code, message: denial.message ?? REFUSALS[denial.code][1] };
}

const NO_PRICE: Pick<AvailableAction, 'missingFields' | 'tokenCost'> = { missingFields: [], tokenCost: null };

/** Shown to whoever could publish but for the fields or the price. A draft that lacks its urgency has no price yet. */
function priceOf(key: JobActionKey, job: ToPublish, denial: Denial | undefined) {
  if (key !== 'publish' || (denial && !BEYOND_THE_TABLE.includes(denial.code))) return NO_PRICE;
  return { missingFields: missingToPublish(job), tokenCost: job.urgency && publishCost(job.urgency) };
}

const BEYOND_THE_TABLE: readonly ErrorCode[] = ['MISSING_FIELDS', 'INSUFFICIENT_TOKENS'];

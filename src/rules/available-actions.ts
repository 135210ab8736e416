/** What a viewer may do with a job now and, for all the rest, which refusal the call would meet first. */
import { BID_TRANSITION_LIST, type BidTransition } from './bids.js';
import { checksOfBid, checksOfRow, firstFailing, furtherChecksOf, sentenceOf, type Check } from './checks.js';
import type { ConditionedJob, Facts } from './conditions.js';
import type { ErrorCode } from './errors.js';
import { JOB_ACTION_KEYS, JOB_ACTIONS } from './lifecycle.js';
import type { JobActionKey, JobActionName } from './lifecycle.js';
import type { BidState } from './states.js';
import type { JobParties } from './parties.js';
import { missingToPublish, publishCost, type RequiredToPublish, type ToPublish } from './publishing.js';
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

export interface ActionFacts {
  readonly job: JobParties & ToPublish;
  /** The states of the viewer's own bids on this job, withdrawn ones among them. */
  readonly ownBids: readonly BidState[];
  /** How many bids on this job, anyone's, could be awarded. */
  readonly liveBids: number;
  /** The viewer's own balance less what is held. */
  readonly availableTokens: number;
}

/** One entry for every operation on a job, in the order of the table. */
export function availableActions(
  viewer: Viewer,
  { job, ownBids, liveBids, availableTokens }: ActionFacts,
): AvailableAction[] {
  const facts = { viewer, job, ownBids, bidsToAward: liveBids, available: availableTokens, cost: 0 };
  return JOB_ACTION_KEYS.map((key) => {
    const { ofRow, further } = CHECKS[key];
    const refused = firstFailing(ofRow, facts);
    const failing = refused ?? firstFailing(further, facts);
    const price = refused || key !== 'publish' ? NO_PRICE : priceOf(job);
    return {
      action: JOB_ACTIONS[key].action,
      allowed: !failing,
      reason: failing?.code ?? null,
      message: failing ? sentenceOf(failing, facts) : null,
      ...price,
    };
  });
}

/** Whether what the viewer may do hangs on their balance: it is charged for by publishing alone. */
export function dependsOnBalance(viewer: Viewer, { job, ownBids }: Pick<ActionFacts, 'job' | 'ownBids'>): boolean {
  return firstFailing(CHECKS.publish.ofRow, { viewer, job, ownBids }) === undefined;
}

export interface AvailableBidAction {
  readonly action: BidActionName;
  readonly allowed: boolean;
  readonly reason: ErrorCode | null;
  readonly message: string | null;
}

export type BidActionName = BidTransition['action'];

/** One entry for every operation on a bid, in the order of the table. */
export function availableBidActions(
  viewer: Viewer,
  { bid, job }: { bid: NonNullable<Facts['bid']>; job: ConditionedJob },
): AvailableBidAction[] {
  return BID_CHECKS.map(({ action, checks }) => {
    const facts = { viewer, job, bid, ownBids: [] };
    const failing = firstFailing(checks, facts);
    return {
      action,
      allowed: !failing,
      reason: failing?.code ?? null,
      message: failing ? sentenceOf(failing, facts) : null,
    };
  });
}

const BID_CHECKS = BID_TRANSITION_LIST.map((row) => ({ action: row.action, checks: checksOfBid(row) }));

const CHECKS = Object.fromEntries(
  JOB_ACTION_KEYS.map((key) => [key, { ofRow: checksOfRow(key), further: furtherChecksOf(key) }]),
) as Record<JobActionKey, Record<'ofRow' | 'further', readonly Check[]>>;

type Price = Pick<AvailableAction, 'missingFields' | 'tokenCost'>;

const NO_PRICE: Price = { missingFields: [], tokenCost: null };

/** A draft that lacks its urgency has no price yet. */
function priceOf(job: ToPublish): Price {
  return { missingFields: missingToPublish(job), tokenCost: job.urgency && publishCost(job.urgency) };
}

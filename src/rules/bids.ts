/** The life of a bid, as data: what people do with it, and what happens to it because of its job. */
import { noOwnBidIn } from './conditions.js';
import type { Action } from './lifecycle.js';
import { COUNTED_BID_STATES, LIVE_BID_STATES, type BidState } from './states.js';

/** What a person does with one bid. */
export interface BidTransition extends Action {
  readonly from: readonly BidState[];
  readonly to: BidState;
}

/**
 * Steps may be skipped and never repeated: a bid that was shortlisted is not viewed again. An accepted bid can
 * be neither withdrawn nor rejected: its stake stays held until the job ends.
 */
export const BID_TRANSITIONS = {
  view: {
    action: 'VIEW',
    operation: 'viewBid',
    path: 'view',
    from: ['pending'],
    to: 'viewed',
    by: 'owner',
    event: 'bid.viewed',
    description: 'The homeowner has read the bid.',
  },
  shortlist: {
    action: 'SHORTLIST',
    operation: 'shortlistBid',
    path: 'shortlist',
    from: ['pending', 'viewed'],
    to: 'shortlisted',
    by: 'owner',
    event: 'bid.shortlisted',
    description: 'The homeowner shortlists the bid.',
  },
  reject: {
    action: 'REJECT',
    operation: 'rejectBid',
    path: 'reject',
    from: LIVE_BID_STATES,
    to: 'rejected',
    by: 'owner',
    event: 'bid.rejected',
    description: 'The homeowner declines the bid; its hold is released.',
  },
  withdraw: {
    action: 'WITHDRAW',
    operation: 'withdrawBid',
    path: 'withdraw',
    from: LIVE_BID_STATES,
    to: 'withdrawn',
    by: 'bidder',
    event: 'bid.withdrawn',
    description: 'The contractor takes the bid back; its hold is released, and they may bid again.',
  },
} as const satisfies Record<string, BidTransition>;

/** What happens to bids because something happened to their job. */
export const BID_CONSEQUENCES = {
  accept: { from: LIVE_BID_STATES, to: 'accepted', event: 'bid.accepted', when: 'award names the bid' },
  passOver: { from: LIVE_BID_STATES, to: 'rejected', event: 'bid.rejected', when: 'award names another bid' },
  close: { from: LIVE_BID_STATES, to: 'rejected', event: 'bid.rejected', when: 'the job is completed or cancelled' },
} as const satisfies Record<string, { from: readonly BidState[]; to: BidState; event: string; when: string }>;

export type BidTransitionKey = keyof typeof BID_TRANSITIONS;

export const BID_TRANSITION_LIST: readonly BidTransition[] = Object.values(BID_TRANSITIONS);

export function isLive(state: BidState): boolean {
  return LIVE_BID_STATES.some((live) => live === state);
}

/** A contractor has at most one bid on a job. Withdrawing it allows another; a rejected bid does not. */
export const mayBid = noOwnBidIn(COUNTED_BID_STATES);

/** By how much the counts of a job change. */
export interface BidCounts {
  /** Bids that still wait for the choice. */
  readonly live: number;
  /** Those that are not withdrawn. */
  readonly counted: number;
  /** All that were ever made. */
  readonly ever: number;
}

export const UNCHANGED_COUNTS: BidCounts = { live: 0, counted: 0, ever: 0 };
export const ONE_BID_MORE: BidCounts = { live: 1, counted: 1, ever: 1 };

export function changeOfCounts(from: BidState, to: BidState): BidCounts {
  return {
    live: Number(isLive(to)) - Number(isLive(from)),
    counted: Number(counts(to)) - Number(counts(from)),
    ever: 0,
  };
}

function counts(state: BidState): boolean {
  return COUNTED_BID_STATES.some((counted) => counted === state);
}

/** A stake is held while the bid is live, and that of an accepted bid until its job ends. */
export function keepsItsHold(state: BidState): boolean {
  return isLive(state) || state === BID_CONSEQUENCES.accept.to;
}

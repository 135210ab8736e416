/** The lifecycle of a bid, as data: what people can do with a bid, and what happens to it because of its job. */
import type { BidEffect } from './jobs/effects.js';
import type { Action } from './lifecycle.js';
import { BID_REVISIONS_MAX } from './market-limits.js';
import { COUNTED_BID_STATES, LIVE_BID_STATES, type BidState } from './states.js';

interface ActionOnBid<Event extends string = string> extends Action<Event> {
  readonly from: readonly BidState[];
  readonly effects: readonly BidEffect[];
}

/** A change that a person makes to a bid's state. */
export interface BidTransition<Event extends string = string> extends ActionOnBid<Event> {
  readonly to: BidState;
}

/** Something that a person does with a bid, which may keep the bid's state. */
export interface BidAction<Event extends string = string> extends ActionOnBid<Event> {
  readonly to: BidState | 'stays';
}

/**
 * A bid can skip steps but never repeat them: a shortlisted bid can't be marked as viewed again. An accepted bid can't
 * be withdrawn or rejected.
 */
export const BID_TRANSITIONS = {
  view: {
    action: 'VIEW',
    operation: 'viewBid',
    path: 'view',
    from: ['pending'],
    to: 'viewed',
    actor: 'owner',
    event: 'bid.viewed',
    participle: 'marked as viewed',
    description: 'The homeowner marks the bid as viewed.',
    effects: [],
  },
  shortlist: {
    action: 'SHORTLIST',
    operation: 'shortlistBid',
    path: 'shortlist',
    from: ['pending', 'viewed'],
    to: 'shortlisted',
    actor: 'owner',
    event: 'bid.shortlisted',
    participle: 'shortlisted',
    description: 'The homeowner shortlists the bid.',
    effects: [],
  },
  reject: {
    action: 'REJECT',
    operation: 'rejectBid',
    path: 'reject',
    from: LIVE_BID_STATES,
    to: 'rejected',
    actor: 'owner',
    event: 'bid.rejected',
    participle: 'rejected',
    description: 'The homeowner rejects the bid, which releases its hold.',
    effects: ['releaseHold'],
  },
  withdraw: {
    action: 'WITHDRAW',
    operation: 'withdrawBid',
    path: 'withdraw',
    from: LIVE_BID_STATES,
    to: 'withdrawn',
    actor: 'bidder',
    event: 'bid.withdrawn',
    participle: 'withdrawn',
    description: 'The contractor withdraws the bid, which releases its hold. They can bid again.',
    effects: ['releaseHold'],
  },
} as const satisfies Record<string, BidTransition>;

export const OTHER_BID_ACTIONS = {
  revise: {
    action: 'REVISE',
    operation: 'reviseBid',
    method: 'PUT',
    path: '',
    from: LIVE_BID_STATES,
    to: 'stays',
    actor: 'bidder',
    event: 'bid.revised',
    participle: 'revised',
    description:
      'The contractor changes the offer. The bid keeps its status and its place in the list. They can do this ' +
      `up to ${BID_REVISIONS_MAX} times per bid.`,
    effects: [],
  },
} as const satisfies Record<string, BidAction>;

interface BidConsequence {
  readonly from: readonly BidState[];
  readonly to: BidState;
  readonly event: string;
  readonly when: string;
  readonly effects: readonly BidEffect[];
}

/** `accept` doesn't release the hold, because an accepted bid's stake is held until the job ends. */
export const BID_CONSEQUENCES = {
  accept: { from: LIVE_BID_STATES, to: 'accepted', event: 'bid.accepted', when: 'the bid is awarded', effects: [] },
  passOver: {
    from: LIVE_BID_STATES,
    to: 'rejected',
    event: 'bid.rejected',
    when: 'another bid is awarded',
    effects: ['releaseHold'],
  },
  decline: {
    from: ['accepted'],
    to: 'withdrawn',
    event: 'bid.withdrawn',
    when: 'the contractor declines the award',
    effects: ['releaseHold'],
  },
  revoke: {
    from: ['accepted'],
    to: 'rejected',
    event: 'bid.rejected',
    when: 'the homeowner reopens the job',
    effects: ['releaseHold'],
  },
  close: {
    from: LIVE_BID_STATES,
    to: 'rejected',
    event: 'bid.rejected',
    when: 'the job is completed or cancelled',
    effects: ['releaseHold'],
  },
} as const satisfies Record<string, BidConsequence>;

/** Bids that an award rejected return to the live status that they had before, if the award falls through. */
export const BID_RESTORATION = {
  from: ['rejected'],
  to: LIVE_BID_STATES,
  event: 'bid.restored',
  when: 'the award that rejected the bid is declined or taken back',
} as const;

/** Every operation on a bid. */
export const BID_ACTIONS = { ...BID_TRANSITIONS, ...OTHER_BID_ACTIONS };

export type BidOperationName = (typeof BID_ACTIONS)[keyof typeof BID_ACTIONS]['operation'];
export type BidTransitionKey = keyof typeof BID_TRANSITIONS;

export const BID_ACTION_LIST: readonly BidAction[] = Object.values(BID_ACTIONS);

export function isLive(state: BidState): boolean {
  return LIVE_BID_STATES.some((liveState) => liveState === state);
}

/** How much a job's bid counts change. */
interface BidCounts {
  /** The change in the number of bids that the homeowner hasn't decided on yet. */
  readonly liveBids: number;
  /** The change in the number of bids that aren't withdrawn. */
  readonly countedBids: number;
}

export function changeOfCounts(from: BidState, to: BidState): BidCounts {
  return {
    liveBids: Number(isLive(to)) - Number(isLive(from)),
    countedBids: Number(counts(to)) - Number(counts(from)),
  };
}

function counts(state: BidState): boolean {
  return COUNTED_BID_STATES.some((countedState) => countedState === state);
}

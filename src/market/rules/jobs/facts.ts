/** What the service knows about a job in addition to its row. Only the facts that a policy or effect names are read. */
import type { BidId, ContractorId, EventId, UserId } from '../ids.js';
import type { BidState } from '../states.js';
import type { DisputeEvent } from './disputes.js';

export interface JobFacts {
  /** The states of the viewer's own bids, including withdrawn ones. Empty unless the viewer is a contractor. */
  readonly ownBids: readonly BidState[];
  readonly isOwnerSuspended: boolean;
  /** True if support has to decide who owns the viewer's account. */
  readonly isEmailUndoPending: boolean;
  /** This account pays for the job and gets the refunds, no matter who makes the call. */
  readonly ownerUserId: UserId;
  /** In a contractor's call, the contractor's available tokens. In any other call, the owner's. */
  readonly availableTokens: number;
  /** The number of live bids whose contractors aren't suspended. In a call that names a bid, only that bid counts. */
  readonly bidsToAward: number;
  readonly standingProposal: StandingProposal | null;
  /** Null unless the job was approved. */
  readonly reviewWindow: ReviewWindow | null;
  readonly isCredited: boolean;
  /** True if the deadline was already extended in the job's current state. */
  readonly isDeadlineExtended: boolean;
  /** The live bids, oldest first. */
  readonly liveBids: readonly LiveBid[];
  /** The bids that the last award rejected, oldest first, with the statuses that they had before the award. */
  readonly bidsToRestore: readonly BidToRestore[];
  readonly disputeEvents: readonly DisputeEvent[];
  /** The number of bids that limit what an edit can change. */
  readonly bidsLimitingEdits: number;
}

export type FactName = keyof JobFacts;

export interface StandingProposal {
  readonly eventId: EventId;
  readonly by: UserId;
  /** The number of proposals in the dispute, including this one. */
  readonly count: number;
}

/** `used` if the job already has a rating, `over` if it's too late, and `open` if the job can be rated. */
export type ReviewWindow = 'used' | 'over' | 'open';

export interface BidToRestore {
  readonly id: BidId;
  readonly contractorId: ContractorId;
  readonly status: BidState;
}

export interface LiveBid {
  readonly id: BidId;
  readonly contractorId: ContractorId;
  readonly isBidderSuspended: boolean;
  readonly version: number;
}

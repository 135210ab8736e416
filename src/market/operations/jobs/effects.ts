/**
 * The effects of transitions, each under its name. An effect sends its statements at once, so that they are pipelined
 * with those of the other effects; what it changes in the job's own row is changed with the state.
 */
import { BID_CONSEQUENCES } from '../../rules/bids.js';
import type { TransitionEffect } from '../../rules/effects.js';
import type { BidId } from '../../rules/ids.js';
import { publishCost, refundOnCancel } from '../../rules/jobs/publishing.js';
import { addRating, creditCompletion } from '../../store/accounts/accounts.js';
import { moveBids, releaseHolds, type LiveBid } from '../../store/bids/bids.js';
import type { NewEvent } from '../../store/events/events.js';
import type { JobChanges, NeededFacts } from '../../store/jobs/jobs.js';
import { moveTokens } from '../../store/ledger/ledger.js';
import type { LockedJob } from './job.js';

export interface Consequence {
  /** What changes in the row of the job besides its state. */
  readonly job?: JobChanges;
  /** The events of bids, which follow the transition's own. */
  readonly events?: readonly NewEvent[];
  /** What the transition's own event holds besides the texts that came with the call. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly statements?: readonly Promise<unknown>[];
}

/** The input of the effects. */
export interface EffectInput {
  readonly bidId?: BidId | undefined;
  readonly rating?: number | null | undefined;
  readonly review?: string | null | undefined;
  readonly reason?: string | null | undefined;
  readonly creditContractor?: true | undefined;
  readonly decision?: string | undefined;
  readonly finalDecision?: string | undefined;
}

interface Effect {
  /** What must be read of the job besides its row. */
  readonly facts?: NeededFacts;
  apply(this: void, lockedJob: LockedJob, input: EffectInput): Consequence;
}

export const EFFECTS: Readonly<Record<TransitionEffect, Effect>> = {
  chargePublishing: {
    facts: { lockedBalance: true },
    apply({ tx, viewer, job }) {
      const cost = publishCost(job.urgency);
      const payment = { userId: viewer.userId, change: -cost, reason: 'publish', jobId: job.id } as const;
      return { job: { mostTokensPaid: cost }, data: { tokensCharged: cost }, statements: [moveTokens(tx, payment)] };
    },
  },

  keepBudgets: { apply: ({ job }) => ({ job: { highestBudgetMin: job.budgetMin, highestBudgetMax: job.budgetMax } }) },

  keepCompletionDate: { apply: ({ job }) => ({ job: { completionDateAtCheckIn: job.desiredCompletionDate } }) },

  /** Whatever accepts a bid leaves no other one live: `rejectOtherBids` also sets their count. */
  acceptBid: {
    facts: { liveBids: true },
    apply({ tx, viewer, liveBids }, { bidId }) {
      const bids = liveBids.filter(({ id }) => id === bidId);
      const { to, event } = BID_CONSEQUENCES.accept;
      return { statements: [moveBids(tx, idsOf(bids), to)], events: eventsOfBids(event, viewer.userId, bids) };
    },
  },

  rejectOtherBids: {
    facts: { liveBids: true },
    apply({ tx, viewer, liveBids }, { bidId }) {
      const bids = liveBids.filter(({ id }) => id !== bidId);
      return rejectBids(tx, viewer.userId, bids, BID_CONSEQUENCES.passOver);
    },
  },

  setAwardedBid: {
    facts: { liveBids: true },
    apply({ liveBids }, { bidId }) {
      const bid = liveBids.find(({ id }) => id === bidId);
      return bid ? { job: { awardedBidId: bid.id, awardedContractorId: bid.contractorId } } : {};
    },
  },

  keepReview: { apply: (_, { rating = null, review = null }) => ({ job: { rating, review } }) },

  rejectLiveBids: {
    facts: { liveBids: true },
    apply: ({ tx, viewer, liveBids }) => rejectBids(tx, viewer.userId, liveBids, BID_CONSEQUENCES.close),
  },

  /**
   * The hold of the accepted bid. Before the award all holds are those of live bids, and `rejectLiveBids`, which every
   * end of such a job has as well, releases them with their bids.
   */
  releaseHolds: {
    apply: ({ tx, job }) => (job.awardedBidId === null ? {} : { statements: [releaseHolds(tx, [job.awardedBidId])] }),
  },

  creditContractor: {
    apply: ({ tx, job }) =>
      job.awardedContractorId === null ? {} : { statements: [creditCompletion(tx, { id: job.awardedContractorId })] },
  },

  creditOnRequest: {
    apply: ({ tx, job }, { creditContractor }) =>
      creditContractor && job.awardedContractorId !== null
        ? { statements: [creditCompletion(tx, { id: job.awardedContractorId })] }
        : {},
  },

  addRating: {
    apply: ({ tx, job }, { rating }) =>
      job.awardedContractorId === null || rating == null
        ? {}
        : { statements: [addRating(tx, { id: job.awardedContractorId, rating })] },
  },

  refundPublishing: {
    apply({ tx, viewer, job }) {
      const { id: jobId, status, bidsEver, mostTokensPaid } = job;
      const tokensRefunded = refundOnCancel({ status, everHadBid: bidsEver > 0, mostTokensPaid });
      const refund = { userId: viewer.userId, change: tokensRefunded, reason: 'publish_refund', jobId } as const;
      return { data: { tokensRefunded }, statements: tokensRefunded > 0 ? [moveTokens(tx, refund)] : [] };
    },
  },

  // A dispute has no row: it is read from the events (`market/rules/jobs/disputes.ts`).
  beginDispute: { apply: () => ({}) },
  lapseProposal: { apply: () => ({}) },
};

/** No bid is live after it. */
function rejectBids(
  tx: LockedJob['tx'],
  actorId: NewEvent['actorId'],
  bids: readonly LiveBid[],
  { to, event }: (typeof BID_CONSEQUENCES)['passOver' | 'close'],
): Consequence {
  const job = { liveBidCount: 0 };
  if (bids.length === 0) return { job };
  const ids = idsOf(bids);
  return {
    job,
    statements: [moveBids(tx, ids, to), releaseHolds(tx, ids)],
    events: eventsOfBids(event, actorId, bids),
  };
}

function idsOf(bids: readonly LiveBid[]): BidId[] {
  return bids.map(({ id }) => id);
}

function eventsOfBids(type: NewEvent['type'], actorId: NewEvent['actorId'], bids: readonly LiveBid[]): NewEvent[] {
  return bids.map(({ id, contractorId }) => ({ type, actorId, bidderId: contractorId, data: { bidId: id } }));
}

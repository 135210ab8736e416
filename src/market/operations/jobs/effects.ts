/**
 * The code of each transition effect, by the effect's name. Effects send their statements immediately, so the
 * statements are pipelined. The job, not the caller, determines who is paid or credited, because the caller may be an
 * admin.
 */
import { BID_CONSEQUENCES, BID_RESTORATION } from '../../rules/bids.js';
import type { TransitionEffect } from '../../rules/jobs/effects.js';
import type { BidId } from '../../rules/ids.js';
import type { FactName, LiveBid } from '../../rules/jobs/facts.js';
import { publishCost, refundOnCancel } from '../../rules/jobs/publishing.js';
import { assertKnown } from '../../rules/policies.js';
import { addRating, creditCompletion } from '../../store/accounts/accounts.js';
import { moveBids } from '../../store/bids/bids.js';
import { releaseHolds } from '../../store/bids/holds.js';
import type { NewEvent } from '../../store/events/events.js';
import type { JobChanges } from '../../store/jobs/jobs.js';
import { moveTokens } from '../../store/ledger/ledger.js';
import type { LockedJob } from './visible-job.js';

export interface EffectResult {
  /** Changes to the job's row, which are written together with the state change. */
  readonly job?: JobChanges;
  /** The events of bids, which follow the transition's own event. */
  readonly events?: readonly NewEvent[];
  /** The data of the transition's own event, in addition to the call's input. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly sent?: readonly Promise<unknown>[];
}

export interface EffectInput {
  readonly bidId?: BidId | undefined;
  readonly expectedBidVersion?: number | null | undefined;
  readonly rating?: number | null | undefined;
  readonly review?: string | null | undefined;
  readonly reason?: string | null | undefined;
  readonly creditContractor?: true | undefined;
  readonly decision?: string | undefined;
  readonly finalDecision?: string | undefined;
}

interface Effect {
  readonly facts: readonly FactName[];
  apply(this: void, jobToMove: LockedJob, input: EffectInput): EffectResult;
}

/** The effect's type lets its code use only the facts that are named here. */
function effect<Fact extends FactName = never>(
  facts: readonly Fact[],
  apply: (jobToMove: LockedJob<Fact>, input: EffectInput) => EffectResult,
): Effect {
  return {
    facts,
    apply(jobToMove, input) {
      assertKnown(jobToMove.facts, facts);
      return apply(jobToMove as LockedJob<Fact>, input);
    },
  };
}

export const EFFECTS: Readonly<Record<TransitionEffect, Effect>> = {
  chargePublishing: effect(['ownerUserId'], ({ tx, job, facts: { ownerUserId: userId } }) => {
    const cost = publishCost(job.urgency);
    const payment = { userId, change: -cost, reason: 'publish', jobId: job.id } as const;
    return { job: { mostTokensPaid: cost }, data: { tokensCharged: cost }, sent: [moveTokens(tx, payment)] };
  }),

  keepBudgets: effect([], ({ job }) => ({ job: { highestBudgetMin: job.budgetMin, highestBudgetMax: job.budgetMax } })),

  keepCompletionDate: effect([], ({ job }) => ({ job: { completionDateAtCheckIn: job.desiredCompletionDate } })),

  awardBid: effect(['liveBids'], ({ tx, actorId, facts: { liveBids } }, { bidId }) => {
    const awardedBid = liveBids.find(({ id }) => id === bidId);
    if (!awardedBid) throw new Error('The awarded bid is not a live bid on the job.');
    const { id: awardedBidId, contractorId: awardedContractorId } = awardedBid;
    const { to, event } = BID_CONSEQUENCES.accept;
    const accepted = moveBids(tx, [awardedBidId], to);
    const otherBids = liveBids.filter((bid) => bid !== awardedBid);
    const { sent = [], events = [] } = rejectBids(tx, actorId, otherBids, BID_CONSEQUENCES.passOver);
    return {
      job: { awardedBidId, awardedContractorId, liveBidCount: 0 },
      sent: [accepted, ...sent],
      events: [...eventsOfBids(event, actorId, [awardedBid]), ...events],
    };
  }),

  withdrawAwardedBid: effect([], (jobToMove) => {
    const { bidCount } = jobToMove.job;
    return endAward(jobToMove, BID_CONSEQUENCES.decline, { bidCount: bidCount - 1 });
  }),

  rejectAwardedBid: effect([], (jobToMove) => {
    const { reopeningCount } = jobToMove.job;
    return endAward(jobToMove, BID_CONSEQUENCES.revoke, { reopeningCount: reopeningCount + 1 });
  }),

  restoreBids: effect(['bidsToRestore'], ({ tx, actorId, facts: { bidsToRestore } }) => ({
    job: { liveBidCount: bidsToRestore.length },
    sent: BID_RESTORATION.to
      .map((to) => [to, bidsToRestore.filter(({ status }) => status === to)] as const)
      .filter(([, bids]) => bids.length > 0)
      .map(([to, bids]) => moveBids(tx, idsOf(bids), to)),
    events: bidsToRestore.map(({ id: bidId, contractorId: bidderId, status }) => {
      return { type: BID_RESTORATION.event, actorId, bidderId, data: { bidId, status } };
    }),
  })),

  countChangeRequest: effect([], ({ job }) => ({ job: { changeRequestCount: job.changeRequestCount + 1 } })),

  keepReview: effect([], (_, { rating = null, review = null }) => ({ job: { rating, review } })),

  rejectLiveBids: effect(['liveBids'], ({ tx, actorId, facts }) =>
    rejectBids(tx, actorId, facts.liveBids, BID_CONSEQUENCES.close),
  ),

  /**
   * Before the award, only live bids have holds. Every transition that can end the job at that stage also has
   * `rejectLiveBids`, which releases them.
   */
  releaseHolds: effect([], ({ tx, job }) =>
    job.awardedBidId === null ? {} : { sent: [releaseHolds(tx, [job.awardedBidId])] },
  ),

  creditContractor: effect([], ({ tx, job }) =>
    job.awardedContractorId === null ? {} : { sent: [creditCompletion(tx, { id: job.awardedContractorId })] },
  ),

  creditOnRequest: effect([], ({ tx, job }, { creditContractor }) =>
    creditContractor && job.awardedContractorId !== null
      ? { sent: [creditCompletion(tx, { id: job.awardedContractorId })] }
      : {},
  ),

  addRating: effect([], ({ tx, job }, { rating }) =>
    job.awardedContractorId === null || rating == null
      ? {}
      : { sent: [addRating(tx, { id: job.awardedContractorId, rating })] },
  ),

  refundPublishing: effect(['ownerUserId'], ({ tx, job, facts: { ownerUserId: userId } }) => {
    const { id: jobId, status, bidsEver, mostTokensPaid } = job;
    const tokensRefunded = refundOnCancel({ status, everHadBid: bidsEver > 0, mostTokensPaid });
    const refund = { userId, change: tokensRefunded, reason: 'publish_refund', jobId } as const;
    return { data: { tokensRefunded }, sent: tokensRefunded > 0 ? [moveTokens(tx, refund)] : [] };
  }),

  // These two effects write nothing, because a dispute is computed from the job's events
  // (`market/rules/jobs/disputes.ts`).
  beginDispute: effect([], () => ({})),
  lapseProposal: effect([], () => ({})),
};

/** Takes the job from its awarded contractor. The job has no live bids until the others are restored. */
function endAward(
  { tx, actorId, job: { awardedBidId: id, awardedContractorId: contractorId } }: LockedJob,
  { to, event }: (typeof BID_CONSEQUENCES)['decline' | 'revoke'],
  counts: JobChanges,
): EffectResult {
  if (id === null || contractorId === null) throw new Error('The job is not awarded.');
  return {
    job: { ...counts, awardedBidId: null, awardedContractorId: null },
    data: { contractorId },
    sent: [moveBids(tx, [id], to), releaseHolds(tx, [id])],
    events: eventsOfBids(event, actorId, [{ id, contractorId }]),
  };
}

/** Rejects the job's remaining live bids and releases their holds. */
function rejectBids(
  tx: LockedJob['tx'],
  actorId: NewEvent['actorId'],
  bids: readonly LiveBid[],
  { to, event }: (typeof BID_CONSEQUENCES)['passOver' | 'close'],
): EffectResult {
  const job = { liveBidCount: 0 };
  if (bids.length === 0) return { job };
  const ids = idsOf(bids);
  return { job, sent: [moveBids(tx, ids, to), releaseHolds(tx, ids)], events: eventsOfBids(event, actorId, bids) };
}

type BidWithBidder = Pick<LiveBid, 'id' | 'contractorId'>;

function idsOf(bids: readonly BidWithBidder[]): BidId[] {
  return bids.map(({ id }) => id);
}

function eventsOfBids(
  type: NewEvent['type'],
  actorId: NewEvent['actorId'],
  bids: readonly BidWithBidder[],
): NewEvent[] {
  return bids.map(({ id, contractorId }) => ({ type, actorId, bidderId: contractorId, data: { bidId: id } }));
}

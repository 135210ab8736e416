/** The effects of transitions that are separate statements, each under its name. */
import { BID_CONSEQUENCES } from '../../rules/bids.js';
import type { EffectBy } from '../../rules/effects.js';
import type { BidId } from '../../rules/ids.js';
import type { JOB_TRANSITIONS, JobTransitionKey, OTHER_JOB_ACTIONS } from '../../rules/lifecycle.js';
import { refundOnCancel } from '../../rules/publishing.js';
import { addRating, creditCompletion } from '../../store/accounts.js';
import { moveBids, releaseHolds } from '../../store/bids.js';
import type { NewEvent } from '../../store/events.js';
import { moveTokens } from '../../store/ledger.js';
import { asArray } from '../../store/statement.js';
import type { Locked } from './checked.js';

/** What an effect adds to the statement that moves the job. */
export interface Consequence {
  /** Statements that are sent; they are pipelined with the move. */
  readonly sent?: readonly Promise<unknown>[];
  /** The events of bids, which follow the transition's own. */
  readonly events?: readonly NewEvent[];
  /** What the transition's own event holds besides the texts that came with the call. */
  readonly data?: Record<string, unknown>;
}

/** The input of the effects. */
export interface CallInput {
  readonly bidId?: BidId | undefined;
  readonly rating?: number | null | undefined;
  readonly review?: string | null | undefined;
  readonly resolution?: string | undefined;
}

type OfTransitions = (typeof JOB_TRANSITIONS)[JobTransitionKey]['effects'][number];
export type StatementEffect = Extract<OfTransitions, EffectBy<'statements'>>;

/**
 * The statements of an operation that is no transition, by the names of its effects: the type requires exactly those
 * that its row lists. An effect that does not apply to this call is false.
 */
export function executed<Key extends keyof typeof OTHER_JOB_ACTIONS>(
  sent: Readonly<Record<(typeof OTHER_JOB_ACTIONS)[Key]['effects'][number], Promise<unknown> | false>>,
): Promise<unknown>[] {
  return Object.values<Promise<unknown> | false>(sent).filter((one) => one !== false);
}

/** The transition's row gives their order. */
export const STATEMENTS: Readonly<Record<StatementEffect, (at: Locked, input: CallInput) => Consequence>> = {
  rejectLiveBids({ db, viewer, job, liveBids }) {
    if (liveBids.length === 0) return {};
    const { to, event } = BID_CONSEQUENCES.close;
    return {
      sent: [moveBids[to](db, { jobId: job.id, bidIds: asArray(liveBids.map(({ id }) => id)) })],
      events: liveBids.map(({ id, contractorId }) => ({
        type: event,
        actorId: viewer.userId,
        bidderId: contractorId,
        data: { bidId: id },
      })),
    };
  },

  /**
   * The hold of the accepted bid. Before the award all holds are those of live bids, and `rejectLiveBids`, which every
   * end of such a job has as well, releases them with their bids.
   */
  releaseHolds: ({ db, job }) => (job.awardedBidId === null ? {} : { sent: [releaseHolds(db, { jobId: job.id })] }),

  creditContractor: ({ db, job }) =>
    job.awardedContractorId === null ? {} : { sent: [creditCompletion(db, { id: job.awardedContractorId })] },

  addRating: ({ db, job }, { rating }) =>
    job.awardedContractorId === null || rating == null
      ? {}
      : { sent: [addRating(db, { id: job.awardedContractorId, rating })] },

  refundPublishing({ db, viewer, job }) {
    const { id: jobId, status, bidsEver, mostTokensPaid } = job;
    const tokensRefunded = refundOnCancel({ status, everHadBid: bidsEver > 0, mostTokensPaid });
    const refund = { userId: viewer.userId, change: tokensRefunded, reason: 'publish_refund', jobId } as const;
    return { data: { tokensRefunded }, sent: tokensRefunded > 0 ? [moveTokens(db, refund)] : [] };
  },
};

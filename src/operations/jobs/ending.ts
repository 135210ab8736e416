/** What every way out has in common, and the two ways that lead past the normal flow. */
import { BID_CONSEQUENCES } from '../../rules/bids.js';
import type { JobId } from '../../rules/ids.js';
import { TEXT } from '../../rules/limits.js';
import { refundOnCancel } from '../../rules/publishing.js';
import { isTerminal } from '../../rules/lifecycle.js';
import type { Viewer } from '../../rules/viewer.js';
import { requiredText } from '../../rules/values.js';
import { releaseHolds, selectLiveBids, settleBids, type LiveBid } from '../../store/bids.js';
import type { Db } from '../../store/database.js';
import type { NewEvent } from '../../store/events.js';
import type { JobRow } from '../../store/jobs.js';
import { moveTokens } from '../../store/ledger.js';
import { asArray } from '../../store/statement.js';
import { optionalText } from '../shapes.js';
import { transition, type Locked } from './transition.js';

export const cancelJob = transition('cancel', {
  says: 'Calls the job off. What was paid for publishing returns only if the job was open and never had a bid.',
  body: { reason: optionalText(TEXT.note).describe('Why.') },
  look: lookAtLiveBids,
  effects(at) {
    const { tx, viewer, job } = at;
    const { events, beside } = endJob(at, at.looked);
    const tokensRefunded = refundOnCancel({
      status: job.status,
      everHadBid: job.bidsEver > 0,
      mostTokensPaid: job.mostTokensPaid,
    });
    const refund =
      tokensRefunded > 0
        ? [moveTokens(tx, { userId: viewer.userId, change: tokensRefunded, reason: 'publish_refund', jobId: job.id })]
        : [];
    return { events, beside: [...beside, ...refund], data: { tokensRefunded } };
  },
});

export const completeJob = transition('complete', {
  says: 'Ends a job past the normal flow: holds are released, the contractor gets no credit. On a completed job it changes nothing.',
  body: { reason: requiredText(TEXT.note).describe('Why the normal flow is passed over.') },
  look: lookAtLiveBids,
  effects: (at) => (isTerminal(at.job.status) ? { settled: true } : endJob(at, at.looked)),
});

interface Ending {
  events: NewEvent[];
  beside: Promise<unknown>[];
}

/** Only an open job has live bids: where it may be open, they are looked at under its lock. */
function lookAtLiveBids(tx: Db, jobId: JobId): Promise<LiveBid[]> {
  return selectLiveBids(tx, { jobId });
}

/** Releases every hold and rejects every live bid. */
export function endJob(
  { tx, viewer, job }: Pick<Locked, 'tx' | 'viewer' | 'job'>,
  live: readonly LiveBid[] = [],
): Ending {
  const { events, beside } = endLiveBids(tx, viewer, job, live);
  return { events, beside: job.awardedBidId === null ? beside : [...beside, releaseHolds(tx, { jobId: job.id })] };
}

/** Live bids end with their holds. */
function endLiveBids(tx: Db, viewer: Viewer, job: JobRow, live: readonly LiveBid[]): Ending {
  if (live.length === 0) return { events: [], beside: [] };
  const { to } = BID_CONSEQUENCES.close;
  return {
    events: tellOfEnd(viewer, live),
    beside: [settleBids(tx, { jobId: job.id, bidIds: asArray(live.map(({ id }) => id)), to })],
  };
}

/** Each bid is told of in an event of its own. */
function tellOfEnd(viewer: Viewer, live: readonly LiveBid[]): NewEvent[] {
  const { event } = BID_CONSEQUENCES.close;
  return live.map(({ id, contractorId }) => ({
    type: event,
    actorId: viewer.userId,
    bidderId: contractorId,
    data: { bidId: id },
  }));
}

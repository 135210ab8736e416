/** What every way out has in common, and the two ways that lead past the normal flow. */
import { BID_CONSEQUENCES } from '../../rules/bids.js';
import { TEXT } from '../../rules/limits.js';
import { refundOnCancel } from '../../rules/publishing.js';
import { isTerminal } from '../../rules/lifecycle.js';
import type { Viewer } from '../../rules/viewer.js';
import { releaseHolds, settleBids } from '../../store/bids.js';
import type { Db } from '../../store/database.js';
import type { NewEvent } from '../../store/events.js';
import type { JobRow } from '../../store/jobs.js';
import { moveTokens } from '../../store/ledger.js';
import { optionalText, requiredText } from '../shapes.js';
import { transition, type Effects, type Locked } from './transition.js';

export const cancelJob = transition('cancel', {
  says: 'Calls the job off. What was paid for publishing returns only if the job was open and never had a bid.',
  body: { reason: optionalText(TEXT.note).describe('Why.') },
  async effects({ tx, viewer, job }) {
    const events = await endJob(tx, viewer, job);
    const tokensRefunded = refundOnCancel({ status: job.status, everHadBid: job.bidsEver > 0, mostTokensPaid: job.mostTokensPaid });
    if (tokensRefunded > 0) await moveTokens(tx, { userId: viewer.userId, change: tokensRefunded, reason: 'publish_refund', jobId: job.id });
    return { events, data: { tokensRefunded } };
  },
});

export const completeJob = transition('complete', {
  says: 'Ends a job past the normal flow: holds are released, the contractor gets no credit. On a completed job it changes nothing.',
  body: { reason: requiredText(TEXT.note).describe('Why the normal flow is passed over.') },
  async effects(at) {
    return isTerminal(at.job.status) ? { settled: true } : endEffects(at);
  },
});

/** The effects of a transition that ends the job, and has none of its own. */
export async function endEffects({ tx, viewer, job }: Locked): Promise<Effects> {
  return { events: await endJob(tx, viewer, job) };
}

/** Releases every hold and rejects every live bid. */
export async function endJob(tx: Db, viewer: Viewer, job: JobRow): Promise<NewEvent[]> {
  const rejected = job.liveBidCount > 0 ? await endLiveBids(tx, viewer, job, 'close') : [];
  if (job.awardedBidId !== null) await releaseHolds(tx, { jobId: job.id });
  return rejected;
}

/** Live bids end with their holds; each is told of in an event of its own. */
export async function endLiveBids(tx: Db, viewer: Viewer, job: JobRow, because: 'passOver' | 'close'): Promise<NewEvent[]> {
  const { event, to } = BID_CONSEQUENCES[because];
  const settled = await settleBids(tx, { jobId: job.id, bidId: null, to });
  return settled.map(({ id, contractorId }) => ({ type: event, actorId: viewer.userId, bidderId: contractorId, data: { bidId: id } }));
}

/** Finds a job for an operation, or locks it with the facts that its policies ask for; refuses those not to be seen. */
import { refuse } from '../../rules/errors.js';
import type { BidId, JobId, ProposalId } from '../../rules/ids.js';
import { partyOf, seesJob, type JobParties, type Party } from '../../rules/parties.js';
import type { JobFacts } from '../../rules/policies.js';
import type { BidState } from '../../rules/states.js';
import type { Viewer } from '../../rules/viewer.js';
import { pipelined, type Db, type Transaction } from '../../../platform/db/database.js';
import type { JobInclude } from '../../store/jobs/job-parts.js';
import { factsOfJob, lockJob, readJob } from '../../store/jobs/jobs.js';
import type { NeededFacts, JobRow, JobWithOwnBids, StoredFacts } from '../../store/jobs/jobs.js';
import type { JobAddress } from './inputs.js';
import { readableJob, type ReadableJob } from './readable.js';

/** A job that exists and that the viewer may see. */
export interface VisibleJob {
  readonly job: JobRow;
  readonly party: Party;
  /** The states of the viewer's own bids on the job. */
  readonly ownBids: readonly BidState[];
}

/** The job, together with the included parts. */
export async function findJob(db: Db, viewer: Viewer, id: JobId, include?: JobInclude): Promise<VisibleJob> {
  const { job, ownBids, isOwnerSuspended } = visibleTo(viewer, await readJob(db, viewer, id, include));
  return { job, party: partyOf(viewer, { ...job, isOwnerSuspended }, ownBids.length > 0), ownBids };
}

/** A job as this viewer may read it, together with the included parts. */
export async function readJobWith(db: Db, viewer: Viewer, id: JobId, include: JobInclude): Promise<ReadableJob> {
  return readableJob(viewer, visibleTo(viewer, await readJob(db, viewer, id, include)).job);
}

type FactForOperations = 'liveBids' | 'disputeEvents' | 'bidsLimitingEdits';

/** A job under its lock, in the transaction of an operation that changes it, and what is known of it. */
export interface LockedJob<V extends Viewer = Viewer> extends Pick<StoredFacts, FactForOperations> {
  readonly tx: Transaction;
  readonly viewer: V;
  readonly job: JobRow;
  /** What the policies ask for. */
  readonly facts: JobFacts;
}

/** What a call refers to besides the job. */
interface Named {
  readonly bidId?: BidId | undefined;
  readonly proposalId?: ProposalId | undefined;
  readonly creditContractor?: boolean | undefined;
}

/**
 * Locks the job, and reads the facts behind the lock: no other transaction changes the job, its bids or its holds until
 * this one ends.
 */
export async function lockVisibleJob<V extends Viewer>(
  tx: Transaction,
  viewer: V,
  { id, expectedVersion = null, bidId, proposalId, creditContractor }: JobAddress & Named,
  neededFacts?: NeededFacts,
): Promise<LockedJob<V>> {
  const [[row], facts] = await pipelined(lockJob(tx, { id }), factsOfJob(tx, viewer, id, neededFacts));
  const { job, isOwnerSuspended, liveBids, disputeEvents, bidsLimitingEdits, ...known } = visibleTo(
    viewer,
    row && facts && { job: row, ...facts },
  );
  const bidsToAward = liveBids.filter((bid) => bid.id === bidId && !bid.isBidderSuspended).length;
  return {
    tx,
    viewer,
    job,
    liveBids,
    disputeEvents,
    bidsLimitingEdits,
    facts: {
      ...known,
      viewer,
      job: { ...job, isOwnerSuspended },
      expectedVersion,
      bidsToAward,
      proposalId,
      creditContractor,
    },
  };
}

function visibleTo<Row extends JobWithOwnBids<JobParties>>(viewer: Viewer, row: Row | undefined): Row {
  if (!row) throw refuse('NOT_FOUND', { message: 'There is no such job.' });
  const { job, ownBids, isOwnerSuspended } = row;
  if (!seesJob(viewer, { ...job, isOwnerSuspended }, ownBids.length > 0))
    throw refuse('FORBIDDEN', { message: 'This job is not for you to see.' });
  return row;
}

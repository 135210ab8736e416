/** A job as an operation finds it: whether it is there, who the viewer is to it, and what of it they may read. */
import { redact, type Redacted, type Relation } from '../../rules/audiences.js';
import { refuse } from '../../rules/errors.js';
import type { JobId } from '../../rules/ids.js';
import type { BidState } from '../../rules/lifecycle.js';
import { partyOf, type Party } from '../../rules/parties.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../store/database.js';
import { lockJob, selectJob, type JobRow, type SeenJob } from '../../store/jobs.js';
import { idsOf } from '../../store/visibility.js';

export type ReadableJob = Redacted<'job', JobRow>;

/** A job that is there and that the viewer may see. */
export interface FoundJob {
  readonly job: JobRow;
  readonly party: Party;
  /** The states of the viewer's own bids on it. */
  readonly ownBids: readonly BidState[];
}

export async function findJob(db: Db, viewer: Viewer, id: JobId): Promise<FoundJob> {
  return found(viewer, await selectJob[viewer.role](db, { id, ...idsOf(viewer) }));
}

/** Nobody else changes the job, its bids or its holds until this transaction ends. */
export async function findAndLockJob(tx: Db, viewer: Viewer, id: JobId): Promise<FoundJob> {
  return found(viewer, await lockJob[viewer.role](tx, { id, ...idsOf(viewer) }));
}

function found(viewer: Viewer, [seen]: SeenJob[]): FoundJob {
  if (!seen) throw refuse('NOT_FOUND', { message: 'There is no such job.' });
  if (!seen.visible) throw refuse('FORBIDDEN', { message: 'This job is not for you to see.' });
  return { job: seen.job, party: partyOf(viewer, seen.job, seen.ownBids.length > 0), ownBids: seen.ownBids };
}

export function readableJob(viewer: Viewer, job: JobRow): ReadableJob {
  return redact('job', job, relationTo(viewer, job));
}

function relationTo(viewer: Viewer, job: JobRow): readonly Relation[] {
  if (viewer.role === 'admin') return ['admin'];
  if (viewer.homeownerId !== null && viewer.homeownerId === job.homeownerId) return ['owner'];
  return viewer.contractorId !== null && viewer.contractorId === job.awardedContractorId ? ['awardee'] : [];
}

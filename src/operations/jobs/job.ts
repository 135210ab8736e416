/** Finds a job for an operation: refuses one that is missing or not visible, and determines the viewer's party. */
import { refuse } from '../../rules/errors.js';
import type { JobId } from '../../rules/ids.js';
import type { BidState } from '../../rules/states.js';
import { partyOf, type JobParties, type Party } from '../../rules/parties.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../store/database.js';
import type { JobInclude } from '../../store/job-include.js';
import { selectJob, type JobRow, type SeenJob } from '../../store/jobs.js';
import { idsOf } from '../../store/visibility.js';
import { readableWith } from './include.js';
import type { ReadableJob } from './readable.js';

/** A job that exists and that the viewer may see. */
export interface FoundJob<Job = JobRow> {
  readonly job: Job;
  readonly party: Party;
  /** The states of the viewer's own bids on the job. */
  readonly ownBids: readonly BidState[];
}

export async function findJob(db: Db, viewer: Viewer, id: JobId): Promise<FoundJob> {
  return foundBy(viewer, await selectJob(db, viewer.role, { id, ...idsOf(viewer) }));
}

/** A job as this viewer may read it, together with the included parts. */
export async function readJobWith(db: Db, viewer: Viewer, id: JobId, include: JobInclude): Promise<ReadableJob> {
  const seen = visible(await selectJob(db, viewer.role, { id, ...idsOf(viewer) }, include));
  return readableWith(db, viewer, seen.job, include, seen.included);
}

/** Checks a row that any statement has read. */
export function foundBy<Job extends JobParties>(viewer: Viewer, seen: SeenJob<Job> | undefined): FoundJob<Job> {
  const { job, ownBids } = visible(seen);
  return { job, party: partyOf(viewer, job, ownBids.length > 0), ownBids };
}

function visible<Seen extends SeenJob<unknown>>(seen: Seen | undefined): Seen {
  if (!seen) throw refuse('NOT_FOUND', { message: 'There is no such job.' });
  if (!seen.visible) throw refuse('FORBIDDEN', { message: 'This job is not for you to see.' });
  return seen;
}

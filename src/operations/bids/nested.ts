/** Bids as parts of other things: read for many parents at once, under the rules of the single read. */
import type { BidId, JobId } from '../../rules/ids.js';
import type { BidState } from '../../rules/lifecycle.js';
import type { Viewer } from '../../rules/viewer.js';
import { listBidsOnJob, selectOwnBids, selectVisibleBids, type Bid } from '../../store/bids.js';
import type { Db } from '../../store/database.js';
import type { Page, SamePageRequest } from '../../store/page.js';
import { asArray } from '../../store/statement.js';
import { idsOf } from '../../store/visibility.js';

/** Of jobs that the viewer is known to see. */
export function bidsOnJobs(
  db: Db,
  viewer: Viewer,
  jobIds: readonly JobId[],
  page: SamePageRequest,
  status: BidState | null,
): Promise<Map<JobId, Page<Bid>>> {
  const list = listBidsOnJob[viewer.role][status === null ? 'all' : 'filtered'];
  return list.ofMany(db, 'jobId', jobIds, { contractorId: viewer.contractorId, status }, page);
}

/** The viewer's own bids on each job, the newest first. */
export async function ownBidsOn(db: Db, viewer: Viewer, jobIds: readonly JobId[]): Promise<Map<JobId, readonly Bid[]>> {
  const { contractorId } = viewer;
  const own = contractorId === null ? [] : await selectOwnBids(db, { jobIds: asArray(jobIds), contractorId });
  return new Map(jobIds.map((id) => [id, own.filter((bid) => bid.jobId === id)]));
}

export async function visibleBids(db: Db, viewer: Viewer, ids: readonly BidId[]): Promise<Map<BidId, Bid>> {
  const found = await selectVisibleBids[viewer.role](db, { ids: asArray(ids), ...idsOf(viewer) });
  return new Map(found.map((bid) => [bid.id, bid]));
}

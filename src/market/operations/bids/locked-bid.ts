/** Finds a bid for an operation that changes it, and locks its job. */
import { refuse } from '../../rules/errors.js';
import { idInPath } from '../../rules/id-fields.js';
import type { BidId, JobId } from '../../rules/ids.js';
import type { Viewer } from '../../rules/viewer.js';
import { pipelined, type Transaction } from '../../../platform/db/database.js';
import { asArray } from '../../../platform/db/statement.js';
import { selectBids } from '../../store/bids/bids.js';
import { lockJobOfBid } from '../../store/jobs/jobs.js';

/** The inputs that identify a bid. */
export const ofBid = {
  id: idInPath('bid').describe('The bid.'),
  jobId: idInPath('job').nullish().meta({ parameter: true, implied: true }).describe('The ID of the bid’s job.'),
};

/** Locks the bid's job, and reads both. */
export async function lockBid(
  tx: Transaction,
  { role }: Viewer,
  { id, jobId }: { id: BidId; jobId?: JobId | null | undefined },
) {
  const [[job], [row]] = await pipelined(lockJobOfBid(tx, { id }), selectBids[role](tx, { ids: asArray([id]) }));
  if (!job || !row || (jobId != null && row.bid.jobId !== jobId))
    throw refuse('NOT_FOUND', { message: 'Bid not found.' });
  return { ...row, job };
}

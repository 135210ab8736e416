/** Lists and reads bids, their revisions, and their holds. A bid that the viewer can't see doesn't exist for them. */
import { z } from 'zod';
import { BID } from '../../rules/entities/bid.js';
import { refuse } from '../../rules/errors.js';
import { BIDS_PER_PAGE_DEFAULT } from '../../rules/market-limits.js';
import { seesBid } from '../../rules/parties.js';
import type { Role, Viewer } from '../../rules/viewer.js';
import { listBidsOf, listBidsOnJob, selectBids, type Bid } from '../../store/bids/bids.js';
import { holdsOf, type Hold } from '../../store/bids/holds.js';
import { listBidRevisions as revisionsOfBid, type BidRevision } from '../../store/bids/bid-revisions.js';
import type { JobInclude } from '../../store/jobs/job-parts.js';
import type { Db } from '../../../platform/db/database.js';
import type { BidId, HoldId, JobId } from '../../rules/ids.js';
import type { Position } from '../../../platform/db/pages/keyset.js';
import type { Page } from '../../../platform/db/pages/page.js';
import { asArray } from '../../../platform/db/statement.js';
import { findJob } from '../jobs/visible-job.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape, perPage } from '../../../platform/call/paging.js';
import { idInPath } from '../../rules/id-fields.js';

export const GUARANTEED_THEN_NEWEST = ['boolean', 'time', 'text'] as const;
export const guaranteedThenNewest = ({ guaranteedView, createdAt, id }: Bid): Position => [
  guaranteedView,
  createdAt,
  id,
];
const NEWEST_FIRST = ['time', 'text'] as const;

const status = BID.schema.shape.status.nullish().describe('Only bids with this status.');

export const listBids = operation({
  name: 'bids',
  description:
    'Lists the bids on a job. Bids with a guaranteed view come first, then the newest. Contractors see only their ' +
    'own bid.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({
    id: idInPath('job').describe('The job.'),
    status,
    ...pageShape,
    perPage: perPage(BIDS_PER_PAGE_DEFAULT),
  }),
  async run({ db, viewer, include }, { id, ...query }): Promise<Page<Bid>> {
    const { job } = await findJob(db, viewer, id);
    return bidsOnJob(db, viewer, job.id, query, include);
  },
});

type BidQuery = Parameters<typeof pageRequest>[0] & { status?: z.infer<typeof status> };

/** The caller of this function must have checked that the viewer can see the job. */
export function bidsOnJob(
  db: Db,
  viewer: Viewer,
  jobId: JobId,
  { status: statusFilter = null, ...page }: BidQuery,
  include: JobInclude,
): Promise<Page<Bid>> {
  const list = listBidsOnJob[viewer.role][statusFilter === null ? 'all' : 'filtered'];
  const request = pageRequest(page, GUARANTEED_THEN_NEWEST, include, BIDS_PER_PAGE_DEFAULT);
  return list(db, { jobId, contractorId: viewer.contractorId, status: statusFilter }, request);
}

export const listOwnBids = operation({
  name: 'ownBids',
  description: 'Lists your bids, newest first.',
  allows: ['contractor'],
  budget: 'read',
  input: z.strictObject({ status, ...pageShape }),
  run: ({ db, viewer, include }, { status: statusFilter = null, ...page }): Promise<Page<Bid>> =>
    listBidsOf[statusFilter === null ? 'all' : 'filtered'](
      db,
      { contractorId: viewer.contractorId, status: statusFilter },
      pageRequest(page, NEWEST_FIRST, include),
    ),
});

export const readBid = operation({
  name: 'bid',
  description: 'Returns a bid. Only its contractor, the job’s owner, and admins can read it.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('bid').describe('The bid.') }),
  run: async ({ db, viewer }, { id }): Promise<Bid> => (await findBid(db, viewer, id)).bid,
});

export const readHold = operation({
  name: 'hold',
  description: 'Returns the tokens staked on a bid. Everyone who can read the bid can read them.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('bid').describe('The bid.') }),
  async run({ db, viewer }, { id }): Promise<Hold> {
    const { holdId } = (await findBid(db, viewer, id)).bid;
    const hold = holdId && (await holdsOf(db, [holdId])).get(holdId);
    if (!hold) throw refuse('NOT_FOUND', { message: 'No tokens were staked on this bid.' });
    return hold;
  },
});

/** The keys that form a revision's position in the list of its bid's revisions. */
export const NEWEST_VERSION_FIRST = ['number'] as const;

export const listBidRevisions = operation({
  name: 'bidRevisions',
  description: 'Lists the earlier offers of a bid, newest first.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('bid').describe('The bid.'), ...pageShape }),
  async run({ db, viewer, include }, { id, ...page }): Promise<Page<BidRevision>> {
    const request = pageRequest(page, NEWEST_VERSION_FIRST, include);
    const { bid } = await findBid(db, viewer, id);
    return revisionsOfBid(db, { bidId: bid.id }, request);
  },
});

/** Anyone who can read the bid can read its hold. */
export async function findHold(db: Db, viewer: Viewer, id: HoldId): Promise<Hold> {
  const hold = (await holdsOf(db, [id])).get(id);
  if (!hold) throw refuse('NOT_FOUND', { message: 'Hold not found.' });
  await findBid(db, viewer, hold.bidId);
  return hold;
}

export type BidToActOn = Awaited<ReturnType<(typeof selectBids)[Role]>>[number];

export async function visibleBids(db: Db, viewer: Viewer, ids: readonly BidId[]): Promise<Map<BidId, BidToActOn>> {
  const rows = await selectBids[viewer.role](db, { ids: asArray(ids) });
  return new Map(rows.filter(({ bid, job }) => seesBid(viewer, bid, job)).map((row) => [row.bid.id, row]));
}

export async function findBid(db: Db, viewer: Viewer, id: BidId) {
  const [row] = await selectBids[viewer.role](db, { ids: asArray([id]) });
  if (!row) throw refuse('NOT_FOUND', { message: 'Bid not found.' });
  if (!seesBid(viewer, row.bid, row.job)) throw refuse('FORBIDDEN', { message: 'You don’t have access to this bid.' });
  return row;
}

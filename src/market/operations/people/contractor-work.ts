/** A contractor's awarded jobs and bids. Only the contractor and admins can read them. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import type { ContractorId } from '../../rules/ids.js';
import type { Viewer } from '../../rules/viewer.js';
import { selectContractor } from '../../store/accounts/accounts.js';
import { listBidsOf, type Bid } from '../../store/bids/bids.js';
import { awardedJobsOfMany, bidsOfMany, listAwardedJobs } from '../../store/people/contractor-work.js';
import type { Db } from '../../../platform/db/database.js';
import { mapPage, type Page, type SamePageRequest } from '../../../platform/db/pages/page.js';
import { readableJob, type ReadableJob } from '../jobs/visible-job.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { idInPath } from '../../rules/id-fields.js';

export const WORK_NEWEST_FIRST = ['time', 'text'] as const;

const input = z.strictObject({ id: idInPath('contractor').describe('The contractor.'), ...pageShape });

export const listContractorJobs = operation({
  name: 'contractorJobs',
  description: 'Lists the jobs awarded to a contractor, newest first.',
  allows: 'signed in',
  budget: 'read',
  refusals: ['FORBIDDEN'],
  input,
  async run({ db, viewer, include }, { id, ...page }): Promise<Page<ReadableJob>> {
    const request = pageRequest(page, WORK_NEWEST_FIRST, include);
    await assertSeesWork(db, viewer, id);
    const list = await listAwardedJobs(db, { contractorId: id }, request);
    return mapPage(list, (job) => readableJob(viewer, job));
  },
});

export const listContractorBids = operation({
  name: 'contractorBids',
  description: 'Lists a contractor’s bids, newest first.',
  allows: 'signed in',
  budget: 'read',
  refusals: ['FORBIDDEN'],
  input,
  async run({ db, viewer, include }, { id, ...page }): Promise<Page<Bid>> {
    const request = pageRequest(page, WORK_NEWEST_FIRST, include);
    await assertSeesWork(db, viewer, id);
    return listBidsOf.all(db, { contractorId: id, status: null }, request);
  },
});

async function assertSeesWork(db: Db, viewer: Viewer, id: ContractorId): Promise<void> {
  const [contractor] = await selectContractor(db, { id });
  if (!contractor) throw refuse('NOT_FOUND', { message: 'Contractor not found.' });
  if (!seesWorkOf(viewer, id))
    throw refuse('FORBIDDEN', { message: 'Only admins and the contractor can list the contractor’s jobs and bids.' });
}

function seesWorkOf(viewer: Viewer, id: ContractorId): boolean {
  return viewer.role === 'admin' || viewer.contractorId === id;
}

type PagesOf<Item> = Promise<Map<ContractorId, Page<Item>>>;

/** Reads the same page for each contractor whose work the viewer may see. */
export async function jobsOfContractors(
  db: Db,
  viewer: Viewer,
  ids: readonly ContractorId[],
  page: SamePageRequest,
): PagesOf<ReadableJob> {
  const pages = await awardedJobsOfMany(db, visibleTo(viewer, ids), page);
  return new Map([...pages].map(([id, rows]) => [id, mapPage(rows, (job) => readableJob(viewer, job))]));
}

export async function bidsOfContractors(
  db: Db,
  viewer: Viewer,
  ids: readonly ContractorId[],
  page: SamePageRequest,
): PagesOf<Bid> {
  return bidsOfMany(db, visibleTo(viewer, ids), page);
}

function visibleTo(viewer: Viewer, ids: readonly ContractorId[]): readonly ContractorId[] {
  return ids.filter((id) => seesWorkOf(viewer, id));
}

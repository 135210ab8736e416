/** Lists contractors' awarded jobs and bids: one contractor's list, or a page for each of many. */
import { and, eq } from 'drizzle-orm';
import type { ContractorId } from '../../rules/ids.js';
import type { BidState } from '../../rules/states.js';
import { bidColumns, listBidsOf, type Bid } from '../bids/bids.js';
import type { Db } from '../../../platform/db/database.js';
import { jobColumns, type JobRow } from '../jobs/jobs.js';
import { pagedList, type SamePageRequest } from '../../../platform/db/pages/page.js';
import { EACH_PARENT, pagesOfMany } from '../../../platform/db/pages/pages-of-many.js';
import { asArray, type Placeholders, selectFrom } from '../../../platform/db/statement.js';
import { jobs } from '../tables/jobs.js';

export const listAwardedJobs = pagedList({
  name: 'listAwardedJobs',
  mayBeStale: true,
  keys: { createdAt: jobs.createdAt, id: jobs.id },
  direction: 'desc',
  fields: jobColumns,
  rows: ($: Placeholders<{ contractorId: ContractorId }>, fields, condition) =>
    selectFrom(jobs, fields, and(eq(jobs.awardedContractorId, $('contractorId')), condition)),
});

const jobsPage = pagesOfMany<ContractorId, { ids: string }, JobRow>({
  name: 'awardedJobsOfMany',
  mayBeStale: true,
  shape: jobColumns,
  partOf: ($, request) => listAwardedJobs.partOf({ contractorId: EACH_PARENT }, $, request),
  totalOf: ($) => listAwardedJobs.totalOf({ contractorId: EACH_PARENT }, $),
  pageOf: listAwardedJobs.pageOf,
});

const bidsPage = pagesOfMany<ContractorId, { ids: string; status: BidState | null }, Bid>({
  name: 'bidsOfMany',
  mayBeStale: true,
  shape: bidColumns,
  partOf: ($, request) => listBidsOf.all.partOf({ contractorId: EACH_PARENT }, $, request),
  totalOf: ($) => listBidsOf.all.totalOf({ contractorId: EACH_PARENT }, $),
  pageOf: listBidsOf.all.pageOf,
});

export function awardedJobsOfMany(db: Db, contractorIds: readonly ContractorId[], request: SamePageRequest) {
  return jobsPage(db, { ids: asArray(contractorIds) }, request);
}

export function bidsOfMany(db: Db, contractorIds: readonly ContractorId[], request: SamePageRequest) {
  return bidsPage(db, { ids: asArray(contractorIds), status: null }, request);
}

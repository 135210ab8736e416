/** Bids. Statements that change a bid must run under the job's lock. */
import { and, eq, getTableColumns, inArray, sql, type SQL } from 'drizzle-orm';
import type { BidToRestore, LiveBid } from '../../rules/jobs/facts.js';
import type { BID } from '../../rules/entities/bid.js';
import { BID_CONSEQUENCES, BID_RESTORATION, BID_TRANSITIONS } from '../../rules/bids.js';
import type { EventType } from '../../rules/events.js';
import { JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import type { RowOf } from '../../../platform/fields/entity.js';
import type { BidId, ContractorId, JobId } from '../../rules/ids.js';
import { COUNTED_BID_STATES, INITIAL_BID_STATE, LIVE_BID_STATES, type BidState } from '../../rules/states.js';
import type { Role } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { pagedList } from '../../../platform/db/pages/page.js';
import {
  asArray,
  builder,
  columns,
  type Placeholders,
  selectFrom,
  mayBeStale,
  statement,
} from '../../../platform/db/statement.js';
import { bids } from '../tables/bids.js';
import { jobs } from '../tables/jobs.js';
import { forEachRole, isBidderUndoPending, isBidderSuspended } from '../visibility.js';

const { jobCreatedAt: _listedBy, ...storedColumns } = getTableColumns(bids);

/** Compares a column of the bid, so every select of bids must include that column. */
const isOutdated = sql<boolean>`(select j.public_edit_count > "bids"."job_public_edit_count"
  from jobs j where j.id = "bids"."job_id")`;

export const bidColumns = {
  ...storedColumns,
  suspended: isBidderSuspended.as('suspended'),
  isOutdated: isOutdated.as('is_outdated'),
};

export type Bid = RowOf<
  typeof BID,
  Omit<typeof bids.$inferSelect, 'jobCreatedAt'> & { suspended: boolean; isOutdated: boolean }
>;

const jobParties = {
  homeownerId: jobs.homeownerId,
  awardedContractorId: jobs.awardedContractorId,
  status: jobs.status,
};

/**
 * Each bid comes with what decides who can see it and act on it. Only contractors can revise bids, so whether support
 * has to decide about the bidder's account is read only for them.
 */
export const selectBids = forEachRole((role) => {
  const isEmailUndoPending = role === 'contractor' ? isBidderUndoPending : sql<boolean>`false`;
  return mayBeStale(
    statement(
      'selectBids',
      { bid: bidColumns, job: jobParties, isEmailUndoPending: isEmailUndoPending.as('is_email_undo_pending') },
      ($: Placeholders<{ ids: string }>, fields) =>
        builder
          .select(fields)
          .from(bids)
          .innerJoin(jobs, eq(jobs.id, bids.jobId))
          .where(sql`${bids.id} = any(${$('ids')}::text[])`),
    ),
  );
});

const NEW_BID = [
  'id',
  'jobId',
  'contractorId',
  'amount',
  'estimatedDurationDays',
  'message',
  'proposedStartDate',
  'materialsIncluded',
  'paymentTerms',
  'guaranteedView',
  'holdId',
  'jobCreatedAt',
  'jobPublicEditCount',
] as const;

type NewBid = Pick<typeof bids.$inferSelect, (typeof NEW_BID)[number]>;

export const insertBid = statement('insertBid', bidColumns, ($: Placeholders<NewBid>, fields) =>
  builder
    .insert(bids)
    .values({ ...columns($, NEW_BID), status: INITIAL_BID_STATE })
    .returning(fields),
);

const updateBids = statement('updateBids', bidColumns, ($: Placeholders<{ ids: string; to: BidState }>, fields) =>
  builder
    .update(bids)
    .set({ status: sql`${$('to')}::bid_status`, updatedAt: sql`now()` })
    .where(sql`${bids.id} = any(${$('ids')}::text[])`)
    .returning(fields),
);

/** The caller must have read the bids under their job's lock. */
export function moveBids(tx: Db, ids: readonly BidId[], to: BidState): Promise<Bid[]> {
  return updateBids(tx, { ids: asArray(ids), to });
}

/**
 * Leaves out suspended contractors' bids. `count` is the column with the number of bids in these states. If no one is
 * suspended, the query uses this column and doesn't read any bids.
 */
function bidsOfOthers(count: 'live_bid_count' | 'bid_count', states: readonly BidState[]): SQL<number> {
  const counted = sql.raw(`"jobs"."${count}"`);
  return sql<number>`${counted} - case when ${counted} > 0 and exists (select from users where suspended_at is not null)
    then (select count(*)::int from bids where "bids"."job_id" = "jobs"."id"
      and ${inArray(bids.status, [...states])} and ${isBidderSuspended}) else 0 end`;
}

export const bidsToAwardOfJob = bidsOfOthers('live_bid_count', LIVE_BID_STATES);

export const bidsLimitingEdits = bidsOfOthers('bid_count', COUNTED_BID_STATES);

/** The bids are sorted oldest first. */
export const liveBidsOfJob = sql<LiveBid[]>`(
  select coalesce(json_agg(json_build_object('id', "bids"."id", 'contractorId', "bids"."contractor_id",
      'isBidderSuspended', ${isBidderSuspended}, 'version', "bids"."version")
    order by "bids"."created_at", "bids"."id"), '[]')
  from bids where "bids"."job_id" = "jobs"."id" and ${inArray(bids.status, [...LIVE_BID_STATES])})`;

const eventType = (type: EventType) => sql.raw(`'${type}'`);

/** For a row of `jobs`: the bids that its last award rejected, each with its status before the award. */
export const bidsToRestoreOfJob = sql<BidToRestore[]>`(
  select coalesce(json_agg(json_build_object('id', b.id, 'contractorId', b.contractor_id,
      'status', coalesce(seen.status, '${sql.raw(INITIAL_BID_STATE)}')) order by b.created_at, b.id), '[]')
  from events rejection
  join bids b on b.id = rejection.data ->> 'bidId' and b.status = '${sql.raw(BID_RESTORATION.from[0])}'
  left join (
    select distinct on (e.data ->> 'bidId') e.data ->> 'bidId' as bid_id,
      case e.type when ${eventType(BID_TRANSITIONS.view.event)} then '${sql.raw(BID_TRANSITIONS.view.to)}'
        else '${sql.raw(BID_TRANSITIONS.shortlist.to)}' end as status
    from events e
    where e.job_id = "jobs"."id"
      and e.type in (${eventType(BID_TRANSITIONS.view.event)}, ${eventType(BID_TRANSITIONS.shortlist.event)})
    order by e.data ->> 'bidId', e.sequence desc
  ) seen on seen.bid_id = b.id
  where rejection.job_id = "jobs"."id" and rejection.type = ${eventType(BID_CONSEQUENCES.passOver.event)}
    and rejection.sequence > (select max(award.sequence) from events award
      where award.job_id = "jobs"."id" and award.type = ${eventType(JOB_TRANSITIONS.award.event)}))`;

const BIDS_ON_JOB = { guaranteedView: bids.guaranteedView, createdAt: bids.createdAt, id: bids.id };

/** The caller must have checked that the viewer can see the job. Contractors see only their own bids. */
function bidsOnJob(role: Role, isFiltered: boolean) {
  return pagedList({
    name: 'listBidsOnJob',
    mayBeStale: true,
    keys: BIDS_ON_JOB,
    direction: 'desc',
    fields: bidColumns,
    rows: (
      $: Placeholders<{ jobId: JobId; contractorId: ContractorId | null; status: BidState | null }>,
      fields,
      condition,
    ) =>
      selectFrom(
        bids,
        fields,
        and(
          eq(bids.jobId, $('jobId')),
          role === 'contractor' ? eq(bids.contractorId, $('contractorId')) : undefined,
          ofStatus(isFiltered, $('status')),
          condition,
        ),
      ),
  });
}

function ofStatus(isFiltered: boolean, status: unknown): SQL | undefined {
  return isFiltered ? sql`${bids.status} = ${status}::bid_status` : undefined;
}

export const listBidsOnJob = forEachRole((role) => ({ all: bidsOnJob(role, false), filtered: bidsOnJob(role, true) }));

function bidsOfContractor(isFiltered: boolean) {
  return pagedList({
    name: 'listBidsOf',
    mayBeStale: true,
    keys: { createdAt: bids.createdAt, id: bids.id },
    direction: 'desc',
    fields: bidColumns,
    rows: ($: Placeholders<{ contractorId: ContractorId; status: BidState | null }>, fields, condition) =>
      selectFrom(
        bids,
        fields,
        and(eq(bids.contractorId, $('contractorId')), ofStatus(isFiltered, $('status')), condition),
      ),
  });
}

export const listBidsOf = { all: bidsOfContractor(false), filtered: bidsOfContractor(true) };

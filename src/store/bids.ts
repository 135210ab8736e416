/** Bids and holds. Every statement that changes them runs under the lock of their job. */
import { and, eq, getTableColumns, inArray, sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { BID, HOLD } from '../rules/entities/bid.js';
import type { RowOf } from '../rules/entity.js';
import type { BidId, ContractorId, HoldId, JobId } from '../rules/ids.js';
import { BID_CONSEQUENCES, keepsItsHold } from '../rules/bids.js';
import { BID_STATES, LIVE_BID_STATES, type BidState } from '../rules/states.js';
import type { Role } from '../rules/viewer.js';
import type { Db } from './database.js';
import { listing } from './page.js';
import { asArray, statement, type Values } from './statement.js';
import { bids, holds } from './tables/bids.js';
import { jobs } from './tables/jobs.js';
import { tokenBalances } from './tables/ledger.js';
import { forEachRole, visibleBids, type ViewerIds } from './visibility.js';

export const { jobCreatedAt: _listedBy, ...bidColumns } = getTableColumns(bids);
const { userId: _whose, ...holdColumns } = getTableColumns(holds);

export type Bid = RowOf<typeof BID, Omit<typeof bids.$inferSelect, 'jobCreatedAt'>>;
export type Hold = RowOf<typeof HOLD, Omit<typeof holds.$inferSelect, 'userId'>>;

const jobParties = {
  homeownerId: jobs.homeownerId,
  awardedContractorId: jobs.awardedContractorId,
  status: jobs.status,
};

export const selectBid = forEachRole((role) =>
  statement((db, $: Values<ViewerIds & { id: BidId }>) =>
    db
      .select({ bid: bidColumns, job: jobParties, visible: sql<boolean>`${visibleBids(role, $)}` })
      .from(bids)
      .innerJoin(jobs, eq(jobs.id, bids.jobId))
      .where(eq(bids.id, $.id)),
  ),
);

const isLive = inArray(bids.status, [...LIVE_BID_STATES]);

interface BidsToMove {
  jobId: JobId;
  /** See `asArray`. */
  bidIds: string;
}

/**
 * For each state, the statement that moves live bids of a job to it, and releases their holds unless bids of that state
 * keep them.
 */
export const moveBids = Object.fromEntries(BID_STATES.map((to) => [to, moving(to)])) as Record<
  BidState,
  ReturnType<typeof moving>
>;

function moving(to: BidState) {
  return statement((db, $: Values<BidsToMove>) => {
    const moved = db.$with('moved').as(
      db
        .update(bids)
        .set({ status: to, updatedAt: sql`now()` })
        .where(and(eq(bids.jobId, $.jobId), sql`${bids.id} = any(${$.bidIds}::text[])`, isLive))
        .returning(bidColumns),
    );
    if (keepsItsHold(to)) return db.with(moved).select().from(moved);
    const { released, freed } = release(db, sql`${holds.bidId} in (select id from moved)`);
    return db.with(moved, released, freed).select().from(moved);
  });
}

/**
 * The parts of a statement that settle the bids of the CTE `live` on a job, if the CTE `moved` moved it: one is
 * accepted, the others are rejected and lose their holds.
 */
export function settlingBids(db: PostgresJsDatabase, $: Values<{ bidId: BidId | null }>) {
  const { accept, passOver } = BID_CONSEQUENCES;
  const settled = db.$with('settled').as(
    db
      .update(bids)
      .set({
        status: sql`case ${bids.id} when ${$.bidId} then ${accept.to} else ${passOver.to} end::bid_status`,
        updatedAt: sql`now()`,
      })
      .where(and(sql`${bids.id} in (select id from live)`, sql`exists (select from moved)`))
      .returning({ id: bids.id, contractorId: bids.contractorId, status: bids.status, createdAt: bids.createdAt }),
  );
  const { released, freed } = release(db, sql`${holds.bidId} in (select id from settled where id <> ${$.bidId})`);
  return [settled, released, freed];
}

/** The live bids on a job, as they are when the statement begins. */
export function liveBids(db: PostgresJsDatabase, jobId: Placeholder) {
  return db.$with('live').as(
    db
      .select({ id: bids.id, contractorId: bids.contractorId })
      .from(bids)
      .where(and(eq(bids.jobId, jobId), isLive)),
  );
}

/** Releases the hold of the accepted bid, which lasts until its job ends. */
export const releaseHolds = statement((db, $: Values<{ jobId: JobId }>) => {
  const { released, freed } = release(db, eq(holds.jobId, $.jobId));
  return db.with(released, freed).select({ id: released.id }).from(released);
});

/** Releases active holds, and makes their tokens available again. */
function release(db: PostgresJsDatabase, which: SQL) {
  const released = db.$with('released').as(
    db
      .update(holds)
      .set({ status: 'released', releasedAt: sql`now()` })
      .where(and(eq(holds.status, 'active'), which))
      .returning(),
  );
  const freed = db.$with('freed').as(
    db
      .update(tokenBalances)
      .set({ held: sql`${tokenBalances.held} - staked.amount` })
      .from(sql`(select user_id, sum(amount)::int as amount from released group by user_id order by user_id) staked`)
      .where(sql`${tokenBalances.userId} = staked.user_id`)
      .returning({ userId: tokenBalances.userId }),
  );
  return { released, freed };
}

/** The live bids of a row of `jobs` with their contractors, the oldest first. */
export const liveBidsOfJob = sql<LiveBid[]>`(
  select coalesce(json_agg(json_build_object('id', "bids"."id", 'contractorId', "bids"."contractor_id")
    order by "bids"."created_at", "bids"."id"), '[]')
  from bids where "bids"."job_id" = "jobs"."id" and ${isLive})`;

export type LiveBid = Pick<Bid, 'id' | 'contractorId'>;

const BIDS_ON_JOB = { guaranteedView: bids.guaranteedView, createdAt: bids.createdAt, id: bids.id };

/**
 * The caller has checked that the viewer may see the job. Homeowners and admins then see all of its bids, contractors
 * their own.
 */
function bidsOnJob(role: Role, filtered: boolean) {
  return listing({
    keys: BIDS_ON_JOB,
    order: 'newest first',
    rows: (db, $: Values<{ jobId: JobId; contractorId: ContractorId | null; status: BidState | null }>, within) =>
      db
        .select(bidColumns)
        .from(bids)
        .where(
          and(
            eq(bids.jobId, $.jobId),
            role === 'contractor' ? eq(bids.contractorId, $.contractorId) : undefined,
            ofStatus(filtered, $.status),
            within,
          ),
        )
        .$dynamic(),
  });
}

function ofStatus(filtered: boolean, status: unknown): SQL | undefined {
  return filtered ? sql`${bids.status} = ${status}::bid_status` : undefined;
}

export const listBidsOnJob = forEachRole((role) => ({ all: bidsOnJob(role, false), filtered: bidsOnJob(role, true) }));

function bidsOfContractor(filtered: boolean) {
  return listing({
    keys: { createdAt: bids.createdAt, id: bids.id },
    order: 'newest first',
    rows: (db, $: Values<{ contractorId: ContractorId; status: BidState | null }>, within) =>
      db
        .select(bidColumns)
        .from(bids)
        .where(and(eq(bids.contractorId, $.contractorId), ofStatus(filtered, $.status), within))
        .$dynamic(),
  });
}

export const listBidsOf = { all: bidsOfContractor(false), filtered: bidsOfContractor(true) };

const selectHolds = statement((db, $: Values<{ ids: string }>) =>
  db
    .select(holdColumns)
    .from(holds)
    .where(sql`${holds.id} = any(${$.ids}::text[])`),
);

export async function holdsOf(db: Db, ids: readonly HoldId[]): Promise<Map<HoldId, Hold>> {
  const found = await selectHolds(db, { ids: asArray(ids) });
  return new Map(found.map((hold) => [hold.id, hold]));
}

/**
 * Bidding as one statement: an open job counts one bid more, the bid is made, a stake is held, and the events say so.
 * That a contractor has one bid on a job, and that a stake is covered, is asked here for those who come one after
 * another, and by the tables' own constraints for those who come at once.
 */
import { and, eq, getTableColumns, inArray, sql, type SQL } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { JobId, UserId } from '../rules/ids.js';
import { INITIAL_BID_STATE, JOB_ACTIONS } from '../rules/lifecycle.js';
import { GUARANTEED_VIEW_STAKE } from '../rules/tokens.js';
import { bidColumns } from './bids.js';
import { logging } from './events.js';
import { counting, jobColumns, seenBy, type Logged } from './jobs.js';
import { availableTo } from './ledger.js';
import { columns, rowOf, statement, type Values } from './statement.js';
import { bids, holds } from './tables/bids.js';
import { jobs } from './tables/jobs.js';
import { tokenBalances } from './tables/ledger.js';
import type { ViewerIds } from './visibility.js';

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
] as const;
type BidValues = Pick<typeof bids.$inferSelect, (typeof NEW_BID)[number]> & Logged & { userId: UserId };

const hasNoOther = ($: Values<BidValues>) =>
  sql`not exists (select from bids other where other.job_id = ${$.jobId} and other.contractor_id = ${$.contractorId} and other.status <> 'withdrawn')`;

function counted(db: PostgresJsDatabase, $: Values<BidValues>, given: (SQL | undefined)[]) {
  const isOpen = inArray(jobs.status, [...JOB_ACTIONS.submitBid.from]);
  return db.$with('counted').as(
    db
      .update(jobs)
      .set(counting($.events, ONE_MORE))
      .where(and(eq(jobs.id, $.jobId), isOpen, hasNoOther($), ...given))
      .returning({ id: jobs.id, eventCount: jobs.eventCount, createdAt: jobs.createdAt }),
  );
}

const ONE_MORE = { live: sql`1`, counted: sql`1`, ever: sql`1` };

function made(db: PostgresJsDatabase, $: Values<BidValues>) {
  const now = sql`now()`;
  const row = {
    ...columns($, NEW_BID),
    jobCreatedAt: sql`c.created_at`,
    status: sql`${INITIAL_BID_STATE}`,
    createdAt: now,
    updatedAt: now,
    submittedAt: now,
  };
  return db.$with('made').as(
    db
      .insert(bids)
      .select(sql`select ${rowOf(getTableColumns(bids), row)} from counted c`)
      .returning(bidColumns),
  );
}

export const placeBid = {
  plain: statement((db, $: Values<BidValues>, stands) => {
    const [one, bid] = [counted(db, $, [stands]), made(db, $)];
    return db
      .with(one, bid, logging(db, 'counted', $.events))
      .select()
      .from(bid);
  }),
  staked: statement((db, $: Values<BidValues>, stands) => {
    const [one, bid] = [counted(db, $, [stands, sql`${availableTo($)} >= ${GUARANTEED_VIEW_STAKE}`]), made(db, $)];
    const held = db.$with('held').as(
      db
        .update(tokenBalances)
        .set({ held: sql`${tokenBalances.held} + ${GUARANTEED_VIEW_STAKE}::int` })
        .where(and(eq(tokenBalances.userId, $.userId), sql`exists (select from counted)`))
        .returning({ userId: tokenBalances.userId }),
    );
    const stake = {
      id: $.holdId,
      bidId: sql`m.id`,
      jobId: sql`m.job_id`,
      userId: sql`h.user_id`,
      amount: sql`${GUARANTEED_VIEW_STAKE}`,
      status: sql`'active'`,
      createdAt: sql`now()`,
    };
    const hold = db.$with('hold').as(
      db
        .insert(holds)
        .select(sql`select ${rowOf(getTableColumns(holds), stake)} from made m, held h`)
        .returning({ id: holds.id }),
    );
    return db
      .with(one, bid, held, hold, logging(db, 'counted', $.events))
      .select()
      .from(bid);
  }),
};

/** What bidding hangs on. */
export const selectToBid = statement((db, $: Values<ViewerIds & { id: JobId; userId: UserId }>) =>
  db
    .select({ job: jobColumns, ...seenBy('contractor', $), available: availableTo($) })
    .from(jobs)
    .where(eq(jobs.id, $.id)),
);

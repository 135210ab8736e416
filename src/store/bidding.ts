/** Inserts a bid, and holds its stake. Both run under the lock of their job. */
import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { HoldId, UserId } from '../rules/ids.js';
import { INITIAL_BID_STATE } from '../rules/states.js';
import { bidColumns } from './bids.js';
import { columns, rowOf, statement, type Values } from './statement.js';
import { bids, holds } from './tables/bids.js';
import { tokenBalances } from './tables/ledger.js';

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

type NewBid = Pick<typeof bids.$inferSelect, (typeof NEW_BID)[number]>;

export const insertBid = statement((db, $: Values<NewBid>) =>
  db
    .insert(bids)
    .values({
      ...columns($, NEW_BID),
      status: INITIAL_BID_STATE,
      jobCreatedAt: sql`(select j.created_at from jobs j where j.id = ${$.jobId})`,
    })
    .returning(bidColumns),
);

interface Stake extends Pick<typeof bids.$inferSelect, 'jobId'> {
  bidId: typeof bids.$inferSelect.id;
  holdId: HoldId;
  userId: UserId;
  amount: number;
}

/** The check constraint on the balance refuses a stake that it does not cover. */
export const stakeTokens = statement((db, $: Values<Stake>) => {
  const held = db.$with('held').as(
    db
      .update(tokenBalances)
      .set({ held: sql`${tokenBalances.held} + ${$.amount}::int` })
      .where(eq(tokenBalances.userId, $.userId))
      .returning({ userId: tokenBalances.userId }),
  );
  const hold = {
    id: $.holdId,
    bidId: $.bidId,
    jobId: $.jobId,
    userId: sql`held.user_id`,
    amount: $.amount,
    status: sql`'active'`,
    createdAt: sql`now()`,
  };
  const made = db.$with('made').as(
    db
      .insert(holds)
      .select(sql`select ${rowOf(getTableColumns(holds), hold)} from held`)
      .returning({ id: holds.id }),
  );
  return db.with(held, made).select({ id: made.id }).from(made);
});

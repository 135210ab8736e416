/** A bid's stake: the tokens that it holds. Statements that change a hold must run under the job's lock. */
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { HOLD } from '../../rules/entities/bid.js';
import type { RowOf } from '../../../platform/fields/entity.js';
import type { BidId, HoldId } from '../../rules/ids.js';
import type { Db } from '../../../platform/db/database.js';
import {
  asArray,
  builder,
  insertedRow,
  type Placeholders,
  selectFrom,
  statement,
} from '../../../platform/db/statement.js';
import { payDebts } from '../ledger/ledger.js';
import { newId } from '../new-id.js';
import { holds } from '../tables/bids.js';
import { DEADLINE_NOW } from '../tables/deadline-clock.js';
import { tokenBalances } from '../tables/ledger.js';

const { userId: _whose, deadlineFrom: _from, remindedAt: _reminded, ...holdColumns } = getTableColumns(holds);

export type Hold = RowOf<typeof HOLD, Omit<typeof holds.$inferSelect, 'userId' | 'deadlineFrom' | 'remindedAt'>>;

interface Stake extends Pick<typeof holds.$inferSelect, 'bidId' | 'jobId' | 'userId' | 'amount'> {
  holdId: HoldId;
}

/** The caller must have locked the balance and checked that it covers the stake. */
export const stakeTokens = statement('stakeTokens', { id: holds.id }, ($: Placeholders<Stake>, fields) => {
  const balance = builder.$with('balance').as(
    builder
      .update(tokenBalances)
      .set({ held: sql`${tokenBalances.held} + ${$('amount')}::int` })
      .where(eq(tokenBalances.userId, $('userId')))
      .returning({ userId: tokenBalances.userId }),
  );
  const hold = {
    id: $('holdId'),
    bidId: $('bidId'),
    jobId: $('jobId'),
    userId: sql`balance.user_id`,
    amount: $('amount'),
    status: sql`'active'`,
    createdAt: sql`now()`,
    deadlineFrom: DEADLINE_NOW,
  };
  const newHold = builder.$with('new_hold').as(
    builder
      .insert(holds)
      .select(sql`select ${insertedRow(getTableColumns(holds), hold)} from balance`)
      .returning(fields),
  );
  return builder.with(balance, newHold).select().from(newHold);
});

/** Locks the accounts' rows in a fixed order, so two transactions can't deadlock. Released tokens pay debts first. */
const release = statement('releaseHolds', {}, ($: Placeholders<{ bidIds: string; paymentIds: string }>) => {
  const released = builder.$with('released').as(
    builder
      .update(holds)
      .set({ status: 'released', releasedAt: sql`now()` })
      .where(and(eq(holds.status, 'active'), sql`${holds.bidId} = any(${$('bidIds')}::text[])`))
      .returning(),
  );
  const credited = builder.$with('credited', {}).as(
    sql`select account.user_id, balance, held - staked.amount as held, bought, debt, true as may_pay
      from (select user_id, sum(amount)::int as amount from released group by user_id) staked
        join token_balances account on account.user_id = staked.user_id
      order by account.user_id for update of account`,
  );
  const payment = payDebts(sql`(${$('paymentIds')}::text[])[row_number() over (order by user_id)]`);
  return builder
    .with(released, credited, ...payment)
    .select({ one: sql`1` })
    .from(sql`paid`);
});

/** There are at least as many bids as bidders, so there are enough IDs for the payments. */
export async function releaseHolds(tx: Db, bidIds: readonly BidId[]): Promise<void> {
  await release(tx, { bidIds: asArray(bidIds), paymentIds: asArray(bidIds.map(() => newId('transfer'))) });
}

const selectHolds = statement('selectHolds', holdColumns, ($: Placeholders<{ ids: string }>, fields) =>
  selectFrom(holds, fields, sql`${holds.id} = any(${$('ids')}::text[])`),
);

export async function holdsOf(db: Db, ids: readonly HoldId[]): Promise<Map<HoldId, Hold>> {
  const rows = await selectHolds(db, { ids: asArray(ids) });
  return new Map(rows.map((hold) => [hold.id, hold]));
}

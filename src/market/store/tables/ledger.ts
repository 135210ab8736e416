/** Transfers are only ever inserted, and balances must equal the sums of the transfers. */
import { sql } from 'drizzle-orm';
import { check, index, integer, pgEnum, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { SYSTEM_ACCOUNTS, TRANSFER_REASON_KEYS, type SystemAccount } from '../../rules/tokens.js';
import type { UserId } from '../../rules/ids.js';
import { users } from './accounts.js';
import { createdAt } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

export const transferReason = pgEnum('transfer_reason', TRANSFER_REASON_KEYS);

const systemAccounts = sql.raw(SYSTEM_ACCOUNTS.map((account) => `'${account}'`).join(', '));

export const tokenTransfers = pgTable(
  'token_transfers',
  {
    id: idColumn('transfer').primaryKey(),
    fromAccount: text().$type<UserId | SystemAccount>().notNull(),
    toAccount: text().$type<UserId | SystemAccount>().notNull(),
    amount: integer().notNull(),
    reason: transferReason().notNull(),
    /** The person's side of the transfer, whether they paid or received. Their history is found by this column. */
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    jobId: idColumn('job'),
    bidId: idColumn('bid'),
    /** The other user in a referral. */
    referralUserId: idColumn('user').references(() => users.id),
    /** The admin who made an adjustment. */
    actorId: idColumn('user').references(() => users.id),
    note: text(),
    /** The adjustment's ID in another system. Each reference is used only once. */
    externalReference: text(),
    createdAt: createdAt(),
    /** How many of the tokens were bought. The others were granted. */
    bought: integer().notNull().default(0),
    purchaseId: idColumn('purchase'),
  },
  (t) => [
    index('token_transfers_history').on(t.userId, t.createdAt, t.id),
    uniqueIndex('token_transfers_external_reference')
      .on(t.externalReference)
      .where(sql`external_reference is not null`),
    uniqueIndex('token_transfers_one_credit_of_purchase')
      .on(t.purchaseId)
      .where(sql`reason = 'purchase'`),
    index('token_transfers_of_purchase')
      .on(t.purchaseId)
      .where(sql`purchase_id is not null`),
    // A refund of the publishing cost restores the bought tokens that these transfers spent.
    index('token_transfers_bought_of_job')
      .on(t.jobId)
      .where(sql`bought > 0 and job_id is not null`),
    check('token_transfers_amount_is_positive', sql`${t.amount} > 0`),
    check('token_transfers_bought_is_a_part', sql`${t.bought} between 0 and ${t.amount}`),
    check(
      'token_transfers_touch_one_person',
      sql.join(
        [
          sql`(${t.fromAccount} in (${systemAccounts}) and ${t.toAccount} = ${t.userId})`,
          sql`(${t.toAccount} in (${systemAccounts}) and ${t.fromAccount} = ${t.userId})`,
        ],
        sql` or `,
      ),
    ),
  ],
);

export const tokenBalances = pgTable(
  'token_balances',
  {
    userId: idColumn('user')
      .primaryKey()
      .references(() => users.id),
    balance: integer().notNull().default(0),
    held: integer().notNull().default(0),
    /** How many of the balance's tokens were bought. */
    bought: integer().notNull().default(0),
    /** The tokens that lost chargebacks couldn't take. Later credits and released stakes pay this debt. */
    debt: integer().notNull().default(0),
  },
  (t) => [
    check('token_balances_cover_what_is_held', sql`0 <= ${t.held} and ${t.held} <= ${t.balance}`),
    check('token_balances_bought_is_a_part', sql`${t.bought} between 0 and ${t.balance} and ${t.debt} >= 0`),
  ],
);

export type TokenTransfer = typeof tokenTransfers.$inferSelect;

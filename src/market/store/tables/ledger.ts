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
  },
  (t) => [
    index('token_transfers_history').on(t.userId, t.createdAt, t.id),
    uniqueIndex('token_transfers_external_reference')
      .on(t.externalReference)
      .where(sql`external_reference is not null`),
    check('token_transfers_amount_is_positive', sql`${t.amount} > 0`),
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
  },
  (t) => [check('token_balances_cover_what_is_held', sql`0 <= ${t.held} and ${t.held} <= ${t.balance}`)],
);

export type TokenTransfer = typeof tokenTransfers.$inferSelect;

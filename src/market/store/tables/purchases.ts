/** Purchases of tokens. A purchase is committed before the payment provider is called. */
import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, pgEnum, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { PURCHASE_STATE_KEYS } from '../../rules/purchases.js';
import { createdAt, timestamp, textList } from '../../../platform/db/tables/columns.js';
import { users } from './accounts.js';
import { idColumn } from './id-column.js';

export const purchaseStatus = pgEnum('purchase_status', PURCHASE_STATE_KEYS);

export const purchases = pgTable(
  'purchases',
  {
    id: idColumn('purchase').primaryKey(),
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    pack: text().notNull(),
    tokens: integer().notNull(),
    /** The price in the currency's smallest unit. */
    amount: integer().notNull(),
    currency: text().notNull(),
    status: purchaseStatus().notNull().default('pending'),
    returnUrl: text().notNull(),
    provider: text().$type<'stripe' | 'local'>().notNull(),
    /** False for payments with a test key, which move no money. */
    livemode: boolean().notNull(),
    /** Null until the provider has opened a checkout. */
    sessionId: text(),
    checkoutUrl: text(),
    /** The provider's ID of the payment. Null until there is one. */
    paymentId: text(),
    receiptUrl: text(),
    refundedTokens: integer().notNull().default(0),
    refundedAmount: integer().notNull().default(0),
    /** The refund in progress. Its tokens were already taken. */
    refundingTokens: integer().notNull().default(0),
    refundingAmount: integer().notNull().default(0),
    /** The transfer that took the tokens of the last refund. It's also the refund's idempotency key. */
    refundTransferId: idColumn('transfer'),
    /** The open chargeback, and when it began. */
    disputeId: text(),
    disputedAt: timestamp(),
    /** Chargebacks that ended. A late report must not reopen them. */
    closedDisputes: textList()
      .notNull()
      .default(sql`'{}'`),
    /** The tokens that a lost chargeback couldn't take. */
    debt: integer().notNull().default(0),
    expiresAt: timestamp().notNull(),
    paidAt: timestamp(),
    /** When the server next asks the provider. Null if it has nothing to ask. */
    lookAt: timestamp(),
    createdAt: createdAt(),
  },
  (t) => [
    index('purchases_history').on(t.userId, t.createdAt, t.id),
    uniqueIndex('purchases_session').on(t.sessionId),
    uniqueIndex('purchases_payment').on(t.paymentId),
    index('purchases_to_look_at')
      .on(t.lookAt)
      .where(sql`look_at is not null`),
    check('purchases_have_a_price', sql`${t.tokens} > 0 and ${t.amount} > 0`),
    check(
      'purchases_refund_at_most_everything',
      sql`${t.refundedTokens} >= 0 and ${t.refundingTokens} >= 0 and ${t.refundedAmount} >= 0
        and ${t.refundingAmount} >= 0 and ${t.refundedTokens} + ${t.refundingTokens} <= ${t.tokens}
        and ${t.refundedAmount} + ${t.refundingAmount} <= ${t.amount}`,
    ),
    check('purchases_debt_is_a_part', sql`${t.debt} between 0 and ${t.tokens}`),
  ],
);

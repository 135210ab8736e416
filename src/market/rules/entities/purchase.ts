/** Purchases of tokens, and the packs that users can buy. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { enumOf, integer, requiredText, timestamp } from '../../../platform/fields/values.js';
import { idOf, identifier } from '../id-fields.js';
import { TEXT } from '../market-limits.js';
import { PURCHASE_STATE_KEYS } from '../purchases.js';

const pack = { type: requiredText(TEXT.kind), description: 'The ID of the pack.', example: 'small' };
const tokens = { type: integer(1), description: 'The number of tokens in the pack.', example: 50 };
const amount = { type: integer(1), description: 'The price, in the currency’s smallest unit.', example: 500 };
const currency = {
  type: requiredText(TEXT.kind),
  description: 'The market’s currency, as an ISO 4217 code. Budgets and bids use it, too.',
  example: 'USD',
};
const webAddress = z.string().nullable().meta({ maxLength: TEXT.url });

export const TOKEN_PACK = entity('TokenPack', 'A pack of tokens that you can buy with `buyTokens`.', {
  id: pack,
  tokens,
  amount,
  currency,
});

export const PURCHASE = entity('Purchase', 'A purchase of tokens. We don’t store any card data.', {
  id: identifier('purchase'),
  userId: { type: idOf('user'), description: 'The user who made the purchase.' },
  pack,
  status: {
    type: enumOf(PURCHASE_STATE_KEYS, 'PurchaseStatus'),
    description: 'The status of the purchase.',
    example: 'paid',
  },
  tokens,
  amount,
  currency,
  refundedTokens: { type: integer(), description: 'The number of tokens that were refunded.', example: 0 },
  refundedAmount: {
    type: integer(),
    description: 'The amount that was refunded, in the currency’s smallest unit.',
    example: 0,
  },
  receiptUrl: {
    type: webAddress,
    description: 'The URL of the payment provider’s receipt. Null if there’s no receipt, or if it isn’t known yet.',
    example: null,
  },
  disputedAt: {
    type: timestamp.nullable(),
    description: 'When the open chargeback began. Null if no chargeback is open, and for everyone except admins.',
    example: null,
  },
  expiresAt: { type: timestamp, description: 'When the checkout expires.' },
  paidAt: { type: timestamp.nullable(), description: 'When the tokens were credited. Null until then.' },
  createdAt: { type: timestamp, description: 'When the purchase was created.' },
});

export const NEW_PURCHASE = entity('NewPurchase', 'A new purchase, and the URL of its checkout page.', {
  purchase: { type: PURCHASE.schema, description: 'The purchase.' },
  checkoutUrl: {
    type: webAddress,
    description: 'The URL of the checkout page. Null in a dry run, and if the purchase is no longer pending.',
    example: 'https://checkout.stripe.com/c/pay/cs_test_a1b2c3',
  },
});

/** Which pack a buyer needs, how a purchase moves, and how refunds and chargebacks divide its tokens and its price. */
import { describe, expect, test } from 'vitest';
import {
  chargebackOf,
  mayMove,
  PURCHASE_STATE_KEYS,
  PURCHASE_TRANSITIONS,
  refundAmount,
  smallestPack,
  type PurchaseTransition,
} from '../../../src/market/rules/purchases.js';

describe('the smallest pack', () => {
  const LARGE = { id: 'large', tokens: 100, amount: 9_000 };
  const SMALL = { id: 'small', tokens: 10, amount: 1_500 };
  const MEDIUM = { id: 'medium', tokens: 50, amount: 6_000 };
  const ON_SALE = { id: 'on_sale', tokens: 50, amount: 5_000 };
  const packs = [LARGE, SMALL, MEDIUM, ON_SALE];

  test.each([
    [1, SMALL],
    [10, SMALL],
    [11, ON_SALE],
    [50, ON_SALE],
    [51, LARGE],
    [100, LARGE],
    [101, undefined],
  ])('for %i tokens, and the cheaper one of two with equally many', (tokens, pack) => {
    expect(smallestPack(packs, tokens)).toBe(pack);
  });
});

test.each<[transition: PurchaseTransition, from: string[], to: string]>([
  ['pay', ['pending', 'failed', 'expired'], 'paid'],
  ['fail', ['pending'], 'failed'],
  ['expire', ['pending'], 'expired'],
  ['beginRefund', ['paid'], 'refunding'],
  ['completeRefund', ['refunding'], 'refunded'],
  ['endRefund', ['refunding'], 'paid'],
  ['chargeBack', ['paid', 'refunding', 'refunded'], 'charged_back'],
])('%s moves only purchases that are %j', (transition, from, to) => {
  expect(PURCHASE_STATE_KEYS.filter((status) => mayMove(transition, status))).toEqual(from);
  expect(PURCHASE_TRANSITIONS[transition].to).toBe(to);
});

test('partial refunds never return more than the price so far, and together they return all of it', () => {
  const purchase = { tokens: 3, amount: 1_000 };
  expect(refundAmount({ ...purchase, refundedTokens: 0, refundedAmount: 0 }, 1)).toBe(333);
  expect(refundAmount({ ...purchase, refundedTokens: 1, refundedAmount: 333 }, 1)).toBe(333);
  expect(refundAmount({ ...purchase, refundedTokens: 2, refundedAmount: 666 }, 1)).toBe(334);
  expect(refundAmount({ ...purchase, refundedTokens: 1, refundedAmount: 333 }, 2)).toBe(667);
});

test.each([
  [
    'all tokens that were not refunded, if the account has them',
    { available: 50, left: 20 },
    { taken: 20, bought: 20, debt: 0 },
  ],
  ['what the account has, and the rest as a debt', { available: 12, left: 20 }, { taken: 12, bought: 12, debt: 8 }],
  [
    'the tokens left from this purchase first, and then others',
    { available: 50, left: 4 },
    { taken: 20, bought: 4, debt: 0 },
  ],
  ['only a debt, if nothing is available', { available: 0, left: 0 }, { taken: 0, bought: 0, debt: 20 }],
])('a lost chargeback takes %s', (_, account, expected) => {
  const facts = { status: 'refunding', tokens: 30, amount: 3_000, refundedAmount: 400 } as const;
  expect(chargebackOf({ ...facts, refundedTokens: 4, refundingTokens: 6 }, account)).toEqual(expected);
});

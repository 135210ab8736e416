/**
 * Numbers and lists that clients depend on, copied by hand from the specification and the decisions as a second
 * opinion.
 */
import { describe, expect, test } from 'vitest';
import { CATALOG } from '../../../src/market/rules/jobs/catalog.js';
import { JOB_ORDERS } from '../../../src/market/rules/jobs/orders.js';
import { moneyAboveZero } from '../../../src/platform/fields/values.js';
import {
  BIDS_PER_PAGE_DEFAULT,
  MAIL,
  PASSWORD_BYTES,
  TASKS,
  TEXT,
  WEBHOOKS,
} from '../../../src/market/rules/market-limits.js';
import {
  BUDGETS,
  budgetWindowSeconds,
  ADDRESS_BUDGET_FACTOR_OUTSIDE_PRODUCTION,
} from '../../../src/market/rules/rate-limits.js';
import { PAGE, SESSION } from '../../../src/platform/caller-limits.js';
import { REPLICA } from '../../../src/platform/service-limits.js';
import {
  GUARANTEED_VIEW_STAKE,
  HOLD_STATES,
  SYSTEM_ACCOUNTS,
  REFERRAL_ALPHABET,
  REFERRAL_BONUS,
  REFERRAL_LENGTH,
  SIGNUP_BONUS,
  TRANSFER_REASONS,
} from '../../../src/market/rules/tokens.js';
import { ROLES } from '../../../src/market/rules/viewer.js';

test('there are three roles', () => {
  expect(ROLES).toEqual(['homeowner', 'contractor', 'admin']);
});

test.each([
  ['webhook', WEBHOOKS.attemptMs],
  ['mail', MAIL.sendMs],
  ['notice', MAIL.sendMs],
] as const)('a %s is leased for longer than a wait for the replica and an attempt', (kind, attemptMs) => {
  const longestMs = REPLICA.lagMaxSecondsMax * 1_000 + REPLICA.answerWithinMs + attemptMs;
  expect(TASKS[kind].leaseSeconds * 1_000).toBeGreaterThan(longestMs + 3_000);
});

describe('tokens', () => {
  test('Hannah gets 10 for signing up, Carla 25, and both 10 for a referral; a guaranteed view stakes 5', () => {
    expect({ ...SIGNUP_BONUS, referral: REFERRAL_BONUS, stake: GUARANTEED_VIEW_STAKE }).toEqual({
      homeowner: 10,
      contractor: 25,
      referral: 10,
      stake: 5,
    });
  });

  test('a hold is active until it is released', () => {
    expect(HOLD_STATES).toEqual(['active', 'released']);
  });

  test('they come from issuance and are spent into fees', () => {
    const accounts = Object.fromEntries(
      Object.entries(TRANSFER_REASONS).map(([reason, { systemAccount }]) => [reason, systemAccount]),
    );
    expect(accounts).toEqual({
      signup_bonus: 'issuance',
      referral_bonus: 'issuance',
      adjustment: 'issuance',
      publish: 'fees',
      urgency_raise: 'fees',
      publish_refund: 'fees',
      purchase: 'issuance',
      purchase_refund: 'issuance',
      purchase_refund_undone: 'issuance',
      chargeback: 'issuance',
      debt_payment: 'issuance',
    });
    expect(SYSTEM_ACCOUNTS).toEqual(['issuance', 'fees']);
  });

  test.each(Object.entries(TRANSFER_REASONS))('%s is explained for people', (_reason, row) => {
    expect(row.description).toMatch(/^[A-Z].{15,}[a-z]$/);
  });

  test('a referral code has 8 characters, none of which looks like another', () => {
    expect(REFERRAL_LENGTH).toBe(8);
    expect([...REFERRAL_ALPHABET].sort().join('')).toBe('23456789ABCDEFGHJKMNPQRSTUVWXYZ');
  });
});

describe('limits', () => {
  test('for text, in characters, and for passwords, in bytes', () => {
    expect(TEXT).toMatchObject({ title: 200, long: 10_000, note: 5_000, line: 200, name: 100, kind: 64 });
    expect(PASSWORD_BYTES).toEqual({ min: 8, max: 72 });
  });

  test('for pages', () => {
    expect(PAGE).toEqual({ perPageDefault: 20, perPageMax: 100, exactTotalMax: 10_000, exactSearchTotalMax: 1_000 });
    expect(BIDS_PER_PAGE_DEFAULT).toBe(100);
  });

  test('for sessions', () => {
    expect(SESSION).toEqual({
      accessTokenSeconds: 900,
      refreshTokenDays: 30,
      sessionDaysMax: 90,
      perAccountMax: 1_000,
      leewaySeconds: 60,
    });
  });

  test.each<[budget: keyof typeof BUDGETS, perMinute: number, per: string, counts?: string]>([
    ['logInPerAccountAndAddress', 10, 'account and address'],
    ['logInPerAddress', 120, 'address'],
    ['logInFailuresPerAccount', 300, 'account', 'failed logins'],
    ['signUp', 60, 'address'],
    ['refresh', 60, 'session'],
    ['read', 600, 'user'],
    ['write', 120, 'user'],
    ['invalidToken', 120, 'address'],
    ['expiredToken', 600, 'address'],
  ])('for requests: %s, %d a minute for each %s', (budget, max, per, counts) => {
    expect(BUDGETS[budget]).toEqual({ max, per, ...(counts && { counts }) });
    expect(budgetWindowSeconds(budget)).toBe(60);
  });

  test('emails per hour: three per recipient, 20 per user, and 200 per IP address', () => {
    expect(BUDGETS.mailPerRecipient).toEqual({ max: 3, per: 'recipient', windowSeconds: 3_600, counts: 'emails' });
    expect(BUDGETS.mailPerCaller).toEqual({ max: 20, per: 'user', windowSeconds: 3_600, counts: 'emails' });
    expect(BUDGETS.mailPerAddress).toEqual({ max: 200, per: 'address', windowSeconds: 3_600, counts: 'emails' });
  });

  test('replays of events: 30 per user and hour', () => {
    expect(BUDGETS.replay).toEqual({ max: 30, per: 'user', windowSeconds: 3_600 });
  });

  test('for requests outside production: ten times as many per address', () => {
    expect(ADDRESS_BUDGET_FACTOR_OUTSIDE_PRODUCTION).toBe(10);
  });
});

test('jobs are listed in six orders', () => {
  expect(JOB_ORDERS).toEqual([
    'newest',
    'oldest',
    'recently_updated',
    'highest_budget',
    'longest_unchanged',
    'nearest',
  ]);
});

test('forms suggest trades, business types, and property types', () => {
  expect(Object.keys(CATALOG)).toEqual(['categories', 'businessTypes', 'propertyTypes']);
});

test.each(Object.entries(CATALOG))(
  'each of the %s that forms suggest can be sent as it is, and is listed once',
  (_kind, values) => {
    expect(values.length).toBeGreaterThan(3);
    for (const value of values) expect(value).toMatch(/^[a-z_]{3,64}$/);
    expect(new Set<string>(values).size).toBe(values.length);
  },
);

test.each([-1.234, -1, 0])('a bid of %d must be more than 0, which is its only problem', (amount) => {
  expect(moneyAboveZero.safeParse(amount).error?.issues[0]?.message).toBe('must be more than 0');
});

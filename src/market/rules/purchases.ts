/** The packs of tokens, the states of a purchase, and the transitions between them. */

/** A number of tokens with a price, in the currency's smallest unit. The packs and the currency are settings. */
export interface TokenPack {
  readonly id: string;
  readonly tokens: number;
  readonly amount: number;
}

/** Undefined if no pack has enough tokens. */
export function smallestPack(packs: readonly TokenPack[], tokens: number): TokenPack | undefined {
  return packs
    .filter((pack) => pack.tokens >= tokens)
    .toSorted((one, other) => one.tokens - other.tokens || one.amount - other.amount)[0];
}

export const PURCHASE_STATES = {
  pending: 'The user hasn’t paid yet.',
  paid: 'The user paid, and the tokens were credited.',
  failed: 'The payment failed. If it succeeds later, the purchase becomes paid.',
  expired: 'The checkout expired. If the payment provider reports a payment later, the purchase becomes paid.',
  refunding: 'A refund is in progress. Its tokens were taken back.',
  refunded: 'The whole price was refunded.',
  charged_back: 'The user’s bank charged the payment back.',
} as const;
export type PurchaseState = keyof typeof PURCHASE_STATES;
export const PURCHASE_STATE_KEYS = Object.keys(PURCHASE_STATES) as [PurchaseState, ...PurchaseState[]];

/** Events can arrive late, twice, and in any order. One that doesn't apply to the purchase's state changes nothing. */
export const PURCHASE_TRANSITIONS = {
  pay: { from: ['pending', 'expired', 'failed'], to: 'paid' },
  fail: { from: ['pending'], to: 'failed' },
  expire: { from: ['pending'], to: 'expired' },
  beginRefund: { from: ['paid'], to: 'refunding' },
  completeRefund: { from: ['refunding'], to: 'refunded' },
  /** After a partial refund, or if the provider refused the refund. */
  endRefund: { from: ['refunding'], to: 'paid' },
  chargeBack: { from: ['paid', 'refunding', 'refunded'], to: 'charged_back' },
} as const satisfies Record<string, { from: readonly PurchaseState[]; to: PurchaseState }>;

export type PurchaseTransition = keyof typeof PURCHASE_TRANSITIONS;

export function mayMove(transition: PurchaseTransition, status: PurchaseState): boolean {
  const from: readonly PurchaseState[] = PURCHASE_TRANSITIONS[transition].from;
  return from.includes(status);
}

/** How a provider's report reaches us. */
export const REPORT_SOURCES = ['webhook', 'call', 'lookup', 'page'] as const;
export type ReportSource = (typeof REPORT_SOURCES)[number];

/** A `mismatch` changes nothing, and an operator must look at it. `unknown` means that the purchase doesn't exist. */
export const SETTLEMENTS = ['changed', 'unchanged', 'mismatch', 'unknown'] as const;
export type Settlement = (typeof SETTLEMENTS)[number];

/** The values of a purchase that decide how a report changes it. */
export interface PurchaseAmounts {
  readonly status: PurchaseState;
  readonly tokens: number;
  readonly amount: number;
  readonly refundedTokens: number;
  readonly refundedAmount: number;
  readonly refundingTokens: number;
}

/**
 * The price of these tokens in the smallest unit. The sum of all refunds is rounded down, so partial refunds never
 * return more than the price, and together they return all of it.
 */
export function refundAmount(purchase: Omit<PurchaseAmounts, 'status' | 'refundingTokens'>, tokens: number): number {
  const { amount, refundedTokens, refundedAmount } = purchase;
  return Math.floor((amount * (refundedTokens + tokens)) / purchase.tokens) - refundedAmount;
}

/** The tokens that a lost chargeback takes, and the tokens that become a debt. */
export function chargebackOf(
  { tokens, refundedTokens, refundingTokens }: PurchaseAmounts,
  account: { readonly available: number; readonly left: number },
) {
  const owed = tokens - refundedTokens - refundingTokens;
  const taken = Math.min(owed, account.available);
  // Tokens that are left from this purchase are taken first. The others are taken in the usual order of spending.
  return { taken, bought: Math.min(account.left, taken), debt: owed - taken };
}

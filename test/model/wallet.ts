/**
 * The tokens of one person, written a second time from the decisions only: each purchase keeps the tokens that are left
 * of it. The service stores no such number, and derives it.
 */

/** The table of what a run covered names this first. */
export const THE_TOKENS = 'the tokens';

export interface Pack {
  readonly id: string;
  readonly tokens: number;
  /** In cents. */
  readonly amount: number;
}

/** Small, so that a person spends the tokens of several. A token of the last pack costs less than a cent. */
export const PACKS: readonly Pack[] = [
  { id: 'small', tokens: 12, amount: 119 },
  { id: 'medium', tokens: 30, amount: 250 },
  { id: 'bulk', tokens: 60, amount: 40 },
];
export const TOKEN_PACKS = PACKS.map(({ id, tokens, amount }) => `${id}:${tokens}:${amount}`).join(',');

export type PurchaseState = 'pending' | 'paid' | 'expired' | 'refunded' | 'charged_back';

export interface Purchase<Buyer> {
  id: string;
  createdAt: string;
  readonly by: Buyer;
  readonly pack: Pack;
  state: PurchaseState;
  refundedTokens: number;
  /** In cents. */
  refundedAmount: number;
  /** The tokens in the wallet that are of this purchase. */
  left: number;
}

/** Tokens of both kinds. */
export interface TokenSplit {
  readonly granted: number;
  readonly bought: number;
}

/** Granted tokens, and the tokens that are left of each purchase. Stakes are a part of them. */
export class Wallet<Buyer> {
  debt = 0;
  /** The purchases that were paid and not charged back, in the order of payment. */
  private readonly paid: Purchase<Buyer>[] = [];
  /** Bought tokens that no purchase has room for, because theirs was charged back. They are older than all others. */
  private strays = 0;

  constructor(private granted: number) {}

  get bought(): number {
    return this.paid.reduce((sum, { left }) => sum + left, this.strays);
  }

  get balance(): number {
    return this.granted + this.bought;
  }

  grant(tokens: number): void {
    this.granted += tokens;
  }

  credit(purchase: Purchase<Buyer>): void {
    purchase.left = purchase.pack.tokens;
    this.paid.push(purchase);
  }

  /** Takes granted tokens first, and then those of the oldest purchase. The number of purchases that it took from. */
  spend(tokens: number): TokenSplit & { readonly purchases: number } {
    const granted = Math.min(this.granted, tokens);
    this.granted -= granted;
    let open = tokens - granted;
    const fromStrays = Math.min(this.strays, open);
    this.strays -= fromStrays;
    open -= fromStrays;
    let purchases = fromStrays > 0 ? 1 : 0;
    for (const purchase of this.paid) {
      const taken = Math.min(purchase.left, open);
      purchase.left -= taken;
      open -= taken;
      if (taken > 0) purchases += 1;
    }
    if (open > 0) throw new Error('The model spent tokens that nobody has.');
    return { granted, bought: tokens - granted, purchases };
  }

  /**
   * Undoes a spending. The oldest tokens are spent first, so whatever comes back was the last to be spent: it fills the
   * newest purchases.
   */
  restore({ granted, bought }: TokenSplit): void {
    this.granted += granted;
    let open = bought;
    for (const purchase of this.paid.toReversed()) {
      const back = Math.min(roomIn(purchase), open);
      purchase.left += back;
      open -= back;
    }
    this.strays += open;
  }

  /** Takes tokens of this purchase only. */
  takeBack(purchase: Purchase<Buyer>, tokens: number): void {
    purchase.left -= tokens;
    purchase.refundedTokens += tokens;
    purchase.refundedAmount = refundedAmountOf(purchase.pack, purchase.refundedTokens);
    if (purchase.refundedTokens === purchase.pack.tokens) purchase.state = 'refunded';
  }

  /**
   * The bank took the money back. First go the tokens of this purchase, then any others. What isn't available becomes a
   * debt.
   */
  chargeBack(purchase: Purchase<Buyer>, available: number): { readonly granted: number; readonly stranded: number } {
    const owed = purchase.pack.tokens - purchase.refundedTokens;
    const taken = Math.min(owed, available);
    const own = Math.min(purchase.left, taken);
    const stranded = purchase.left - own;
    purchase.left = 0;
    purchase.state = 'charged_back';
    this.paid.splice(this.paid.indexOf(purchase), 1);
    const { granted } = this.spend(taken - own);
    this.debt += owed - taken;
    // Staked tokens of this purchase stay in the wallet.
    this.restore({ granted: 0, bought: stranded });
    return { granted, stranded };
  }

  payDebt(available: number): number {
    const paid = Math.min(this.debt, available);
    this.debt -= paid;
    this.spend(paid);
    return paid;
  }
}

function roomIn({ pack, refundedTokens, left }: Purchase<unknown>): number {
  return pack.tokens - refundedTokens - left;
}

/** What has been refunded once so many tokens were: their part of the price, rounded down. */
export function refundedAmountOf({ tokens, amount }: Pack, refundedTokens: number): number {
  return Math.floor((amount * refundedTokens) / tokens);
}

/** The smallest pack with at least so many tokens. */
export function packFor(tokens: number): string | null {
  return PACKS.find((pack) => pack.tokens >= tokens)?.id ?? null;
}

/**
 * What a rate-limit store does, in memory or in Redis: it decides and counts in one step, so that no two calls see the
 * same free place.
 */

export interface RateBudget {
  /** One of the program's own names, never a caller's text. */
  readonly name: string;
  /** How many calls pass in any window; 0 lets none pass. */
  readonly max: number;
  readonly windowSeconds: number;
}

export interface BudgetState {
  /** The calls that counted when this one came. */
  readonly earlier: number;
  /**
   * When the next place becomes free: when the oldest counted call, this one included, leaves the window. 0 if none
   * counts.
   */
  readonly freesInMs: number;
  /** What this call was counted under; undefined if it was not counted. */
  readonly mark: Mark | undefined;
}

export type Mark = string | number;

export interface RateStore {
  /** Counts this call if there is room for it. A refused call is not counted, so refusals never prolong a block. */
  count(budget: RateBudget, key: string): BudgetState | Promise<BudgetState>;
  /** The same answer without counting the call. */
  look(budget: RateBudget, key: string): BudgetState | Promise<BudgetState>;
  /** Takes one counted call back: the one under this mark, or else the newest. */
  uncount(budget: RateBudget, key: string, mark: Mark | undefined): void | Promise<void>;
}

/** How much of everything one caller may use: rates, sizes, lengths. Units stand in the names. */

export const TEXT = {
  title: 200,
  long: 10_000,
  note: 5_000,
  line: 200,
  name: 100,
  kind: 64,
  email: 254,
  url: 2_000,
  listItems: 50,
} as const;

export const PASSWORD_BYTES = { min: 8, max: 72 } as const;

export const PAGE = { perPageDefault: 20, perPageMax: 100, bidsPerPageDefault: 100, exactTotalMax: 10_000 } as const;

export const SESSION = {
  refreshTokenDays: 30,
  sessionDaysMax: 90,
  /** A used refresh token seen again this soon is two tabs at once; later it is theft. */
  reuseGraceSeconds: 10,
} as const;

/**
 * Rate budgets, all per minute. `per` says whose budget it is; both doors draw on the same one. Outside production the
 * per-address numbers are ten times these.
 */
export const BUDGETS = {
  logInPerAccountAndAddress: { max: 10, per: 'account and address' },
  logInPerAddress: { max: 120, per: 'address' },
  logInFailuresPerAccount: { max: 300, per: 'account' },
  signUp: { max: 60, per: 'address' },
  refresh: { max: 60, per: 'session' },
  read: { max: 600, per: 'user' },
  write: { max: 120, per: 'user' },
  invalidToken: { max: 120, per: 'address' },
} as const;

export type BudgetName = keyof typeof BUDGETS;
export const BUDGET_WINDOW_SECONDS = 60;
export const ADDRESS_BUDGET_FACTOR_OUTSIDE_PRODUCTION = 10;

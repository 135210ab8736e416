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

/** What one GraphQL operation may ask for. Whatever asks for more is refused before any of it runs. */
export const GRAPHQL_LIMITS = {
  /** Of the whole document; reading it stops there. */
  tokens: 1_000,
  depth: 12,
  /** The standard introspection query is 15 levels deep. */
  introspectionDepth: 16,
  aliases: 15,
  rootMutations: 5,
  /** Log-ins and sign-ups: a hundred aliases of a log-in would be a hundred guesses in one request. */
  entries: 1,
  /** Of the whole document, fragments counted once. */
  directives: 10,
  /** Fields and fragments, those of a fragment counted at each of its uses. */
  selections: 1_000,
  /** An object costs 1, a list its length times its nodes: 100 jobs with 20 bids each are 2,100. */
  cost: 3_000,
} as const;

/** The length that a list without `first` counts with: a job's available actions are the longest of them. */
export const UNPAGED_LIST_ENTRIES = 16;

/** Of the header that lists what a dry run would have done. */
export const DRY_RUN_EFFECTS_HEADER_BYTES_MAX = 4 * 1024;

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

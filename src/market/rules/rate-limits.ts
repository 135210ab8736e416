/** The rate limits: how many calls of each kind one caller can make. */

/**
 * The number of calls, or of what `counts` says, that are allowed per minute, or per `windowSeconds`. `per` says which
 * calls are counted together. Both APIs share each limit. Operators can change a limit with a variable such as
 * `RATE_LIMIT_MAIL_PER_RECIPIENT`. Outside production, the limits per address are ten times as high.
 */
export const BUDGETS = {
  logInPerAccountAndAddress: { max: 10, per: 'account and address' },
  logInPerAddress: { max: 120, per: 'address' },
  logInFailuresPerAccount: { max: 300, per: 'account', counts: 'failed logins' },
  signUp: { max: 60, per: 'address' },
  refresh: { max: 60, per: 'session' },
  read: { max: 600, per: 'user' },
  write: { max: 120, per: 'user' },
  invalidToken: { max: 120, per: 'address' },
  /**
   * Calls with genuine access tokens that have expired. An office full of well-behaved clients may send many of them.
   */
  expiredToken: { max: 600, per: 'address' },
  /** Events from the payment provider, which have no session. */
  paymentEvents: { max: 1_200, per: 'address' },
  /** Each replay can enqueue thousands of events. */
  replay: { max: 30, per: 'user', windowSeconds: 3_600 },
  /** The emails to one recipient that people request. */
  mailPerRecipient: { max: 3, per: 'recipient', windowSeconds: 3_600, counts: 'emails' },
  /** The emails that one signed-in caller requests. */
  mailPerCaller: { max: 20, per: 'user', windowSeconds: 3_600, counts: 'emails' },
  /** The emails that callers without a session request from one IP address. */
  mailPerAddress: { max: 200, per: 'address', windowSeconds: 3_600, counts: 'emails' },
} as const satisfies Record<string, { max: number; per: string; windowSeconds?: number; counts?: string }>;

export type BudgetName = keyof typeof BUDGETS;

export function budgetWindowSeconds(name: BudgetName): number {
  const budget = BUDGETS[name];
  return 'windowSeconds' in budget ? budget.windowSeconds : 60;
}

/** The rate limits that can drop an email. */
export const MAIL_BUDGETS = ['mailPerRecipient', 'mailPerCaller', 'mailPerAddress'] as const;

export type MailBudget = (typeof MAIL_BUDGETS)[number];

export const ADDRESS_BUDGET_FACTOR_OUTSIDE_PRODUCTION = 10;

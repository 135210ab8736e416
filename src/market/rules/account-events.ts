/** The types of events about an account, not about a job. */
export const ACCOUNT_EVENT_DESCRIPTIONS = {
  'account.email_changed': 'The account’s email address changed, because a change was confirmed or undone.',
  'account.password_changed': 'The password was changed or reset, or it was blocked when an email change was undone.',
  'account.email_undo_pending':
    'The owner of a former email address wants the account back. The account doesn’t change until support decides.',
  'purchase.paid': 'A purchase was paid, and its tokens were credited.',
  'purchase.refunded': 'A purchase was refunded, fully or partially.',
  'purchase.charged_back': 'A chargeback was lost, so the purchase’s tokens were taken back.',
  'webhook.failing': 'A webhook endpoint has been failing for a day.',
  'webhook.paused': 'The service paused a webhook endpoint. If you pause an endpoint yourself, there’s no event.',
} as const;
export type AccountEventType = keyof typeof ACCOUNT_EVENT_DESCRIPTIONS;
export const ACCOUNT_EVENT_TYPES = Object.keys(ACCOUNT_EVENT_DESCRIPTIONS) as AccountEventType[];

/** The types that admins can read for other users’ accounts. They have to decide on pending undos. */
export const ACCOUNT_EVENT_TYPES_FOR_ADMINS: readonly AccountEventType[] = ['account.email_undo_pending'];

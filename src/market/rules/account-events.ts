/** The types of events that concern an account and no job. */
export const ACCOUNT_EVENT_DESCRIPTIONS = {
  'account.email_changed': 'The account has a different email address: a change was confirmed, or one was undone.',
  'account.password_changed': 'The password was changed, reset, or blocked by an undo of an email change.',
  'account.email_undo_pending':
    'The owner of a former email address wants the account back. The account doesn’t change until support decides.',
  'purchase.paid': 'A purchase of tokens was paid, and the tokens were credited.',
  'purchase.refunded': 'A purchase, or a part of it, was refunded.',
  'purchase.charged_back': 'A chargeback was lost, so the tokens of a purchase were taken back.',
  'webhook.failing': 'A webhook endpoint has been failing for a day.',
  'webhook.paused': 'The service paused a webhook endpoint. If you pause an endpoint yourself, there’s no event.',
} as const;
export type AccountEventType = keyof typeof ACCOUNT_EVENT_DESCRIPTIONS;
export const ACCOUNT_EVENT_TYPES = Object.keys(ACCOUNT_EVENT_DESCRIPTIONS) as AccountEventType[];

/** Only these can be read by anyone but the account’s user. Admins decide on the undos that wait. */
export const ACCOUNT_EVENT_TYPES_FOR_ADMINS: readonly AccountEventType[] = ['account.email_undo_pending'];

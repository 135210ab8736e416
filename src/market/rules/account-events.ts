/** The events that concern an account and no job. */
export const ACCOUNT_EVENT_TYPES = [
  'account.email_changed',
  'account.password_changed',
  'account.email_undo_pending',
  'webhook.failing',
  'webhook.paused',
] as const;
export type AccountEventType = (typeof ACCOUNT_EVENT_TYPES)[number];

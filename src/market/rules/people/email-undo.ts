/**
 * An undo returns the account immediately, unless the account was used after the email change (`USES_AFTER_CHANGE` in
 * `market/store/accounts/email-undos.ts`). In that case, support decides, no matter how long it takes.
 */
export const EMAIL_UNDO_STATES = ['pending', 'undone', 'settled'] as const;
export type EmailUndoState = (typeof EMAIL_UNDO_STATES)[number];

/** The address that keeps the account after support's decision. */
export const EMAIL_UNDO_DECISIONS = ['current', 'former'] as const;

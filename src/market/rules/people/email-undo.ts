/**
 * The undo of an email change. It returns the account immediately, unless the account was used after the change. In
 * that case, support decides, however long that takes. `USES_AFTER_CHANGE` in `market/store/accounts/email-undos.ts`
 * lists what counts.
 */
export const EMAIL_UNDO_STATES = ['pending', 'undone', 'settled'] as const;
export type EmailUndoState = (typeof EMAIL_UNDO_STATES)[number];

/** The address that keeps the account when support decides. */
export const EMAIL_UNDO_DECISIONS = ['current', 'former'] as const;

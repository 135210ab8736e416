/**
 * The undo of an email change. It hands the account back at once, unless the account was used after the change:
 * `USES_AFTER_CHANGE` of `store/email-undos.ts` lists what counts. Then support decides, however long that takes.
 */
export const EMAIL_UNDO_STATES = ['pending', 'undone', 'settled'] as const;
export type EmailUndoState = (typeof EMAIL_UNDO_STATES)[number];

/** Which address support lets the account keep. */
export const EMAIL_UNDO_DECISIONS = ['current', 'former'] as const;

/** The kinds of email, and the page and the validity of each kind's link. */
const PASSWORD_LINK = { page: '/reset-password', hours: 1 } as const;

/** No email contains text that another user wrote. */
export const MAILS = {
  password_reset: PASSWORD_LINK,
  /** Support sends this email. It has the same link as a password reset. */
  password_reset_by_support: PASSWORD_LINK,
  password_changed: null,
  email_verification: { page: '/verify-email', hours: 72 },
  /** This email goes to the new address of an account, to confirm it. */
  email_change: { page: '/verify-email', hours: 24 },
  /** This email goes to the former address after the account's email was changed. */
  email_changed: { page: '/undo-email-change', hours: 168 },
  /** This email goes to the former address after the undo link returned the account to it. */
  password_reset_after_undo: PASSWORD_LINK,
  /** This email goes to the address that lost the account to an undo. */
  email_undone: null,
  /** This email goes to the current address of an account whose undo is waiting for support. */
  email_undo_pending: null,
  /** This email goes to the address that keeps the account after support's decision. */
  email_undo_granted: { page: '/reset-password', hours: 72 },
  /** This email goes to the address that support decided against. */
  email_undo_denied: null,
  /** This email is about an event that its recipient is notified of. */
  notification: null,
  /** This email lists the notifications that weren't emailed when they happened. */
  digest: null,
} as const satisfies Record<string, { readonly page: string; readonly hours: number } | null>;

export type MailKind = keyof typeof MAILS;

/** Emails about events. Unlike the others, they go only to confirmed addresses. */
export const NOTICES = ['notification', 'digest'] as const satisfies readonly MailKind[];

export type NoticeKind = (typeof NOTICES)[number];

export type AccountMailKind = Exclude<MailKind, NoticeKind>;

export type LinkKind = { [Kind in MailKind]: (typeof MAILS)[Kind] extends null ? never : Kind }[MailKind];

export function kindsWithPage(page: LinkPage): readonly LinkKind[] {
  return (Object.keys(MAILS) as MailKind[]).filter((kind): kind is LinkKind => MAILS[kind]?.page === page);
}

export type LinkPage = (typeof MAILS)[LinkKind]['page'];

/**
 * `refused` means that the mail server permanently rejected the email. `nobody` means that no account has the address,
 * that the email's link has expired, or that the recipient can't get or read the notification anymore.
 */
export type MailOutcome = 'sent' | 'refused' | 'given_up' | 'nobody';

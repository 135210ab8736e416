const PASSWORD_LINK = { page: '/reset-password', hours: 1 } as const;

/**
 * The emails that are sent, and the links in them. All are about an account, and none contains text that another user
 * wrote.
 */
export const MAILS = {
  password_reset: PASSWORD_LINK,
  /** The same link, sent by support. */
  password_reset_by_support: PASSWORD_LINK,
  password_changed: null,
  email_verification: { page: '/verify-email', hours: 72 },
  /** To the new address of an account. */
  email_change: { page: '/verify-email', hours: 24 },
  /** To the former address of an account. */
  email_changed: { page: '/undo-email-change', hours: 168 },
  /** To the former address, which got the account back with the undo link. */
  password_reset_after_undo: PASSWORD_LINK,
  /** To the address that lost the account to an undo. */
  email_undone: null,
  /** To the current address of an account whose undo is waiting for support. */
  email_undo_pending: null,
  /** To the address that support lets keep the account. */
  email_undo_granted: { page: '/reset-password', hours: 72 },
  /** To the other address. */
  email_undo_denied: null,
} as const satisfies Record<string, { readonly page: string; readonly hours: number } | null>;

export type MailKind = keyof typeof MAILS;

/** The kinds of emails with a link. */
export type LinkKind = { [Kind in MailKind]: (typeof MAILS)[Kind] extends null ? never : Kind }[MailKind];

/** The kinds of emails that link to this page. */
export function kindsWithPage(page: LinkPage): readonly LinkKind[] {
  return (Object.keys(MAILS) as MailKind[]).filter((kind): kind is LinkKind => MAILS[kind]?.page === page);
}

export type LinkPage = (typeof MAILS)[LinkKind]['page'];

/**
 * The outcome of an email. `refused`: the address was permanently rejected. `nobody`: the address has no account, or
 * the link has expired in the meantime.
 */
export type MailOutcome = 'sent' | 'refused' | 'given_up' | 'nobody';

const PASSWORD_LINK = { page: '/reset-password', hours: 1 } as const;

/** The mails that go out, and the links in them. All are about an account, and none holds text that another wrote. */
export const MAILS = {
  password_reset: PASSWORD_LINK,
  /** The same link, sent by support. */
  password_reset_by_support: PASSWORD_LINK,
  password_changed: null,
  email_verification: { page: '/verify-email', hours: 72 },
  /** To the address that an account is to have. */
  email_change: { page: '/verify-email', hours: 24 },
  /** To the address that an account had. */
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

/** Kinds of mails with a link. */
export type LinkKind = { [Kind in MailKind]: (typeof MAILS)[Kind] extends null ? never : Kind }[MailKind];

/** The kinds of emails that link to this page. */
export function kindsWithPage(page: LinkPage): readonly LinkKind[] {
  return (Object.keys(MAILS) as MailKind[]).filter((kind): kind is LinkKind => MAILS[kind]?.page === page);
}

export type LinkPage = (typeof MAILS)[LinkKind]['page'];

/**
 * What becomes of a mail. `refused`: the address, for good. `nobody`: the address has no account, or the link has
 * expired meanwhile.
 */
export type MailOutcome = 'sent' | 'refused' | 'given_up' | 'nobody';

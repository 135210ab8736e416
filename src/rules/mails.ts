/** The mails that go out, and the links in them. All are about an account, and none holds text that another wrote. */
export const MAILS = {
  password_reset: { page: '/reset-password', hours: 1 },
  password_changed: null,
  email_verification: { page: '/verify-email', hours: 72 },
  /** To the address that an account is to have. */
  email_change: { page: '/verify-email', hours: 24 },
  /** To the address that an account had. */
  email_changed: { page: '/undo-email-change', hours: 168 },
} as const satisfies Record<string, { readonly page: string; readonly hours: number } | null>;

export type MailKind = keyof typeof MAILS;

/** Kinds of mails with a link. */
export type LinkKind = { [Kind in MailKind]: (typeof MAILS)[Kind] extends null ? never : Kind }[MailKind];

export type LinkPage = (typeof MAILS)[LinkKind]['page'];

/**
 * What becomes of a mail. `refused`: the address, for good. `nobody`: the address has no account, or the link has
 * expired meanwhile.
 */
export type MailOutcome = 'sent' | 'refused' | 'given_up' | 'nobody';

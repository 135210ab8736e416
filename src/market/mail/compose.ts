/** Generates an email's text from its row whenever it's sent or shown. No text is stored. */
import { MAILS, NOTICES, type AccountMailKind, type LinkPage } from '../rules/people/mail-kinds.js';
import type { Db } from '../../platform/db/database.js';
import type { Mail } from '../store/accounts/mails.js';
import { selectNotificationsAt, selectNotificationsOfKind } from '../store/notifications/notification-emails.js';
import type { ComposedMail, ComposeSettings, LinkAddresses, Uncomposed } from './composed-mail.js';
import { asHtml, asPlainText } from './layout.js';
import { composeNotice, type NoticeMail } from './notices.js';
import { readNotified, type Notified } from './notified.js';
import type { MailText } from './text.js';
import { EMAIL_CHANGE } from './texts/email-change.js';
import { EMAIL_CHANGED } from './texts/email-changed.js';
import { EMAIL_TAKEN } from './texts/email-taken.js';
import { EMAIL_UNDO_DENIED, EMAIL_UNDO_GRANTED, EMAIL_UNDO_PENDING, EMAIL_UNDONE } from './texts/email-undo.js';
import { EMAIL_VERIFICATION } from './texts/email-verification.js';
import { PASSWORD_CHANGED } from './texts/password-changed.js';
import { PASSWORD_RESET, PASSWORD_RESET_AFTER_UNDO, PASSWORD_RESET_BY_SUPPORT } from './texts/password-reset.js';

const TEXTS: Readonly<Record<AccountMailKind, MailText>> = {
  password_reset: PASSWORD_RESET,
  password_reset_by_support: PASSWORD_RESET_BY_SUPPORT,
  password_reset_after_undo: PASSWORD_RESET_AFTER_UNDO,
  password_changed: PASSWORD_CHANGED,
  email_verification: EMAIL_VERIFICATION,
  email_change: EMAIL_CHANGE,
  email_changed: EMAIL_CHANGED,
  email_undone: EMAIL_UNDONE,
  email_undo_pending: EMAIL_UNDO_PENDING,
  email_undo_granted: EMAIL_UNDO_GRANTED,
  email_undo_denied: EMAIL_UNDO_DENIED,
};

/**
 * Returns `nobody` if no account has the address, the link has expired, or there is no notification left to send.
 * Returns `no token` if the token was created with a different JWT_SECRET.
 */
export async function compose(
  db: Db,
  mail: Mail,
  settings: ComposeSettings,
  purpose: Purpose,
): Promise<ComposedMail | Uncomposed> {
  return isNotice(mail)
    ? composeNotice(mail, await notifiedBy(db, mail, purpose), settings)
    : composeAccountMail(mail as AccountMail, settings);
}

/** The mailbox still shows emails of a type that their recipient has turned off since. */
type Purpose = 'send' | 'show';

type AccountMail = Mail & { readonly kind: AccountMailKind };

const isNotice = (mail: Mail): mail is NoticeMail => NOTICES.some((kind) => kind === mail.kind);

async function notifiedBy(db: Db, mail: NoticeMail, purpose: Purpose): Promise<Notified[]> {
  const { userId, positions } = mail;
  const rows =
    positions === null
      ? (await selectNotificationsOfKind(db, mail)).toReversed()
      : await selectNotificationsAt(db, { userId, positions });
  const notified = rows.map(readNotified).filter((one) => one !== undefined);
  return purpose === 'show' ? notified : notified.filter(({ channel }) => channel !== 'off');
}

function composeAccountMail(mail: AccountMail, { tokens, addresses }: ComposeSettings): ComposedMail | Uncomposed {
  const text = textOf(mail);
  if (!text) return 'nobody';
  const link = MAILS[mail.kind];
  const token = text.action && mail.tokenHash !== null ? tokens.tokenWithHash(mail.id, mail.tokenHash) : undefined;
  if (text.action && token === undefined) return 'no token';
  const links = { action: link && token !== undefined ? addressOf(link.page, token, addresses) : undefined };
  return { subject: text.subject, text: asPlainText(text, links), html: asHtml(text, links) };
}

function textOf({ kind, hasExpired, userId, currentAccountId }: AccountMail): MailText | undefined {
  if (hasExpired || (MAILS[kind]?.page === '/reset-password' && currentAccountId === null)) return undefined;
  const isTaken = kind === 'email_change' && currentAccountId !== null && currentAccountId !== userId;
  return isTaken ? EMAIL_TAKEN : TEXTS[kind];
}

/** The token follows `#`, so it reaches no server and no log. */
function addressOf(page: LinkPage, token: string, { origin, pages }: LinkAddresses): string {
  return (pages[page] ?? `${origin}${page}#token={token}`).replaceAll('{token}', token);
}

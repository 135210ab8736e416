/** The parts that each email's text has. */
import { MAILS, type LinkKind } from '../rules/people/mail-kinds.js';

/** The items and the link come between `before` and `after`. */
export interface MailText {
  readonly subject: string;
  readonly before: readonly string[];
  readonly items?: readonly MailItem[];
  /** Undefined for an email without a link. */
  readonly action?: string;
  readonly after: readonly string[];
  /** Why the recipient gets this email. */
  readonly footer?: string;
}

export interface MailItem {
  readonly title: string;
  readonly link: string | undefined;
}

export interface MailLinks {
  readonly action?: string | undefined;
  readonly unsubscribe?: string | undefined;
}

export function validityOf(kind: LinkKind): string {
  const { hours } = MAILS[kind];
  const period = hours === 1 ? 'an hour' : hours === 24 ? 'a day' : `${hours / 24} days`;
  return `The link works once and expires in ${period}.`;
}

import { MAILS, type LinkKind } from '../rules/people/mail-kinds.js';

/** The text of one kind of email. Its link comes between `before` and `after`. */
export interface MailText {
  readonly subject: string;
  readonly before: readonly string[];
  /** The link's text. Only an email with a link has one. */
  readonly action?: string;
  readonly after: readonly string[];
}

export function validityOf(kind: LinkKind): string {
  const { hours } = MAILS[kind];
  const period = hours === 1 ? 'an hour' : hours === 24 ? 'a day' : `${hours / 24} days`;
  return `The link works once and expires in ${period}.`;
}

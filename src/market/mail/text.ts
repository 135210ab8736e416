import { MAILS, type LinkKind } from '../rules/people/mail-kinds.js';

/** The link comes between `before` and `after`. */
export interface MailText {
  readonly subject: string;
  readonly before: readonly string[];
  /** Undefined for an email without a link. */
  readonly action?: string;
  readonly after: readonly string[];
}

export function validityOf(kind: LinkKind): string {
  const { hours } = MAILS[kind];
  const period = hours === 1 ? 'an hour' : hours === 24 ? 'a day' : `${hours / 24} days`;
  return `The link works once and expires in ${period}.`;
}

/** A mail as its template says it: plain sentences, of which one may be a link. */
export interface MailText {
  readonly subject: string;
  readonly before: readonly string[];
  /** What the link says; only a mail with a link has one. */
  readonly action?: string;
  readonly after: readonly string[];
}

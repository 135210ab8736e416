/** Creates emails in the transaction of the change they're about, and uses the links in them. */
import { z } from 'zod';
import { refuse, type LinkProblem } from '../../rules/errors.js';
import { inWords, type Refusal } from '../../../platform/errors.js';
import { MAILS, type LinkKind, type MailKind } from '../../rules/people/mail-kinds.js';
import type { UserId } from '../../rules/ids.js';
import { TEXT } from '../../rules/market-limits.js';
import type { MailBudget } from '../../rules/rate-limits.js';
import { hashOfLinkToken } from '../../../platform/security/link-tokens.js';
import type { Db } from '../../../platform/db/database.js';
import type { selectCredentials } from '../../store/accounts/accounts.js';
import { insertMail, markLinkUsed, selectLink } from '../../store/accounts/mails.js';
import { newId } from '../../store/new-id.js';
import type { Call } from '../operation.js';

export interface NewMail {
  readonly kind: MailKind;
  readonly email: string;
  readonly userId: UserId | null;
}

export async function enqueueMail({ tokens }: Call<unknown>['services']['mail'], tx: Db, mail: NewMail): Promise<void> {
  const id = newId('mail');
  const link = MAILS[mail.kind];
  await insertMail(tx, {
    ...mail,
    id,
    tokenHash: link && hashOfLinkToken(tokens.tokenOf(id)),
    hours: link?.hours ?? null,
    domain: mail.email.slice(mail.email.lastIndexOf('@') + 1),
  });
}

type Credentials = Awaited<ReturnType<typeof selectCredentials>>[number];

/** Tells an admin where the user's email goes, and why its recipient may not be the account's owner. */
export function recipientInWords(account: Credentials): string {
  const { email, emailUndeliverable, emailUndo, emailUndoAddress } = account;
  const rejected = emailUndeliverable ? ' The mail server permanently rejected our last email to this address.' : '';
  const disputed =
    emailUndo === 'pending'
      ? ` Support hasn’t decided yet whether this address or ${emailUndoAddress} keeps the account.`
      : '';
  return `${email}.${rejected}${disputed}`;
}

/** The emails for each purpose are counted separately. */
interface Recipient {
  readonly email: string;
  readonly purpose: 'sign up' | 'confirm' | 'reset' | 'change' | 'notice';
}

interface MailRequest {
  /** Undefined if the caller has no session. */
  readonly requesterId?: UserId;
  /**
   * True if the caller's own email isn't confirmed. Anyone can create accounts like that for free, so the emails that
   * they request also count toward the IP address's limit.
   */
  readonly isUnconfirmed?: boolean;
  /** The recipient, whose limit also applies. Undefined if support sends the email. */
  readonly to?: Recipient;
}

export async function consumeMailLimits(
  call: Call<unknown>,
  { requesterId, isUnconfirmed, to }: MailRequest,
): Promise<void> {
  if (!call.services.mail.isOn) throw refuse('NOT_CONFIGURED', { message: 'This server isn’t set up to send email.' });
  if (requesterId !== undefined) await consumeMail(call, 'mailPerCaller', requesterId);
  if (requesterId === undefined || isUnconfirmed) await consumeMail(call, 'mailPerAddress', call.caller.client.address);
  const retryAfter = to ? await consumeRecipientLimit(call, to) : 0;
  if (retryAfter > 0)
    throw refuse('RATE_LIMITED', {
      message:
        'We’ve already sent several emails to this address. Check your inbox and spam folder, or try again in ' +
        `${inWords(retryAfter)}.`,
      details: { retryAfter, limit: 'mailPerRecipient' },
    });
}

async function consumeMail(call: Call<unknown>, budget: MailBudget, identity: string): Promise<void> {
  const consumption = await call.caller.consume(budget, identity, 'emails').catch((refusal: unknown) => {
    noteDropped(call, budget);
    throw refusal;
  });
  if (call.caller.dryRun) await consumption.refund();
}

/**
 * Counts an email to this address. If the limit is reached, returns the seconds until the address can get another
 * email, otherwise 0. A response to a caller without a session must not reveal this limit. Otherwise, a stranger could
 * find out that someone else has requested emails.
 */
export async function consumeRecipientLimit(call: Call<unknown>, { email, purpose }: Recipient): Promise<number> {
  const result = await call.caller.tryConsume('mailPerRecipient', `${purpose} ${email}`);
  if (!result.allowed) noteDropped(call, 'mailPerRecipient');
  if (call.caller.dryRun) await result.refund();
  return result.retryAfterSeconds;
}

/** Only operators can find out why an email never arrives, because the person waiting for it can't see the limit. */
function noteDropped({ services, caller }: Call<unknown>, limit: MailBudget): void {
  if (caller.dryRun) return;
  services.mailMetrics.recordDropped(limit);
  services.log.warn({ limit, requestId: caller.request.requestId }, 'an email was not sent: a rate limit was reached');
}

export const linkToken = z
  .string()
  .max(TEXT.linkToken, `must be at most ${TEXT.linkToken} characters`)
  .describe('The token from the link in the email: the part after `token=`.');

export type Link = Awaited<ReturnType<typeof selectLink>>[number];

/** Finds a link that still works, and doesn't consume it. */
export async function findLink(call: Call<unknown>, token: string, kinds: readonly LinkKind[]): Promise<Link> {
  const [link] = await selectLink(call.db, { tokenHash: hashOfLinkToken(token) });
  const problem = problemOf(link, kinds);
  if (link && !problem) return link;
  await call.caller.consume('invalidToken', call.caller.client.address);
  throw invalidLink(problem ?? 'unknown');
}

function problemOf(link: Link | undefined, kinds: readonly LinkKind[]): LinkProblem | undefined {
  if (!link || !kinds.some((kind) => kind === link.kind)) return 'unknown';
  if (link.isUsed) return 'used';
  return link.hasExpired ? 'expired' : undefined;
}

/** The caller must lock the account's row first. */
export async function consumeLink(tx: Db, { id, tokenHash }: Link, mark = markLinkUsed): Promise<void> {
  if ((await mark(tx, { id })).length > 0) return;
  const [link] = await selectLink(tx, { tokenHash: tokenHash ?? '' });
  throw invalidLink(link?.isUsed ? 'used' : 'expired');
}

export function invalidLink(reason: LinkProblem): Refusal {
  return refuse('INVALID_LINK', { message: MESSAGES[reason], details: { reason } });
}

const MESSAGES: Readonly<Record<LinkProblem, string>> = {
  unknown: 'This link is invalid or incomplete. Request a new one.',
  used: 'This link was already used. Each link works only once.',
  expired: 'This link has expired. Request a new one.',
};

/** Writes mails with their cause, and takes the links in them. */
import { z } from 'zod';
import { refuse, type LinkProblem, type Refusal } from '../../rules/errors.js';
import { MAILS, type LinkKind, type MailKind } from '../../rules/mails.js';
import type { UserId } from '../../rules/ids.js';
import { TEXT } from '../../rules/limits.js';
import { addressIdentity } from '../../security/address.js';
import { hashOfLinkToken } from '../../security/link-tokens.js';
import type { Db } from '../../store/database.js';
import { insertMail, markLinkUsed, selectLink } from '../../store/mails.js';
import { newId } from '../../store/new-id.js';
import type { Call } from '../operation.js';

export interface NewMail {
  readonly kind: MailKind;
  readonly email: string;
  readonly userId: UserId | null;
}

export async function writeMail({ tokens }: Call<unknown>['services']['mail'], tx: Db, mail: NewMail): Promise<void> {
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

/** Who asks for a mail: an account whose address is confirmed, an admin for somebody, or anybody at their address. */
interface Asking {
  readonly userId?: UserId | undefined;
  /** Where the mail goes, unless support sends it. */
  readonly to?: { readonly email: string; readonly kind: MailKind };
}

/**
 * Refuses where this server sends no mail, and beyond the budgets of the caller and of the address written to. That of
 * an address is not shown in the answer: it would tell a stranger that somebody else has asked. What a stranger can
 * send to an address without a link in it is counted apart from links to get in.
 */
export async function assertMailAllowed({ caller, services }: Call<unknown>, { userId, to }: Asking): Promise<void> {
  if (!services.mail.isOn)
    throw refuse('NOT_CONFIGURED', { message: 'This server sends no mail, so that this cannot be done.' });
  await caller.draw('mailPerCaller', userId ?? addressIdentity(caller.request.address));
  if (!to) return;
  const retryAfter = await caller.tryDraw(
    'mailPerRecipient',
    to.kind === 'email_change' ? `new ${to.email}` : to.email,
  );
  if (retryAfter > 0)
    throw refuse('RATE_LIMITED', {
      message: 'As many mails as may go to this address within an hour are under way: look there, also among spam.',
      details: { retryAfter, limit: 'mailPerRecipient' },
    });
}

export const linkToken = z
  .string()
  .max(TEXT.linkToken, `must be at most ${TEXT.linkToken} characters`)
  .describe('What the link in the mail holds behind `token=`.');

export type Link = Awaited<ReturnType<typeof selectLink>>[number];

/** Finds a link that works now and does not use it up; refuses any other. */
export async function findLink(call: Call<unknown>, token: string, kinds: readonly LinkKind[]): Promise<Link> {
  const [link] = await selectLink(call.db, { tokenHash: hashOfLinkToken(token) });
  const problem = problemOf(link, kinds);
  if (link && !problem) return link;
  await call.caller.draw('invalidToken', addressIdentity(call.caller.request.address));
  throw invalidLink(problem ?? 'unknown');
}

function problemOf(link: Link | undefined, kinds: readonly LinkKind[]): LinkProblem | undefined {
  if (!link || !kinds.some((kind) => kind === link.kind)) return 'unknown';
  if (link.isUsed) return 'used';
  return link.hasExpired ? 'expired' : undefined;
}

/** Uses a link up, in the transaction of the change that it allows. The account is to be locked before. */
export async function useUpLink(tx: Db, { id, tokenHash }: Link): Promise<void> {
  if ((await markLinkUsed(tx, { id })).length > 0) return;
  const [link] = await selectLink(tx, { tokenHash: tokenHash ?? '' });
  throw invalidLink(link?.isUsed ? 'used' : 'expired');
}

export function invalidLink(reason: LinkProblem): Refusal {
  return refuse('INVALID_LINK', { message: MESSAGES[reason], details: { reason } });
}

const MESSAGES: Readonly<Record<LinkProblem, string>> = {
  unknown: 'This link is not one of ours, or is not complete; ask for a new one.',
  used: 'This link was used before; each works once.',
  expired: 'This link works no more; ask for a new one.',
};

/** Writes mails with their cause, and takes the links in them. */
import { z } from 'zod';
import { refuse, type LinkProblem, type Refusal } from '../../rules/errors.js';
import { MAILS, type LinkKind, type MailKind } from '../../rules/mails.js';
import type { UserId } from '../../rules/ids.js';
import { TEXT } from '../../rules/limits.js';
import { addressIdentity } from '../../security/address.js';
import { hashOfLinkToken } from '../../security/link-tokens.js';
import type { Db } from '../../store/database.js';
import { insertMail, selectLink, useLink } from '../../store/mails.js';
import { newId } from '../../store/new-id.js';
import type { Call } from '../operation.js';

interface NewMail {
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

/** Counts a mail that somebody asks for: for whoever asks, and for the address, which may be a stranger's. */
export async function countMail({ caller, services }: Call<unknown>, email: string, userId?: UserId): Promise<void> {
  if (!services.mail.isOn)
    throw refuse('NOT_CONFIGURED', { message: 'This server sends no mail, so that this cannot be done.' });
  await caller.draw('mailPerCaller', userId ?? addressIdentity(caller.request.address));
  await caller.draw('mailPerRecipient', email);
}

export const linkToken = z
  .string()
  .max(TEXT.passwordTried, `must be at most ${TEXT.passwordTried} characters`)
  .describe('What the link in the mail holds behind `token=`.');

export type Link = Awaited<ReturnType<typeof selectLink>>[number];

/** The link, if it works now. It is not used by this. */
export async function findLink(call: Call<unknown>, token: string, kinds: readonly LinkKind[]): Promise<Link> {
  const [link] = await selectLink(call.db, { tokenHash: hashOfLinkToken(token) });
  if (!link || !kinds.some((kind) => kind === link.kind)) {
    await call.caller.draw('invalidToken', addressIdentity(call.caller.request.address));
    throw invalidLink('unknown');
  }
  if (link.isUsed) throw invalidLink('used');
  if (link.hasExpired) throw invalidLink('expired');
  return link;
}

/** In the transaction of what it does; after a lock on its account. */
export async function takeLink(tx: Db, { id, tokenHash }: Link): Promise<void> {
  if ((await useLink(tx, { id })).length > 0) return;
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

/** Confirms an account's email address and changes it. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import type { UserId } from '../../rules/ids.js';
import { MAILS } from '../../rules/people/mail-kinds.js';
import { email as emailShape } from '../../../platform/fields/values.js';
import { lockAccount, selectIdByEmail, selectCredentials, setConfirmedEmail } from '../../store/accounts/accounts.js';
import { recordAdminAction } from '../../store/accounts/admin-actions.js';
import { violatedConstraint } from '../../../platform/db/database-errors.js';
import type { Db } from '../../../platform/db/database.js';
import { selectUseAfterChange } from '../../store/accounts/email-undos.js';
import { expireLinks, selectUndo } from '../../store/accounts/mails.js';
import { logAccountEvents } from '../../store/events/account-events.js';
import { operation } from '../operation.js';
import { emptyInput } from '../../../platform/fields/shapes.js';
import { idInPath } from '../../rules/id-fields.js';
import { invalidField } from '../../../platform/call/validation.js';
import {
  recipientInWords,
  consumeMailLimits,
  findLink,
  invalidLink,
  linkToken,
  consumeLink,
  enqueueMail,
  type NewMail,
} from './mails-and-links.js';
import { announceChange, assertUndisputed, lockOwnAccount, ownCredentials } from './own-account.js';
import { countingFailure, isTheEmail, passwordMatches, passwordTried, wrongPassword } from './password-checks.js';
import { emailTaken } from '../people/people.js';

export const requestEmailVerification = operation({
  name: 'requestEmailVerification',
  description: 'Sends you an email with a link to confirm your email address, unless it’s already confirmed.',
  allows: 'signed in',
  budget: 'write',
  refusals: ['NOT_CONFIGURED'],
  needsSession: true,
  input: emptyInput,
  async prepare(call): Promise<NewMail | null> {
    const { userId } = call.viewer;
    const { email, emailVerified } = await ownCredentials(call.db, userId);
    if (emailVerified) return null;
    await consumeMailLimits(call, { requesterId: userId, to: { email, purpose: 'confirm' } });
    return { kind: 'email_verification', email, userId };
  },
  async run({ db, services }, _input, mail): Promise<{ requested: boolean }> {
    if (mail) await enqueueMail(services.mail, db, mail);
    return { requested: mail !== null };
  },
});

export const resendEmailVerification = operation({
  name: 'resendEmailVerification',
  description: 'Sends a user a link to confirm their email address, unless it’s already confirmed.',
  allows: ['admin'],
  budget: 'write',
  refusals: ['NOT_CONFIGURED'],
  input: z.strictObject({ id: idInPath('user').describe('The user.') }),
  async prepare(call, { id: userId }): Promise<{ mail: NewMail | null; message: string }> {
    const [account] = await selectCredentials(call.db, { userId });
    if (!account) throw refuse('NOT_FOUND', { message: 'User not found.' });
    const { email } = account;
    if (account.emailVerified)
      return { mail: null, message: `No email was sent, because ${email} is already confirmed.` };
    await consumeMailLimits(call, { requesterId: call.viewer.userId });
    return {
      mail: { kind: 'email_verification', email, userId },
      message: `A link to confirm the address is on its way to ${recipientInWords(account)}`,
    };
  },
  async run({ db, services, viewer }, { id }, { mail, message }): Promise<{ requested: boolean; message: string }> {
    if (mail)
      await db.inTransaction((tx) =>
        tx.commitWith(
          enqueueMail(services.mail, tx, mail),
          recordAdminAction(tx, viewer, { action: 'resendEmailVerification', subjectId: id }),
        ),
      );
    return { requested: mail !== null, message };
  },
});

export const verifyEmail = operation({
  name: 'verifyEmail',
  description:
    'Confirms an email address with the link from an email. If the link was for a new address, the account’s address ' +
    'changes to it.',
  allows: 'anyone',
  budget: 'consumedByOperation',
  refusals: ['INVALID_LINK', 'EMAIL_TAKEN'],
  ignoresKeyAndDryRun: true,
  input: z.strictObject({ token: linkToken }),
  async run(call, { token }): Promise<{ email: string }> {
    const { db, services } = call;
    const link = await findLink(call, token, ['email_verification', 'email_change']);
    const { userId, email } = link;
    if (userId === null) throw invalidLink('unknown');
    const confirm = () =>
      db.inTransaction(async (tx) => {
        await lockAccount(tx, { userId });
        const { email: formerEmail, emailVerified: formerIsVerified } = await ownCredentials(tx, userId);
        if (link.kind === 'email_verification' && formerEmail !== email) throw invalidLink('expired');
        await consumeLink(tx, link);
        const [other] = await selectIdByEmail(tx, { email });
        if (other && other.id !== userId) throw emailTaken();
        await setConfirmedEmail(tx, { userId, email });
        if (formerEmail === email) return;
        const undoneSince = await undoneByChangeTo(tx, { userId, email });
        await expireLinks(tx, { userId, email: formerEmail, undosSince: undoneSince });
        await logAccountEvents(tx, [{ type: 'account.email_changed', userId, data: { cause: 'change' } }]);
        // Nothing is sent to a former address that was never confirmed, because the address may belong to a stranger.
        if (!formerIsVerified) return;
        const kind = undoneSince === null ? 'email_changed' : 'email_undone';
        await enqueueMail(services.mail, tx, { kind, email: formerEmail, userId });
      });
    await confirm().catch(asEmailTaken);
    await announceChange(services, userId);
    return { email };
  },
});

export const changeEmail = operation({
  name: 'changeEmail',
  description:
    'Sends a link to a new address, which becomes the account’s address when the link is used. If the former address ' +
    `was confirmed, it then gets a link to undo the change, valid for ${MAILS.email_changed.hours / 24} days.`,
  allows: 'signed in',
  budget: 'write',
  refusals: ['INVALID_CREDENTIALS', 'NOT_CONFIGURED'],
  needsSession: true,
  input: z.strictObject({
    email: emailShape.describe('The account’s new email address.'),
    currentPassword: passwordTried.describe('The account’s password.'),
  }),
  async prepare(call, { email, currentPassword }): Promise<string> {
    const { userId } = call.viewer;
    const account = await ownCredentials(call.db, userId);
    const matches = await countingFailure(call.caller, account.email, () =>
      passwordMatches(call, currentPassword, account.passwordHash),
    );
    if (!matches) throw wrongPassword();
    assertUndisputed(account);
    if (email === account.email) throw invalidField('email', 'is already the account’s address');
    if (isTheEmail(currentPassword, email)) throw invalidField('email', 'must not be the account’s password');
    const isUnconfirmed = !account.emailVerified;
    await consumeMailLimits(call, { requesterId: userId, isUnconfirmed, to: { email, purpose: 'change' } });
    return account.passwordHash;
  },
  async run({ db, services, viewer }, { email }, checkedHash): Promise<{ requested: true }> {
    const { userId } = viewer;
    await db.inTransaction(async (tx) => {
      await lockOwnAccount(tx, viewer);
      // A new password cancels the email changes that were requested with the old one. So this change can't start if
      // the password has changed since it was checked.
      const account = await ownCredentials(tx, userId);
      if (account.passwordHash !== checkedHash) throw wrongPassword();
      assertUndisputed(account);
      // The address may already be taken. This is checked only when the email is sent, and the address's owner then
      // gets a different email.
      await tx.commitWith(enqueueMail(services.mail, tx, { kind: 'email_change', email, userId }));
    });
    return { requested: true };
  },
});

/**
 * Moving back to this address undoes an earlier email change, just as the undo link that was sent to the address would.
 * Returns the time of that change. Null if the link wouldn't return the account. In that case, the address that loses
 * the account can claim it, as after any other change.
 */
async function undoneByChangeTo(tx: Db, to: { userId: UserId; email: string }): Promise<string | null> {
  const [undo] = await selectUndo(tx, to);
  if (!undo) return null;
  const [use] = await selectUseAfterChange(tx, { undoId: undo.id });
  return use?.isUsed ? null : undo.createdAt.toISOString();
}

export function asEmailTaken(error: unknown): never {
  throw violatedConstraint(error) === 'users_email_taken' ? emailTaken() : error;
}

/** Resets a forgotten password with an emailed link. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { kindsWithPage } from '../../rules/people/mail-kinds.js';
import { email as emailShape } from '../../../platform/fields/values.js';
import { lockAccount, selectCredentials, setConfirmedEmail, setPasswordHash } from '../../store/accounts/accounts.js';
import { recordAdminAction } from '../../store/accounts/admin-actions.js';
import { expireLinks } from '../../store/accounts/mails.js';
import { logAccountEvents } from '../../store/events/account-events.js';
import { pauseEndpoints } from '../../store/webhooks/webhooks.js';
import { operation } from '../operation.js';
import { idInPath } from '../../rules/id-fields.js';
import { invalidField } from '../../../platform/call/validation.js';
import { endSessionsAndKeys } from '../sessions/ended-sessions.js';
import {
  recipientInWords,
  consumeMailLimits,
  findLink,
  invalidLink,
  linkToken,
  consumeLink,
  consumeRecipientLimit,
  enqueueMail,
  type NewMail,
} from './mails-and-links.js';
import { announceChange } from './own-account.js';
import { NOT_THE_EMAIL, isTheEmail, newPassword } from './password-checks.js';

export const requestPasswordReset = operation({
  name: 'requestPasswordReset',
  description:
    'Sends a link to set a new password, if an account has this address. The response is the same for all ' +
    'addresses. An address gets at most three of these emails per hour.',
  allows: 'anyone',
  budget: 'consumedByOperation',
  refusals: ['NOT_CONFIGURED'],
  ignoresKeyAndDryRun: true,
  input: z.strictObject({ email: emailShape.describe('The account’s email address.') }),
  async run(call, { email }): Promise<{ requested: true }> {
    const mail = { kind: 'password_reset', email, userId: null } as const;
    await consumeMailLimits(call, {});
    // The account is looked up when the email is sent, so the response time doesn't reveal whether it exists.
    if ((await consumeRecipientLimit(call, { email, purpose: 'reset' })) === 0)
      await enqueueMail(call.services.mail, call.db, mail);
    return { requested: true };
  },
});

export const sendPasswordReset = operation({
  name: 'sendPasswordReset',
  description:
    'Sends a user who contacted support a link to set a new password. The link goes to the account’s current email ' +
    'address, even if that address is undeliverable or an email undo is pending.',
  allows: ['admin'],
  budget: 'write',
  refusals: ['NOT_CONFIGURED'],
  input: z.strictObject({ id: idInPath('user').describe('The user.') }),
  async prepare(call, { id }): Promise<{ mail: NewMail; message: string }> {
    const [account] = await selectCredentials(call.db, { userId: id });
    if (!account) throw refuse('NOT_FOUND', { message: 'User not found.' });
    await consumeMailLimits(call, { requesterId: call.viewer.userId });
    return {
      mail: { kind: 'password_reset_by_support', email: account.email, userId: null },
      message: `A link to set a new password is on its way to ${recipientInWords(account)}`,
    };
  },
  async run({ db, services, viewer }, { id }, { mail, message }): Promise<{ requested: true; message: string }> {
    await db.inTransaction((tx) =>
      tx.commitWith(
        enqueueMail(services.mail, tx, mail),
        recordAdminAction(tx, viewer, { action: 'sendPasswordReset', subjectId: id }),
      ),
    );
    return { requested: true, message };
  },
});

export const resetPassword = operation({
  name: 'resetPassword',
  description:
    'Sets a new password with the link from an email. This ends the account’s sessions, revokes its API keys, and ' +
    'invalidates its other links, except a link to undo an email change. It also pauses the account’s webhooks. ' +
    'It doesn’t log you in, so log in with the new password.',
  allows: 'anyone',
  budget: 'consumedByOperation',
  refusals: ['INVALID_LINK'],
  ignoresKeyAndDryRun: true,
  input: z.strictObject({ token: linkToken, newPassword }),
  async run(call, { token, newPassword }): Promise<{ changed: true }> {
    const { db, services, caller } = call;
    const link = await findLink(call, token, kindsWithPage('/reset-password'));
    const { currentAccountId: userId, email } = link;
    // No account has the link's address anymore.
    if (userId === null) throw invalidLink('expired');
    if (isTheEmail(newPassword, email)) throw invalidField('newPassword', NOT_THE_EMAIL);
    const passwordHash = await services.passwords.hash(newPassword, caller.client);
    await db.inTransaction(async (tx) => {
      await lockAccount(tx, { userId });
      const [account] = await selectCredentials(tx, { userId });
      if (account?.email !== email) throw invalidLink('expired');
      await consumeLink(tx, link);
      await setPasswordHash(tx, { userId, passwordHash });
      // The person who used the link can read email at this address, so the address is now confirmed.
      await setConfirmedEmail(tx, { userId, email });
      await endSessionsAndKeys({ db: tx, services, caller }, { userId, except: null });
      await pauseEndpoints(tx, { userId, pausedReason: 'account_recovered' });
      await expireLinks(tx, { userId, email, undosSince: null });
      await logAccountEvents(tx, [{ type: 'account.password_changed', userId, data: { cause: 'reset' } }]);
      await enqueueMail(services.mail, tx, { kind: 'password_changed', email, userId });
    });
    await announceChange(services, userId);
    return { changed: true };
  },
});

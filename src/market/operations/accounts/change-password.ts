/** Changes the caller's password. Ends all of the account's other sessions and all of its API keys. */
import { z } from 'zod';
import { unauthenticated } from '../../../platform/errors.js';
import { replacePasswordHash, selectCredentials } from '../../store/accounts/accounts.js';
import { expireEmailChanges } from '../../store/accounts/mails.js';
import { logAccountEvents } from '../../store/events/account-events.js';
import { operation } from '../operation.js';
import { invalidField } from '../../../platform/call/validation.js';
import { endSessionsAndKeys } from '../sessions/ended-sessions.js';
import { consumeRecipientLimit, enqueueMail } from './mails-and-links.js';
import { lockOwnAccount } from './own-account.js';
import {
  countingFailure,
  NOT_THE_EMAIL,
  isTheEmail,
  newPassword,
  passwordMatches,
  passwordTried,
  wrongPassword,
} from './password-checks.js';

export const changePassword = operation({
  name: 'changePassword',
  description:
    'Sets a new password, ends the account’s other sessions, revokes its API keys, and sends an email about the ' +
    'change.',
  allows: 'signed in',
  budget: 'write',
  refusals: ['INVALID_CREDENTIALS'],
  needsSession: true,
  input: z.strictObject({ currentPassword: passwordTried.describe('The current password.'), newPassword }),
  async prepare(call, { currentPassword, newPassword }): Promise<Hashes> {
    const { db, services, viewer, caller } = call;
    const [account] = await selectCredentials(db, { userId: viewer.userId });
    if (!account) throw unauthenticated('session_ended');
    const { email, emailVerified, passwordHash: formerHash } = account;
    const matches = await countingFailure(caller, email, () => passwordMatches(call, currentPassword, formerHash));
    if (!matches) throw wrongPassword();
    if (isTheEmail(newPassword, email)) throw invalidField('newPassword', NOT_THE_EMAIL);
    return {
      email,
      // Without this limit, someone could sign up with a stranger's address and send the stranger any number of
      // emails.
      noticeSent:
        services.mail.isOn && emailVerified && (await consumeRecipientLimit(call, { email, purpose: 'notice' })) === 0,
      formerHash,
      passwordHash: await services.passwords.hash(newPassword, caller.client),
    };
  },
  async run(
    { db, viewer, services, caller },
    _input,
    { email, noticeSent, formerHash, passwordHash },
  ): Promise<{ changed: true; noticeSent: boolean }> {
    await db.inTransaction(async (tx) => {
      await lockOwnAccount(tx, viewer);
      const [account] = await replacePasswordHash(tx, { userId: viewer.userId, passwordHash, formerHash });
      if (!account) throw wrongPassword();
      await endSessionsAndKeys({ db: tx, services, caller }, { userId: viewer.userId, except: viewer.sessionId });
      // Someone who knew the old password may have requested an email change, so pending changes expire. A password
      // reset link stays valid. If it expired too, that person could keep the mailbox's owner out by changing the
      // password.
      await expireEmailChanges(tx, { userId: viewer.userId });
      await logAccountEvents(tx, [
        { type: 'account.password_changed', userId: viewer.userId, data: { cause: 'change' } },
      ]);
      if (noticeSent) await enqueueMail(services.mail, tx, { kind: 'password_changed', email, userId: viewer.userId });
    });
    return { changed: true, noticeSent };
  },
});

interface Hashes {
  readonly email: string;
  readonly noticeSent: boolean;
  readonly formerHash: string;
  readonly passwordHash: string;
}

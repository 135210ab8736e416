/** The address of an account: its confirmation, its change, and the undo of a change by the owner of the old one. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { unauthorized } from '../../rules/errors.js';
import type { UserId } from '../../rules/ids.js';
import { email as emailShape } from '../../rules/values.js';
import { lockAccount, selectIdByEmail, selectPasswordHash, setEmail, setPasswordHash } from '../../store/accounts.js';
import { violatedConstraint } from '../../store/database-errors.js';
import type { Db } from '../../store/database.js';
import { expireLinks } from '../../store/mails.js';
import { operation } from '../operation.js';
import { nothing } from '../shapes.js';
import { invalidField } from '../validation.js';
import { endAllSessions } from './ended-sessions.js';
import { countMail, findLink, invalidLink, linkToken, takeLink, writeMail } from './mails.js';
import { countingFailure, emailTaken, passwordMatches, passwordTried } from './people.js';

export const requestEmailVerification = operation({
  name: 'requestEmailVerification',
  description: 'Sends a mail with a link that confirms the address of one’s account, unless it is confirmed already.',
  allows: 'signed in',
  budget: 'write',
  refusals: ['NOT_CONFIGURED'],
  needsSession: true,
  input: nothing,
  async run(call): Promise<{ requested: boolean }> {
    const { db, services, viewer } = call;
    const { userId } = viewer;
    const { email, emailVerified } = await ownAddress(db, userId);
    if (emailVerified) return { requested: false };
    await countMail(call, email, userId);
    await writeMail(services.mail, db, { kind: 'email_verification', email, userId });
    return { requested: true };
  },
});

export const verifyEmail = operation({
  name: 'verifyEmail',
  description: 'Confirms an address by the link of a mail: the account’s own, or the one that it is to have.',
  allows: 'anyone',
  budget: 'own',
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
        const { email: formerEmail } = await ownAddress(tx, userId);
        if (link.kind === 'email_verification' && formerEmail !== email) throw invalidLink('expired');
        await takeLink(tx, link);
        const [holder] = await selectIdByEmail(tx, { email });
        if (holder && holder.id !== userId) throw emailTaken();
        await setEmail(tx, { userId, email });
        if (formerEmail === email) return;
        await expireLinks(tx, { userId, email: formerEmail, undosSince: null });
        await writeMail(services.mail, tx, { kind: 'email_changed', email: formerEmail, userId });
      });
    await confirm().catch((error: unknown) => {
      // Somebody else took it at this very moment.
      throw violatedConstraint(error) === 'users_email_taken' ? emailTaken() : error;
    });
    return { email };
  },
});

export const changeEmail = operation({
  name: 'changeEmail',
  description:
    'Sends a mail to another address, which becomes the account’s when its link is used. The former one then gets a ' +
    'mail by which the change can be undone for seven days.',
  allows: 'signed in',
  budget: 'write',
  refusals: ['INVALID_CREDENTIALS', 'NOT_CONFIGURED'],
  needsSession: true,
  input: z.strictObject({
    email: emailShape.describe('The address that the account is to have.'),
    currentPassword: passwordTried.describe('The password.'),
  }),
  async prepare(call, { email, currentPassword }): Promise<void> {
    const account = await ownAddress(call.db, call.viewer.userId);
    const matches = await countingFailure(call.caller, account.email, () =>
      passwordMatches(call, currentPassword, account.passwordHash),
    );
    if (!matches) throw unauthorized('INVALID_CREDENTIALS', 'wrong_credentials', 'The current password is wrong.');
    if (email === account.email) throw invalidField('email', 'is the address of the account already');
  },
  async run(call, { email }): Promise<{ requested: true }> {
    const { db, services, viewer } = call;
    await countMail(call, email, viewer.userId);
    // Whether it is taken is looked up when the mail is sent: then its owner gets another mail.
    await writeMail(services.mail, db, { kind: 'email_change', email, userId: viewer.userId });
    return { requested: true };
  },
});

export const undoEmailChange = operation({
  name: 'undoEmailChange',
  description:
    'Gives an account its former address back, by the link that was sent there. Ends all sessions and API keys, ' +
    'makes the password useless, and sends a link to set a new one.',
  allows: 'anyone',
  budget: 'own',
  refusals: ['INVALID_LINK'],
  ignoresKeyAndDryRun: true,
  input: z.strictObject({ token: linkToken }),
  async run(call, { token }): Promise<{ email: string }> {
    const { db, services, caller } = call;
    const link = await findLink(call, token, ['email_changed']);
    const { email, userId } = link;
    if (userId === null) throw invalidLink('unknown');
    // A password that nobody knows: no log-in takes less time than before.
    const passwordHash = await services.passwords.hash(randomBytes(48).toString('base64'), caller.holder);
    await db.inTransaction(async (tx) => {
      await lockAccount(tx, { userId });
      const { email: takenEmail } = await ownAddress(tx, userId);
      await takeLink(tx, link);
      await setEmail(tx, { userId, email });
      await setPasswordHash(tx, { userId, passwordHash });
      await endAllSessions({ db: tx, services }, userId);
      await expireLinks(tx, { userId, email: takenEmail, undosSince: link.createdAt.toISOString() });
      await writeMail(services.mail, tx, { kind: 'password_reset', email, userId: null });
    });
    return { email };
  },
});

async function ownAddress(db: Db, userId: UserId) {
  const [account] = await selectPasswordHash(db, { userId });
  if (!account) throw unauthorized('UNAUTHENTICATED', 'session_ended');
  return account;
}

/**
 * Creates admins. Only the server's operator can create an admin, through the environment or a command. The APIs can't.
 */
import { email as emailShape } from '../../../platform/fields/values.js';
import { findCredentials, insertUser, selectIdByEmail, setPasswordHash } from '../../store/accounts/accounts.js';
import { violatedConstraint } from '../../../platform/db/database-errors.js';
import { openBalance } from '../../store/ledger/ledger.js';
import { expireLinks } from '../../store/accounts/mails.js';
import { newId } from '../../store/new-id.js';
import { revokeSessionsAndKeys } from '../../store/sessions/sessions.js';
import { markRestored } from '../../store/accounts/suspensions.js';
import { logAccountEvents } from '../../store/events/account-events.js';
import { pauseEndpoints } from '../../store/webhooks/webhooks.js';
import type { Services } from '../services.js';
import { NOT_THE_EMAIL, isTheEmail, newPassword } from '../accounts/password-checks.js';
import { enqueueMail } from '../accounts/mails-and-links.js';
import { newReferralCode } from '../accounts/sign-up.js';

/** Fails if a homeowner or contractor has this email. An existing account is never promoted to an admin. */
export async function ensureAdmin(services: Services, email: string, password: string): Promise<'created' | 'existed'> {
  const address = read(emailShape, 'The email', email);
  if (await isAdmins(services, address)) return 'existed';
  const passwordHash = await services.passwords.hash(checkedPassword(address, password));
  try {
    await insertAdmin(services, address, passwordHash);
    return 'created';
  } catch (error) {
    // If several instances start at the same time, one of them creates the admin and the others find it.
    if (violatedConstraint(error) === 'users_email_taken' && (await isAdmins(services, address))) return 'existed';
    throw error;
  }
}

async function isAdmins(services: Services, address: string): Promise<boolean> {
  const account = await accountOf(services, address);
  if (account && account.userType !== 'admin') {
    throw new Error(
      `${address} belongs to a ${account.userType}, who can’t become an admin. Choose another email address.`,
    );
  }
  return account !== undefined;
}

async function insertAdmin(services: Services, email: string, passwordHash: string): Promise<void> {
  const id = newId('user');
  await services.db.inTransaction(async (tx) => {
    await insertUser(tx, {
      id,
      email,
      userType: 'admin',
      firstName: 'Admin',
      lastName: 'Admin',
      phone: null,
      passwordHash,
      referralCode: newReferralCode(),
    });
    await openBalance(tx, { userId: id });
  });
}

export async function createAdmin(services: Services, email: string, password: string): Promise<void> {
  if ((await ensureAdmin(services, email, password)) === 'existed')
    throw new Error(`${email} is already an admin. To change the password, use set-password.`);
}

/** Also ends the admin's sessions, pauses their webhooks, ends any suspension, and emails them about the change. */
export async function setAdminPassword(services: Services, email: string, password: string): Promise<void> {
  const address = read(emailShape, 'The email', email);
  const account = await findCredentials(services.db, address);
  if (account?.user.userType !== 'admin') throw new Error(`${address} is not an admin.`);
  const { id: userId, emailVerified } = account.user;
  const passwordHash = await services.passwords.hash(checkedPassword(address, password));
  await services.db.inTransaction(async (tx) => {
    await setPasswordHash(tx, { userId, passwordHash });
    await revokeSessionsAndKeys(tx, { userId, except: null });
    await markRestored(tx, userId);
    await pauseEndpoints(tx, { userId, pausedReason: 'account_recovered' });
    await expireLinks(tx, { userId, email: address, undosSince: null });
    await logAccountEvents(tx, [{ type: 'account.password_changed', userId, data: { cause: 'operator' } }]);
    if (services.mail.isOn && emailVerified)
      await enqueueMail(services.mail, tx, { kind: 'password_changed', email: address, userId });
  });
}

async function accountOf(services: Services, email: string) {
  const [account] = await selectIdByEmail(services.db, { email });
  return account;
}

function checkedPassword(email: string, password: string): string {
  if (isTheEmail(password, email)) throw new Error(`The password ${NOT_THE_EMAIL}.`);
  return read(newPassword, 'The password', password);
}

function read(shape: typeof emailShape | typeof newPassword, what: string, value: string): string {
  const result = shape.safeParse(value);
  if (!result.success) throw new Error(`${what} ${result.error.issues[0]?.message}.`);
  return result.data;
}

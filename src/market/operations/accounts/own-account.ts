/** The caller's own account: its lock, its email address, and whether support is deciding who owns it. */
import { unauthenticated } from '../../../platform/errors.js';
import type { UserId } from '../../rules/ids.js';
import { assertAllowed, EMAIL_DISPUTED } from '../../rules/policies.js';
import { lockAccount, selectCredentials } from '../../store/accounts/accounts.js';
import type { Db } from '../../../platform/db/database.js';
import { findActiveSession, type NamedSession } from '../../store/sessions/sessions.js';
import type { Call } from '../operation.js';

/**
 * Called before an operation changes the password or creates an object that outlives the session. Makes concurrent
 * calls for one account wait for each other. If the session ended during the wait or while a password was hashed, the
 * call changes nothing.
 */
export async function lockOwnAccount(tx: Db, { userId, sessionId }: NamedSession): Promise<void> {
  await lockAccount(tx, { userId });
  if (!(await findActiveSession(tx, { userId, sessionId }))) throw unauthenticated('session_ended');
}

export async function ownCredentials(db: Db, userId: UserId) {
  const [account] = await selectCredentials(db, { userId });
  if (!account) throw unauthenticated('session_ended');
  return account;
}

export function assertUndisputed({ emailUndo }: Awaited<ReturnType<typeof ownCredentials>>): void {
  assertAllowed(emailUndo === 'pending' ? EMAIL_DISPUTED : undefined);
}

/**
 * Called after a commit of a call without a session. Streams get its events at once, and the account's next read sees
 * the change even if it goes to a replica.
 */
export async function announceChange(
  { live, replica }: Pick<Call<unknown>['services'], 'live' | 'replica'>,
  userId: UserId,
): Promise<void> {
  live.wake();
  await replica?.bringUpToDate([userId]);
}

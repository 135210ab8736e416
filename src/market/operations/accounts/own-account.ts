/** The caller's own account: its lock, its email address, and whether support is deciding who owns it. */
import { unauthorized } from '../../rules/errors.js';
import type { UserId } from '../../rules/ids.js';
import { assertAllowed, EMAIL_DISPUTED } from '../../rules/policies.js';
import { lockAccount, selectCredentials } from '../../store/accounts/accounts.js';
import type { Db } from '../../../platform/db/database.js';
import { findActiveSession, type NamedSession } from '../../store/sessions/sessions.js';

/**
 * Called before an operation creates an object that outlives the session. Makes concurrent calls for one account wait
 * for each other, including a password change. If the session ended during the wait, the call creates nothing.
 */
export async function lockOwnAccount(tx: Db, { userId, sessionId }: NamedSession): Promise<void> {
  await lockAccount(tx, { userId });
  if (!(await findActiveSession(tx, { userId, sessionId }))) throw unauthorized('UNAUTHENTICATED', 'session_ended');
}

export async function ownAddress(db: Db, userId: UserId) {
  const [account] = await selectCredentials(db, { userId });
  if (!account) throw unauthorized('UNAUTHENTICATED', 'session_ended');
  return account;
}

export function assertUndisputed({ emailUndo }: Awaited<ReturnType<typeof ownAddress>>): void {
  assertAllowed(emailUndo === 'pending' ? EMAIL_DISPUTED : undefined);
}

/** Locks the row of the caller's account before a call creates an object that outlives the session. */
import { unauthorized } from '../../rules/errors.js';
import { lockAccount } from '../../store/accounts/accounts.js';
import type { Db } from '../../../platform/db/database.js';
import { findActiveSession, type NamedSession } from '../../store/sessions/sessions.js';

/**
 * Makes concurrent calls for one account wait for each other, including a password change. If the session ended during
 * the wait, the call creates nothing.
 */
export async function lockOwnAccount(tx: Db, { userId, sessionId }: NamedSession): Promise<void> {
  await lockAccount(tx, { userId });
  if (!(await findActiveSession(tx, { userId, sessionId }))) throw unauthorized('UNAUTHENTICATED', 'session_ended');
}

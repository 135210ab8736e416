/** Locks the caller's account, for objects that outlive the session that creates them. */
import { unauthorized } from '../../rules/errors.js';
import { lockAccount } from '../../store/accounts/accounts.js';
import type { Db } from '../../../platform/db/database.js';
import { findActiveSession, type NamedSession } from '../../store/sessions/sessions.js';

/**
 * Serializes calls for one account, also with a change of its password. A session that was ended while the call waited
 * for the lock creates nothing.
 */
export async function lockOwnAccount(tx: Db, { userId, sessionId }: NamedSession): Promise<void> {
  await lockAccount(tx, { userId });
  if (!(await findActiveSession(tx, { userId, sessionId }))) throw unauthorized('UNAUTHENTICATED', 'session_ended');
}

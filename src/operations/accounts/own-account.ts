/** The caller's account, for what outlives the session that sets it up. */
import { unauthorized } from '../../rules/errors.js';
import { lockAccount } from '../../store/accounts.js';
import type { Db } from '../../store/database.js';
import { findViewer, type NamedSession } from '../../store/sessions.js';

/**
 * Calls for one account follow one another behind this, and a change of its password comes before or after, never
 * between. A session that was ended while the call waited for its turn sets up nothing.
 */
export async function lockOwnAccount(tx: Db, { userId, sessionId }: NamedSession): Promise<void> {
  await lockAccount(tx, { userId });
  if (!(await findViewer(tx, { userId, sessionId }))) throw unauthorized('UNAUTHENTICATED', 'session_ended');
}

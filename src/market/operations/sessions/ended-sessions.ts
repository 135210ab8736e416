/**
 * Ends sessions. By the time the call responds, this instance already rejects them, even in later operations of the
 * same request. Other instances reject them as soon as the commit notifies them.
 */
import type { SessionId } from '../../rules/ids.js';
import {
  revokeLogins,
  revokeOldestLogins,
  revokeSession,
  revokeSessionsAndKeys,
  type SessionsToEnd,
} from '../../store/sessions/sessions.js';
import type { Call } from '../operation.js';

type EndingCall = Pick<Call<unknown>, 'db' | 'services' | 'caller'>;

export async function endSession(call: EndingCall, sessionId: SessionId): Promise<void> {
  endHereAfterCommit(call, await revokeSession(call.db, { sessionId }));
}

export async function endSessionsAndKeys(call: EndingCall, { userId, except }: SessionsToEnd): Promise<void> {
  endHereAfterCommit(call, await revokeSessionsAndKeys(call.db, { userId, except }));
}

/** API keys stay valid. Returns the number of ended sessions. */
export async function endLogins(call: EndingCall, { userId, except }: SessionsToEnd): Promise<number> {
  const ended = await revokeLogins(call.db, { userId, except });
  endHereAfterCommit(call, ended);
  return ended.length;
}

/** Keeps a user's number of logins limited. */
export async function endOldestLogins(call: EndingCall, { userId }: Pick<SessionsToEnd, 'userId'>): Promise<void> {
  endHereAfterCommit(call, await revokeOldestLogins(call.db, { userId }));
}

function endHereAfterCommit(
  { db, services, caller }: EndingCall,
  sessions: readonly { readonly id: SessionId }[],
): void {
  caller.forgetViewerOf(sessions);
  db.afterCommit(() => {
    for (const { id } of sessions) services.live.endSessionHere(id);
  });
}

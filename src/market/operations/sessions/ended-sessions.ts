/**
 * Ends sessions. This instance rejects an ended session before it responds to the call, even in later operations of the
 * same request. Other instances reject it as soon as the commit notifies them.
 */
import type { SessionId, UserId } from '../../rules/ids.js';
import {
  revokeSessionsAndKeys,
  revokeOtherSessionsAndKeys,
  revokeSession,
  type NamedSession,
  revokeSessionsButKeys,
} from '../../store/sessions/sessions.js';
import type { Call } from '../operation.js';

type EndingCall = Pick<Call<unknown>, 'db' | 'services' | 'caller'>;

export async function endSession(call: EndingCall, sessionId: SessionId): Promise<void> {
  announceAfterCommit(call, await revokeSession(call.db, { sessionId }));
}

export async function endOtherSessionsAndKeys(call: EndingCall, { userId, sessionId }: NamedSession): Promise<void> {
  announceAfterCommit(call, await revokeOtherSessionsAndKeys(call.db, { userId, sessionId }));
}

export async function endSessionsAndKeys(call: EndingCall, userId: UserId): Promise<void> {
  announceAfterCommit(call, await revokeSessionsAndKeys(call.db, { userId }));
}

/** Ends a user's sessions but not their API keys. Returns the number of ended sessions. */
export async function endSessionsButKeys(
  call: EndingCall,
  { userId, except }: { readonly userId: UserId; readonly except: SessionId | null },
): Promise<number> {
  const ended = await revokeSessionsButKeys(call.db, { userId, except });
  announceAfterCommit(call, ended);
  return ended.length;
}

function announceAfterCommit(
  { db, services, caller }: EndingCall,
  sessions: readonly { readonly id: SessionId }[],
): void {
  caller.forgetViewerOf(sessions);
  db.afterCommit(() => {
    for (const { id } of sessions) services.live.announceSessionEnd(id);
  });
}

/** Ends sessions: this instance refuses them before the call is answered, all others once they hear of the commit. */
import type { SessionId } from '../../rules/ids.js';
import { revokeOtherSessions, revokeSession, type NamedSession } from '../../store/sessions.js';
import type { Call } from '../operation.js';

type Ending = Pick<Call<unknown>, 'db' | 'services'>;

export async function endSession(call: Ending, sessionId: SessionId): Promise<void> {
  refuseOnceCommitted(call, await revokeSession(call.db, { sessionId }));
}

export async function endOtherSessions(call: Ending, { userId, sessionId }: NamedSession): Promise<void> {
  refuseOnceCommitted(call, await revokeOtherSessions(call.db, { userId, sessionId }));
}

function refuseOnceCommitted({ db, services }: Ending, ended: readonly { readonly id: SessionId }[]): void {
  db.afterCommit(() => {
    for (const { id } of ended) services.live.announceSessionEnd(id);
  });
}

/**
 * Finds the end of the sessions behind open streams: at once where the log-out is notified, or at the next look, which
 * checks all sessions of this instance in one statement.
 */
import { STREAM } from '../rules/limits.js';
import type { SessionId } from '../rules/ids.js';
import type { Db } from '../store/database.js';
import { findEndedSessions } from '../store/sessions.js';

export interface SessionEnds {
  /** Calls back once, when the session has ended; the function that it returns ends the waiting. */
  follow(session: SessionId, onEnd: () => void): () => void;
  /** Called on a notification that this session has ended. */
  ended(session: SessionId): void;
  /** Looks now: notifications may have been lost meanwhile. */
  look(): void;
  close(): void;
}

export function watchSessions(
  db: Db,
  onFailure: (error: unknown) => void,
  lookEveryMs: number = STREAM.sessionsPollMs,
): SessionEnds {
  const followed = new Map<string, Set<() => void>>();
  let isLooking = false;

  function end(session: string): void {
    const waiting = followed.get(session) ?? [];
    followed.delete(session);
    for (const onEnd of waiting) onEnd();
  }

  async function look(): Promise<void> {
    if (isLooking || followed.size === 0) return;
    isLooking = true;
    try {
      for (const session of await findEndedSessions(db, [...followed.keys()])) end(session);
    } catch (error) {
      onFailure(error);
    } finally {
      isLooking = false;
    }
  }

  const looking = setInterval(() => void look(), lookEveryMs);
  return {
    follow(session, onEnd) {
      const waiting = followed.get(session) ?? new Set();
      const own = () => onEnd();
      followed.set(session, waiting.add(own));
      return () => {
        waiting.delete(own);
        if (waiting.size === 0 && followed.get(session) === waiting) followed.delete(session);
      };
    },
    ended: end,
    look: () => void look(),
    close: () => clearInterval(looking),
  };
}

/**
 * When the sessions of open streams end: at once where the log-out is heard, and else at the next look, which asks for
 * all sessions of this instance by one statement.
 */
import type { SessionId } from '../rules/ids.js';
import type { Db } from '../store/database.js';
import { findEndedSessions } from '../store/sessions.js';

const LOOK_EVERY_MS = 15_000;

export interface SessionEnds {
  /** Calls back once, when the session is found over; what it answers ends the waiting. */
  follow(session: SessionId, onEnd: () => void): () => void;
  /** Somebody said that this session has ended. */
  heard(session: string): void;
  /** Looks now: what was said meanwhile was not heard. */
  look(): void;
  close(): void;
}

export function watchSessions(
  db: Db,
  onFailure: (error: unknown) => void,
  lookEveryMs: number = LOOK_EVERY_MS,
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
    heard: end,
    look: () => void look(),
    close: () => clearInterval(looking),
  };
}

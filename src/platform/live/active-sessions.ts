/**
 * Sessions that the database has found active, kept in memory so that most calls ask it nothing about their session.
 * One is relied on for half a minute, never beyond its own end, and only while this instance hears which sessions end.
 */
import { LRUCache } from 'lru-cache';
import type { SessionId } from '../../market/rules/ids.js';
import { SESSIONS_IN_MEMORY } from '../service-limits.js';
import type { Viewer } from '../../market/rules/viewer.js';
import type { SessionFacts } from '../../market/store/sessions/sessions.js';

const { max, entryAgeMsMax } = SESSIONS_IN_MEMORY;

type KnownSession = Pick<SessionFacts, 'viewer' | 'endsInMs'>;

export interface ActiveSessions {
  /** The viewer of a session that is known to be active; undefined where the database must be asked. */
  find(session: SessionId): Viewer | undefined;
  /** The viewer of a session that was active when it was last looked up, and has not been heard to end since. */
  lastKnownViewer(session: SessionId): Viewer | undefined;
  /** Asks the database. If the session is heard to end meanwhile, it has ended, whatever the database answers. */
  lookUp(session: SessionId, ask: () => Promise<KnownSession | undefined>): Promise<Viewer | undefined>;
  /** Called when the end of this session is committed. */
  endSession(session: SessionId): void;
  /** Called when ends of sessions may have been missed. */
  forgetAll(): void;
}

interface Entry {
  readonly viewer: Viewer;
  readonly untilMs: number;
}

interface LookUp {
  readonly session: SessionId;
  hasEnded: boolean;
  mayBeKept: boolean;
}

/** `now` is in milliseconds, on a clock that never steps back. */
export function createActiveSessions(
  isHearing: () => boolean,
  now: () => number = () => performance.now(),
): ActiveSessions {
  const entries = new LRUCache<SessionId, Entry>({ max });
  const lookUps = new Set<LookUp>();

  return {
    find: (session) => {
      const entry = entries.get(session);
      return entry && now() < entry.untilMs && isHearing() ? entry.viewer : undefined;
    },
    lastKnownViewer: (session) => entries.get(session)?.viewer,
    lookUp: async (session, ask) => {
      const lookUp: LookUp = { session, hasEnded: false, mayBeKept: true };
      const beganMs = now();
      lookUps.add(lookUp);
      try {
        const activeSession = await ask();
        if (!activeSession || lookUp.hasEnded) {
          entries.delete(session);
          return undefined;
        }
        const { viewer, endsInMs } = activeSession;
        if (lookUp.mayBeKept) entries.set(session, { viewer, untilMs: beganMs + Math.min(entryAgeMsMax, endsInMs) });
        return viewer;
      } finally {
        lookUps.delete(lookUp);
      }
    },
    endSession: (session) => {
      entries.delete(session);
      for (const lookUp of lookUps) if (lookUp.session === session) lookUp.hasEnded = true;
    },
    forgetAll: () => {
      entries.clear();
      for (const lookUp of lookUps) lookUp.mayBeKept = false;
    },
  };
}

/**
 * Keeps sessions in memory once the database has found them active, so most calls don't query the database for their
 * session. An entry is used for half a minute, but never after the session's own end, and only while the revocation
 * feed is live.
 *
 * The feed is the channel on which Postgres sends the IDs of revoked sessions. With every poll, each instance also
 * sends itself a heartbeat on this channel. Notifications arrive in commit order. So an instance that receives its
 * heartbeat has received every revocation that was committed before the heartbeat was sent.
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { SESSIONS_IN_MEMORY } from '../service-limits.js';

const { max, entryAgeMsMax, heartbeatAgeMsMax } = SESSIONS_IN_MEMORY;

export interface RevocationFeed {
  /** True if the last heartbeat arrived recently enough. */
  isLive(): boolean;
  /** The message to send on the channel now. */
  heartbeat(): string;
  /** Called for the heartbeats of all instances. Returns true if this one is the instance's own. */
  onHeartbeat(heartbeat: string): boolean;
  /** Called when the instance starts to listen again, since earlier notifications may be lost. */
  restart(): void;
}

/** A clock in milliseconds that never steps back. */
const monotonicMs = () => performance.now();

export function createRevocationFeed(now: () => number = monotonicMs): RevocationFeed {
  const instance = randomUUID();
  let lastHeartbeatSentAtMs = Number.NEGATIVE_INFINITY;
  return {
    heartbeat: () => `${instance} ${now()}`,
    isLive: () => now() - lastHeartbeatSentAtMs < heartbeatAgeMsMax,
    onHeartbeat: (heartbeat) => {
      const [sender, sentAtMs] = heartbeat.split(' ');
      if (sender !== instance) return false;
      lastHeartbeatSentAtMs = Number(sentAtMs);
      return true;
    },
    restart: () => void (lastHeartbeatSentAtMs = Number.NEGATIVE_INFINITY),
  };
}

/** A heartbeat contains a space. Every other message on the channel is the ID of a revoked session. */
export function isHeartbeat(message: string): boolean {
  return message.includes(' ');
}

export interface ActiveSessions<Viewer> {
  /** The viewer of a session that is known to be active. Undefined if the database must be queried. */
  find(session: string): Viewer | undefined;
  /** The viewer of a session that was active at its last lookup and whose end hasn't been announced since. */
  lastKnownViewer(session: string): Viewer | undefined;
  /** Queries the database. If the session's end is announced in the meantime, the result doesn't count. */
  lookUp(session: string, ask: () => Promise<KnownSession<Viewer> | undefined>): Promise<Viewer | undefined>;
  /** Called when the end of this session is committed. */
  endSession(session: string): void;
  /** Called when announcements may have been missed. */
  forgetAll(): void;
}

interface KnownSession<Viewer> {
  readonly viewer: Viewer;
  readonly endsInMs: number;
}

interface Entry<Viewer> {
  readonly viewer: Viewer;
  readonly untilMs: number;
}

interface LookUp {
  readonly session: string;
  hasEnded: boolean;
  mayBeKept: boolean;
}

export function createActiveSessions<Viewer>(
  isFeedLive: () => boolean,
  now: () => number = monotonicMs,
): ActiveSessions<Viewer> {
  const entries = new LRUCache<string, Entry<Viewer>>({ max });
  const lookUps = new Set<LookUp>();

  return {
    find: (session) => {
      const entry = entries.get(session);
      return entry && now() < entry.untilMs && isFeedLive() ? entry.viewer : undefined;
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

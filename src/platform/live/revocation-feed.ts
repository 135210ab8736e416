/**
 * Caches active sessions, so most calls don't query the database for theirs. An entry lasts half a minute at most, and
 * never longer than its session. It's used only while the revocation feed is live.
 *
 * The feed is a channel on which Postgres sends the IDs of revoked sessions. With every poll, each server sends itself
 * a heartbeat on it. Notifications arrive in commit order, so a server that gets its heartbeat has seen every earlier
 * revocation.
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { REPLICA, SESSIONS_IN_MEMORY } from '../service-limits.js';

const { max, entryAgeMsMax, heartbeatAgeMsMax } = SESSIONS_IN_MEMORY;

export interface RevocationFeed {
  /** True if the last heartbeat is recent enough. */
  isLive(): boolean;
  /** True if no other instance has sent a heartbeat for a while. */
  isOnlyInstance(): boolean;
  heartbeat(): string;
  /** Called for every server's heartbeats. Returns true for this server's own. */
  onHeartbeat(heartbeat: string): boolean;
  /** Called when the server listens again. Notifications may have been lost before that. */
  restart(): void;
}

const monotonicMs = () => performance.now();

export function createRevocationFeed(now: () => number = monotonicMs): RevocationFeed {
  const instance = randomUUID();
  let lastHeartbeatSentAtMs = Number.NEGATIVE_INFINITY;
  let aloneSinceMs = now();
  const isLive = () => now() - lastHeartbeatSentAtMs < heartbeatAgeMsMax;
  return {
    heartbeat: () => `${instance} ${now()}`,
    isLive,
    isOnlyInstance: () => isLive() && now() - aloneSinceMs > REPLICA.aloneAfterMs,
    onHeartbeat: (heartbeat) => {
      const [sender, sentAtMs] = heartbeat.split(' ');
      if (sender !== instance) {
        aloneSinceMs = now();
        return false;
      }
      lastHeartbeatSentAtMs = Number(sentAtMs);
      return true;
    },
    restart: () => {
      lastHeartbeatSentAtMs = Number.NEGATIVE_INFINITY;
      aloneSinceMs = now();
    },
  };
}

/** Heartbeats contain a space. Every other message is a revoked session's ID. */
export function isHeartbeat(message: string): boolean {
  return message.includes(' ');
}

export interface ActiveSessions<Viewer> {
  /** The viewer of a session that is known to be active. Undefined if only the database can tell. */
  find(session: string): Viewer | undefined;
  /** The viewer of a session that was active at its last lookup and hasn't been revoked since. */
  lastKnownViewer(session: string): Viewer | undefined;
  /** Queries the database. Ignores the result if the session is revoked meanwhile. */
  lookUp(session: string, ask: () => Promise<KnownSession<Viewer> | undefined>): Promise<Viewer | undefined>;
  /** Called when the session has ended. */
  forget(session: string): void;
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
    forget: (session) => {
      entries.delete(session);
      for (const lookUp of lookUps) if (lookUp.session === session) lookUp.hasEnded = true;
    },
    forgetAll: () => {
      entries.clear();
      for (const lookUp of lookUps) lookUp.mayBeKept = false;
    },
  };
}

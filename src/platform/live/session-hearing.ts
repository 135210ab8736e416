/**
 * Whether this instance hears which sessions end. With each look at the database it sends itself a heartbeat on the
 * channel of ended sessions. Postgres delivers notifications in the order of their commits: an instance that hears a
 * heartbeat has heard every end of a session that was committed before that heartbeat was sent.
 */
import { randomUUID } from 'node:crypto';
import { SESSIONS_IN_MEMORY } from '../service-limits.js';

const { heartbeatAgeMsMax } = SESSIONS_IN_MEMORY;

export interface SessionHearing {
  isHearing(): boolean;
  /** What is to be sent on the channel now. */
  heartbeat(): string;
  /**
   * Called for messages on the channel that aren't sessions: the heartbeats of all instances. Returns whether this one
   * is the instance's own.
   */
  onHeartbeat(heartbeat: string): boolean;
  /** Called when the instance listens anew: what was announced before that is lost. */
  restart(): void;
}

/** `now` is milliseconds on a clock that never steps back. */
export function openSessionHearing(now: () => number = () => performance.now()): SessionHearing {
  const instance = randomUUID();
  let lastHeartbeatSentAtMs = Number.NEGATIVE_INFINITY;
  return {
    heartbeat: () => `${instance} ${now()}`,
    isHearing: () => now() - lastHeartbeatSentAtMs < heartbeatAgeMsMax,
    onHeartbeat: (heartbeat) => {
      const [sender, sentAtMs] = heartbeat.split(' ');
      if (sender !== instance) return false;
      lastHeartbeatSentAtMs = Number(sentAtMs);
      return true;
    },
    restart: () => void (lastHeartbeatSentAtMs = Number.NEGATIVE_INFINITY),
  };
}

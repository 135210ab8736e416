/**
 * Whether this instance hears which sessions end. Each second it sends itself a heartbeat on the channel of ended
 * sessions. Postgres delivers notifications in the order of their commits: an instance that hears a heartbeat has heard
 * every end of a session that was committed before that heartbeat was sent.
 */
import { randomUUID } from 'node:crypto';
import { SESSIONS_IN_MEMORY } from '../rules/service-limits.js';

const { heartbeatEveryMs, heartbeatAgeMsMax } = SESSIONS_IN_MEMORY;

export interface SessionHearing {
  isHearing(): boolean;
  /** Called with whatever comes on the channel and is no session: the heartbeats of all instances. */
  onHeartbeat(heartbeat: string): void;
  /** Called when the instance listens anew: what was announced before that is lost. */
  restart(): void;
  close(): void;
}

interface HearingParts {
  send(heartbeat: string): Promise<unknown>;
  onFailure(error: unknown): void;
  /** Milliseconds on a clock that never steps back. */
  readonly now?: () => number;
}

export function openSessionHearing({ send, onFailure, now = () => performance.now() }: HearingParts): SessionHearing {
  const instance = randomUUID();
  let lastHeartbeatSentAtMs = Number.NEGATIVE_INFINITY;
  let isSending = false;

  async function beat(): Promise<void> {
    if (isSending) return;
    isSending = true;
    await send(`${instance} ${now()}`).catch(onFailure);
    isSending = false;
  }

  const beating = setInterval(() => void beat(), heartbeatEveryMs);
  return {
    isHearing: () => now() - lastHeartbeatSentAtMs < heartbeatAgeMsMax,
    onHeartbeat: (heartbeat) => {
      const [sender, sentAtMs] = heartbeat.split(' ');
      if (sender === instance) lastHeartbeatSentAtMs = Number(sentAtMs);
    },
    restart: () => {
      lastHeartbeatSentAtMs = Number.NEGATIVE_INFINITY;
      void beat();
    },
    close: () => clearInterval(beating),
  };
}

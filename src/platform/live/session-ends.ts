/** Tells streams that their session has ended, from a notification or by polling all sessions in one statement. */
import { STREAM } from '../caller-limits.js';

export interface SessionEnds {
  /** Calls `onEnd` once. Returns a function that cancels this. */
  follow(session: string, onEnd: () => void): () => void;
  announce(session: string): void;
  /** Polls now, because notifications may have been lost. */
  poll(): void;
  close(): void;
}

export function watchSessions(
  findEnded: (sessions: readonly string[]) => Promise<readonly string[]>,
  onFailure: (error: unknown) => void,
  pollEveryMs: number = STREAM.sessionsPollMs,
): SessionEnds {
  const waitersBySession = new Map<string, Set<() => void>>();
  let isPolling = false;

  function notifyWaiters(session: string): void {
    const waiters = waitersBySession.get(session) ?? [];
    waitersBySession.delete(session);
    for (const onEnd of waiters) onEnd();
  }

  async function poll(): Promise<void> {
    if (isPolling || waitersBySession.size === 0) return;
    isPolling = true;
    try {
      for (const session of await findEnded([...waitersBySession.keys()])) notifyWaiters(session);
    } catch (error) {
      onFailure(error);
    } finally {
      isPolling = false;
    }
  }

  const polling = setInterval(() => void poll(), pollEveryMs);
  return {
    follow(session, onEnd) {
      const waiters = waitersBySession.get(session) ?? new Set();
      const waiter = () => onEnd();
      waitersBySession.set(session, waiters.add(waiter));
      return () => {
        waiters.delete(waiter);
        if (waiters.size === 0 && waitersBySession.get(session) === waiters) waitersBySession.delete(session);
      };
    },
    announce: notifyWaiters,
    poll: () => void poll(),
    close: () => clearInterval(polling),
  };
}

/**
 * Stops a server without failing calls. It keeps serving while `/readyz` reports the stop, until the load balancer
 * notices. Then it accepts the connections already queued, finishes requests in progress, and refuses calls that would
 * have to wait long. After ten seconds, it cuts off what is left.
 */
import type { Server } from 'node:http';
import { Server as SocketServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Refusal, refuse } from '../errors.js';
import { DRAINING, type Timeouts } from '../service-limits.js';

export interface DrainingOptions {
  readonly server: Server;
  readonly endStreams: () => void;
  /** Refuses the calls that would have to wait longer than the remaining time. */
  readonly refuseWaiting: () => void;
  readonly closeUnused: () => void;
}

export interface Draining {
  /** True once the server has been told to stop. New requests should go elsewhere. */
  readonly isStopping: boolean;
  /** True once the server accepts no new connections. Each response is then the last on its connection. */
  readonly isDraining: boolean;
  /** True while connections with requests in progress are being cut off. */
  readonly isCutting: boolean;
  drain(parts: DrainingOptions): Promise<void>;
}

/** Refuses new work that might never end on its own. */
export function serverStops(): Refusal {
  return refuse('OVERLOADED', { message: 'This server is stopping. Try again.', details: { retryAfter: 1 } });
}

export function createDraining({ drainMs }: Pick<Timeouts, 'drainMs'>, lameDuckMs: number): Draining {
  let isStopping = false;
  let isDraining = false;
  let isCutting = false;
  return {
    get isStopping() {
      return isStopping;
    },
    get isDraining() {
      return isDraining;
    },
    get isCutting() {
      return isCutting;
    },
    async drain(parts) {
      isStopping = true;
      await sleep(lameDuckMs);
      // Accepts queued connections first, while clients keep theirs. During draining, every call needs a new one.
      await acceptQueued(parts.server);
      isDraining = true;
      parts.refuseWaiting();
      // Stops listening before it ends thousands of streams. That takes a while, and connections that arrive in the
      // meantime would be reset.
      const closed = closeWhenIdle(parts);
      parts.endStreams();
      const cut = setTimeout(() => {
        isCutting = true;
        parts.server.closeAllConnections();
      }, drainMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

/**
 * When a server stops listening, the operating system resets the connections in its queue. Node accepts at least one
 * per turn of the event loop. So after a whole turn without any, the queue is empty.
 */
async function acceptQueued(server: Server): Promise<void> {
  const untilMs = performance.now() + DRAINING.acceptMs;
  let accepted = 0;
  const count = () => void (accepted += 1);
  server.on('connection', count);
  for (let before = -1; before < accepted && performance.now() < untilMs;) {
    before = accepted;
    await nextTurn(); // Waits for the rest of this turn.
    await nextTurn(); // Waits for a whole turn.
  }
  server.off('connection', count);
}

/** Closes connections that have been idle for a moment. */
function closeWhenIdle({ server, closeUnused }: DrainingOptions): Promise<void> {
  return new Promise((resolve) => {
    let sweep: NodeJS.Timeout | undefined;
    const linger = setTimeout(() => {
      sweep = setInterval(() => server.closeIdleConnections(), 50);
    }, DRAINING.idleConnectionMs);
    const unused = setTimeout(closeUnused, DRAINING.unusedConnectionMs);
    // An HTTP server's own close() would cut off idle connections immediately.
    SocketServer.prototype.close.call(server, () => {
      for (const timer of [linger, sweep, unused]) clearTimeout(timer);
      resolve();
    });
  });
}

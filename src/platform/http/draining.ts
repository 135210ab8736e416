/**
 * Stops a server. First it serves on while `/readyz` says that it stops, until whoever spreads requests over servers
 * has noticed. Then it accepts the connections that are in the accept queue and none after them, finishes the requests
 * that were begun, and refuses those that would wait long to begin. Connections close after their last answer, and
 * those left after ten seconds are cut.
 */
import type { Server } from 'node:http';
import { Server as SocketServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Refusal, refuse } from '../errors.js';
import { DRAINING, type Timeouts } from '../service-limits.js';

export interface DrainingOptions {
  readonly server: Server;
  /** Ends the streams, which have no end of their own. */
  readonly endStreams: () => void;
  /** Refuses the calls that would wait for longer than there is time. */
  readonly refuseWaiting: () => void;
  /** Closes the connections on which no client ever sent anything; Node takes them for connections with a request. */
  readonly closeUnused: () => void;
}

export interface Draining {
  /** Whether it was told to stop, and new requests had better go elsewhere. */
  readonly isStopping: boolean;
  /** It accepts no new connections, and each answer is the last on its connection. */
  readonly isDraining: boolean;
  /** Whether connections with requests under way are being cut. */
  readonly isCutting: boolean;
  drain(parts: DrainingOptions): Promise<void>;
}

/** The answer to what would not end by itself, and so may not begin any more. */
export function serverStops(): Refusal {
  return refuse('OVERLOADED', { message: 'This server is stopping; retry.', details: { retryAfter: 1 } });
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
      // First, while clients keep their connections: once it has begun, each call comes on a new one.
      await acceptQueued(parts.server);
      isDraining = true;
      parts.refuseWaiting();
      // Stops listening first: to end thousands of streams takes a while, and connections made meanwhile would not be
      // accepted.
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
 * The operating system queues connections, and resets those that it still holds when the server stops listening. Node
 * accepts one of them in each turn of the event loop at least: after a whole turn without any, the queue is empty.
 */
async function acceptQueued(server: Server): Promise<void> {
  const untilMs = performance.now() + DRAINING.acceptMs;
  let accepted = 0;
  const count = () => void (accepted += 1);
  server.on('connection', count);
  for (let before = -1; before < accepted && performance.now() < untilMs;) {
    before = accepted;
    await nextTurn(); // The rest of this turn,
    await nextTurn(); // and a whole one.
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
    // The close() of an HTTP server would cut the idle connections at once.
    SocketServer.prototype.close.call(server, () => {
      for (const timer of [linger, sweep, unused]) clearTimeout(timer);
      resolve();
    });
  });
}

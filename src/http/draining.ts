/**
 * How a server stops: connections that were made are accepted, none after them, what was begun is finished, what would
 * wait long to begin is refused, connections close after their last answer, and those left after ten seconds are cut.
 */
import type { Server } from 'node:http';
import { Server as SocketServer } from 'node:net';
import { refuse, type Refusal } from '../rules/errors.js';
import type { NewConnections } from './new-connections.js';
import type { Timeouts } from './timeouts.js';

/** A connection that looks idle may have a request on its way to us. */
const LINGER_MS = 250;

/** Browsers open connections in advance; what was sent on one may still wait for its turn to be read. */
const UNUSED_MS = 1_000;

/** Where new connections never cease, it closes all the same. */
const ACCEPT_MS = 1_000;

export interface DrainingParts {
  readonly server: Server;
  readonly newConnections: NewConnections;
  /** Ends what has no end of its own. */
  readonly endStreams: () => void;
  /** Refuses what waits for longer than there is time. */
  readonly refuseWaiting: () => void;
  /** Closes the connections on which nothing was ever sent; to Node they look as though a request had begun. */
  readonly closeUnused: () => void;
}

export interface Draining {
  /** From then on each answer is the last on its connection. */
  readonly begun: boolean;
  /** Whether connections are being cut on which something is still under way. */
  readonly isCutting: boolean;
  drain(parts: DrainingParts): Promise<void>;
}

/** Of what would not end by itself, and so may not begin any more. */
export function serverStops(): Refusal {
  return refuse('OVERLOADED', { message: 'This server stops; come again.', details: { retryAfter: 1 } });
}

export function createDraining({ drainMs }: Pick<Timeouts, 'drainMs'>): Draining {
  let begun = false;
  let isCutting = false;
  return {
    get begun() {
      return begun;
    },
    get isCutting() {
      return isCutting;
    },
    async drain(parts) {
      await parts.newConnections.acceptAll(ACCEPT_MS);
      begun = true;
      parts.refuseWaiting();
      // To end thousands of streams takes a while, in which connections would come that nobody accepts.
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

/** Idle connections are closed when they have stayed so for a moment. */
function closeWhenIdle({ server, closeUnused }: DrainingParts): Promise<void> {
  return new Promise((resolve) => {
    let sweep: NodeJS.Timeout | undefined;
    const linger = setTimeout(() => {
      sweep = setInterval(() => server.closeIdleConnections(), 50);
    }, LINGER_MS);
    const unused = setTimeout(closeUnused, UNUSED_MS);
    // The close() of an HTTP server itself would cut the idle connections there and then.
    SocketServer.prototype.close.call(server, () => {
      for (const timer of [linger, sweep, unused]) clearTimeout(timer);
      resolve();
    });
  });
}

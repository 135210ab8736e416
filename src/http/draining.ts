/**
 * How a server stops: connections that were made are accepted, none after them, what was begun is finished, connections
 * close after their last answer, and those left after ten seconds are cut.
 */
import type { Server } from 'node:http';
import { Server as SocketServer } from 'node:net';
import { refuse, type Refusal } from '../rules/errors.js';
import type { NewConnections } from './new-connections.js';

const DRAIN_MS = 10_000;

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
  /** Closes the connections on which nothing was ever sent; to Node they look as though a request had begun. */
  readonly closeUnused: () => void;
}

export interface Draining {
  /** From then on each answer is the last on its connection. */
  readonly begun: boolean;
  drain(parts: DrainingParts): Promise<void>;
}

/** Of what would not end by itself, and so may not begin any more. */
export function serverStops(): Refusal {
  return refuse('OVERLOADED', { message: 'This server stops; come again.', details: { retryAfter: 1 } });
}

export function createDraining(): Draining {
  let begun = false;
  return {
    get begun() {
      return begun;
    },
    async drain(parts) {
      await parts.newConnections.acceptAll(ACCEPT_MS);
      begun = true;
      // To end thousands of streams takes a while, in which connections would come that nobody accepts.
      const closed = closeWhenIdle(parts);
      parts.endStreams();
      return closed;
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
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    // The close() of an HTTP server itself would cut the idle connections there and then.
    SocketServer.prototype.close.call(server, () => {
      for (const timer of [linger, sweep, unused, cut]) clearTimeout(timer);
      resolve();
    });
  });
}

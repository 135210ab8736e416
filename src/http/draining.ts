/**
 * How a server stops: nobody new is let in, what was begun is finished, connections close after their last answer, and
 * whoever is left after ten seconds is cut.
 */
import type { Server, ServerResponse } from 'node:http';
import { Server as SocketServer } from 'node:net';

const DRAIN_MS = 10_000;

/** A connection that looks idle may have a request on its way to us. */
const LINGER_MS = 250;

export interface Draining {
  readonly begun: boolean;
  /** Keeps an answer in sight until it is given. */
  watch(response: ServerResponse): void;
  drain(server: Server): Promise<void>;
}

export function createDraining(): Draining {
  const unanswered = new Set<ServerResponse>();
  let begun = false;
  return {
    get begun() {
      return begun;
    },
    watch(response) {
      if (begun) lastOnItsConnection(response);
      unanswered.add(response);
      response.once('close', () => unanswered.delete(response));
    },
    drain(server) {
      begun = true;
      for (const response of unanswered) lastOnItsConnection(response);
      return closeWhenIdle(server);
    },
  };
}

function lastOnItsConnection(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** Idle connections are closed when they have stayed so for a moment. */
function closeWhenIdle(server: Server): Promise<void> {
  return new Promise((resolve) => {
    let sweep: NodeJS.Timeout | undefined;
    const linger = setTimeout(() => {
      sweep = setInterval(() => server.closeIdleConnections(), 50);
    }, LINGER_MS);
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    // The close() of an HTTP server itself would cut the idle connections there and then.
    SocketServer.prototype.close.call(server, () => {
      for (const timer of [linger, sweep, cut]) clearTimeout(timer);
      resolve();
    });
  });
}

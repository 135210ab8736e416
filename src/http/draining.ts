/**
 * How a server stops: whoever has reached the door comes in, nobody after them, what was begun is finished, connections close
 * after their last answer, and whoever is left after ten seconds is cut.
 */
import type { Server } from 'node:http';
import { Server as SocketServer } from 'node:net';
import type { Door } from './door.js';

const DRAIN_MS = 10_000;

/** A connection that looks idle may have a request on its way to us. */
const LINGER_MS = 250;

/** Where somebody is always at the door, it closes all the same. */
const DOOR_MS = 1_000;

export interface Draining {
  /** From then on each answer is the last on its connection. */
  readonly begun: boolean;
  drain(server: Server, door: Door): Promise<void>;
}

export function createDraining(): Draining {
  let begun = false;
  return {
    get begun() {
      return begun;
    },
    async drain(server, door) {
      await door.whenEmpty(DOOR_MS);
      begun = true;
      return closeWhenIdle(server);
    },
  };
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

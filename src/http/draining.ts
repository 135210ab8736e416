/**
 * How a server stops: connections that were made are accepted, none after them, what was begun is finished, connections
 * close after their last answer, and those left after ten seconds are cut.
 */
import type { Server } from 'node:http';
import { Server as SocketServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

const DRAIN_MS = 10_000;

/** A connection that looks idle may have a request on its way to us. */
const LINGER_MS = 250;

/** Where new connections never cease, it closes all the same. */
const ACCEPT_MS = 1_000;

export interface Draining {
  /** From then on each answer is the last on its connection. */
  readonly begun: boolean;
  /** What has no end of its own is ended by `endStreams`, once no new connection is accepted. */
  drain(server: Server, endStreams: () => void): Promise<void>;
}

export function createDraining(): Draining {
  let begun = false;
  return {
    get begun() {
      return begun;
    },
    async drain(server, endStreams) {
      await acceptAll(server);
      begun = true;
      endStreams();
      return closeWhenIdle(server);
    },
  };
}

/**
 * The operating system takes up connections before we do, and we take one of them in each turn of the loop: a whole
 * turn without any was the last.
 */
async function acceptAll(server: Server): Promise<void> {
  let accepted = 0;
  const count = () => void (accepted += 1);
  server.on('connection', count);
  const endMs = performance.now() + ACCEPT_MS;
  for (let before = -1; before < accepted && performance.now() < endMs;) {
    before = accepted;
    await turn(); // The rest of this turn,
    await turn(); // and a whole one.
  }
  server.off('connection', count);
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

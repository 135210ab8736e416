/**
 * What a port without a proxy in front needs at least: how many connections the server and one address may hold, and
 * how many requests a client may send ahead on one. Behind a proxy these limits are the proxy's (deploy/haproxy.cfg),
 * which sends each request once the one before is answered.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { REQUESTS_AHEAD_MAX } from '../limits.js';
import type { Release } from '../quotas/quota.js';
import type { Quotas } from '../quotas/quotas.js';

/** The answers that are not sent yet on each connection; without requests sent ahead there is at most one. */
const underWay = new WeakMap<Socket, Set<ServerResponse>>();

export function answersUnderWay(socket: Socket): ReadonlySet<ServerResponse> {
  return underWay.get(socket) ?? NONE;
}

const NONE: ReadonlySet<ServerResponse> = new Set();

/**
 * One read may hold 2,000 tiny requests: `platform/http/upgrade.ts` ends the reading of a connection that has sent too
 * many.
 */
export function hasSentTooManyAhead(socket: Socket): boolean {
  return answersUnderWay(socket).size > REQUESTS_AHEAD_MAX;
}

/** Node closes the answer that a closed connection was sending, and says nothing to those that waited behind it. */
function closeQueued(socket: Socket): void {
  for (const response of answersUnderWay(socket)) {
    response.destroy();
    response.emit('close');
  }
}

export interface Connections {
  /** Counts an answer until it is sent. */
  begin(response: ServerResponse): void;
  /** Closes the connections on which no client ever sent anything: browsers open some in advance. */
  closeUnused(): void;
}

export function boundConnections(
  server: Server,
  { connections, events, limits }: Quotas,
  addressOf: (socket: Socket) => string,
): Connections {
  const open = new Set<Socket>();

  server.maxConnections = limits.connections.total ?? Infinity;
  server.on('drop', () => events.refused('connections', 'server'));
  server.on('connection', (socket: Socket) => {
    const release = takeFor(addressOf(socket));
    if (!release) return void socket.destroy();
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      release();
      process.nextTick(closeQueued, socket);
    });
  });

  function takeFor(address: string): Release | undefined {
    try {
      return connections.take({ address });
    } catch {
      return undefined;
    }
  }

  return {
    begin(response) {
      const { socket } = response.req;
      const others = underWay.get(socket) ?? new Set();
      underWay.set(socket, others.add(response));
      response.once('close', () => others.delete(response));
    },
    closeUnused() {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

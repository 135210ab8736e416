/**
 * The minimum that a port without a proxy needs: how many connections the server and one address may hold, and how many
 * requests a client may send ahead on one. Behind a proxy, these limits are the proxy's (deploy/haproxy.cfg). The proxy
 * sends each request once the previous one has its response.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { REQUESTS_AHEAD_MAX } from '../caller-limits.js';
import type { Release } from '../quotas/quota.js';
import type { Quotas } from '../quotas/quotas.js';

/** The unsent responses of each connection. Unless a client sends requests ahead, there is at most one. */
const underWay = new WeakMap<Socket, Set<ServerResponse>>();

export function answersUnderWay(socket: Socket): ReadonlySet<ServerResponse> {
  return underWay.get(socket) ?? NONE;
}

const NONE: ReadonlySet<ServerResponse> = new Set();

/**
 * One read may contain 2,000 tiny requests. `platform/http/upgrade.ts` stops reading a connection that has sent too
 * many.
 */
export function hasSentTooManyAhead(socket: Socket): boolean {
  return answersUnderWay(socket).size > REQUESTS_AHEAD_MAX;
}

/** Node closes the response that a closed connection was sending, but doesn't notify the ones queued after it. */
function closeQueued(socket: Socket): void {
  for (const response of answersUnderWay(socket)) {
    response.destroy();
    response.emit('close');
  }
}

export interface Connections {
  /** Counts a response until it is sent. */
  begin(response: ServerResponse): void;
  /** Closes connections on which the client never sent anything. Browsers open some in advance. */
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

/**
 * What a port without a proxy in front needs at least: how many connections the server and one address may hold, and
 * how many requests a client may send ahead on one. Behind a proxy these limits are the proxy's (deploy/haproxy.cfg),
 * which sends each request once the one before is answered.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { REQUESTS_AHEAD_MAX } from '../rules/limits.js';
import type { GiveBack } from '../shares/share.js';
import type { Shares } from '../shares/shares.js';

export interface Connections {
  /** The answers that are not sent yet on this connection; in plain HTTP there is at most one. */
  underWay(socket: Socket): ReadonlySet<ServerResponse>;
  /** Counts the request; false where its connection is closed for having sent too many ahead. */
  begin(request: IncomingMessage, response: ServerResponse): boolean;
  /** Closes the connections on which no client ever sent anything: browsers open some in advance. */
  closeUnused(): void;
}

export function boundConnections(
  server: Server,
  { connections, events, limits }: Shares,
  addressOf: (socket: Socket) => string,
): Connections {
  const open = new Map<Socket, Set<ServerResponse>>();

  server.maxConnections = limits.connections.total ?? Infinity;
  server.on('drop', () => events.refused('connections', 'server'));
  server.on('connection', (socket: Socket) => {
    const giveBack = takeFor(addressOf(socket));
    if (!giveBack) return void socket.destroy();
    open.set(socket, new Set());
    socket.once('close', () => {
      open.delete(socket);
      giveBack();
    });
  });

  function takeFor(address: string): GiveBack | undefined {
    try {
      return connections.take({ address });
    } catch {
      return undefined;
    }
  }

  return {
    underWay: (socket) => open.get(socket) ?? NONE,
    begin({ socket }, response) {
      const underWay = open.get(socket);
      // Node parses what it has read to the end, also after the connection was closed.
      if (!underWay || socket.destroyed) return false;
      if (underWay.size > REQUESTS_AHEAD_MAX) {
        socket.destroy();
        return false;
      }
      underWay.add(response);
      response.once('close', () => underWay.delete(response));
      return true;
    },
    closeUnused() {
      for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

const NONE: ReadonlySet<ServerResponse> = new Set();

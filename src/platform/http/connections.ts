/**
 * Limits for a port without a proxy. Behind a proxy, the proxy enforces them (`deploy/haproxy.cfg`) and sends one
 * request at a time per connection.
 */
import { type Server, type ServerResponse, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { REQUESTS_AHEAD_MAX } from '../caller-limits.js';
import type { Release } from '../quotas/quota.js';
import type { Quotas } from '../quotas/quotas.js';
import { answersUnderWay } from './answers-under-way.js';
import { refuse } from '../errors.js';
import type { CorsSettings } from './browser-headers.js';

/** A single read can contain 2,000 tiny requests. `UpgradableRequest` stops reading a connection with too many. */
export function hasSentTooManyAhead(socket: Socket): boolean {
  return answersUnderWay(socket).size > REQUESTS_AHEAD_MAX;
}

/** When a connection closes, Node closes the response that it's sending but not the queued ones. */
function closeQueued(socket: Socket): void {
  for (const response of answersUnderWay(socket)) {
    response.destroy();
    response.emit('close');
  }
}

export interface Connections {
  /** Closes connections on which the client never sent anything. Node counts them as busy. */
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
    closeUnused() {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

/**
 * Only `/graphql` serves WebSockets. Any other Upgrade header is ignored, as HTTP allows (RFC 9110, 7.8). HTTP/2
 * clients ask for `h2c` in their first request, even with a body.
 */
const WEB_SOCKET_PATH = /^(?:https?:\/\/[^/?]*)?\/graphql(?:\?|$)/i;

/** Holds the value that Node sets for `upgrade`. It counts only for a WebSocket request. */
const WANTS_UPGRADE = Symbol('wants an upgrade');
/** Marks a request above the limit. The mark is set when the head is parsed, because responses overlap. */
const IS_ONE_TOO_MANY = Symbol('is one too many');

/**
 * Once a server listens for 'upgrade', Node emits it for every request with an Upgrade header and stops parsing. This
 * property is the only way to prevent that. Node sets it after parsing the head and reads it when the headers are
 * complete.
 */
export class UpgradableRequest extends IncomingMessage {
  private [WANTS_UPGRADE]: boolean | null | undefined;
  private [IS_ONE_TOO_MANY]: boolean | undefined;

  get upgrade(): boolean {
    // Node stops parsing the data that it has read. Then `upgrade` in server.ts closes the connection.
    if (this[IS_ONE_TOO_MANY] === true) return true;
    if (this[WANTS_UPGRADE] !== true) return false;
    return this.method === 'CONNECT' || isForWebSocket(this);
  }

  set upgrade(value: boolean | null) {
    this[WANTS_UPGRADE] = value;
    this[IS_ONE_TOO_MANY] ??= hasSentTooManyAhead(this.socket);
  }
}

function isForWebSocket({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && WEB_SOCKET_PATH.test(url);
}

/** Rejects an upgrade with an ordinary response, and closes the connection. */
export function answerInPlaceOfUpgrade(socket: Socket, response: ServerResponse): void {
  response.shouldKeepAlive = false;
  response.setHeader('Connection', 'close');
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
}

/**
 * Browsers let any page open a WebSocket to any origin. So the server checks the page's origin, and allows the same
 * ones as for requests.
 */
export function assertOriginMayOpen({ headers }: IncomingMessage, { origins }: Pick<CorsSettings, 'origins'>): void {
  const { origin, host } = headers;
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw refuse('FORBIDDEN', {
    message:
      'Pages from this origin can’t open a WebSocket here. To allow it, add the origin to the server’s ' +
      'CORS_ORIGINS.',
  });
}

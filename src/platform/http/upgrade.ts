/**
 * Decides which requests become WebSockets: those to `/graphql` that ask for one. Any other Upgrade header is ignored,
 * as HTTP allows (RFC 9110, 7.8). HTTP/2 clients ask for `h2c` in their first request, even in one with a body.
 */
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { refuse } from '../errors.js';
import { hasSentTooManyAhead } from './connections.js';
import type { CorsSettings } from './policy.js';

const WEB_SOCKET_PATH = /^(?:https?:\/\/[^/?]*)?\/graphql(?:\?|$)/i;

/** The value that Node has set for `upgrade`, which counts only for a WebSocket request. */
const WANTS_UPGRADE = Symbol('wants an upgrade');
/** Decided when the head is parsed, because responses start and finish later. */
const IS_ONE_TOO_MANY = Symbol('is one too many');

/**
 * Once a server has a listener for 'upgrade', Node emits it for every request with an Upgrade header and stops parsing
 * that connection. This property is the only way to choose: Node sets it after parsing the head and reads it when the
 * headers are complete.
 */
export class UpgradableRequest extends IncomingMessage {
  private [WANTS_UPGRADE]: boolean | null | undefined;
  private [IS_ONE_TOO_MANY]: boolean | undefined;

  get upgrade(): boolean {
    // Node then stops parsing what it has read, and `upgrade` in server.ts closes the connection.
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

/** Rejects an upgrade with an ordinary response. The connection then closes. */
export function answerInPlaceOfUpgrade(socket: Socket, response: ServerResponse): void {
  response.shouldKeepAlive = false;
  response.setHeader('Connection', 'close');
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
}

/**
 * Browsers let a page open a WebSocket to any origin and read from it. So the allowed origins are the same as for
 * requests.
 */
export function assertOriginMayOpen({ headers }: IncomingMessage, { origins }: Pick<CorsSettings, 'origins'>): void {
  const { origin, host } = headers;
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw refuse('FORBIDDEN', {
    message:
      'Pages from this origin can’t open a WebSocket here. To allow it, add the origin to the server’s CORS_ORIGINS.',
  });
}

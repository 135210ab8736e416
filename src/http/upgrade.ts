/**
 * Which requests become WebSockets: those for `/graphql` that ask for one. Every other wish for an upgrade is passed
 * over, as HTTP allows (RFC 9110, 7.8): clients of HTTP/2 ask for `h2c` with their first request, body and all.
 */
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { refuse } from '../rules/errors.js';
import type { CorsSettings } from './policy.js';

const WEB_SOCKET_PATH = /^(?:https?:\/\/[^/?]*)?\/graphql(?:\?|$)/i;

/** Of a request that is no WebSocket's, Node believes that it wants no upgrade. */
const WANTS_UPGRADE = Symbol('wants an upgrade');

/**
 * Once a server hears of upgrades, Node hands it every one of them, and reads the rest of the connection no more. Which
 * of them it is to hear of can be said by this property alone: Node sets it when it has read the head, and asks it when
 * the headers are there.
 */
export class UpgradableRequest extends IncomingMessage {
  private [WANTS_UPGRADE]: boolean | null | undefined;

  get upgrade(): boolean {
    if (this[WANTS_UPGRADE] !== true) return false;
    return this.method === 'CONNECT' || isForWebSocket(this);
  }

  set upgrade(wanted: boolean | null) {
    this[WANTS_UPGRADE] = wanted;
  }
}

function isForWebSocket({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && WEB_SOCKET_PATH.test(url);
}

/** An upgrade is refused by an answer like any other, and the connection closes behind it. */
export function answerInPlaceOfUpgrade(socket: Socket, response: ServerResponse): void {
  response.shouldKeepAlive = false;
  response.setHeader('Connection', 'close');
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
}

/**
 * Browsers let a page open a WebSocket to anywhere and read from it; that a page of another origin may do so is said by
 * the same list as for requests.
 */
export function assertOriginMayOpen({ headers }: IncomingMessage, { origins }: Pick<CorsSettings, 'origins'>): void {
  const { origin, host } = headers;
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw refuse('FORBIDDEN', {
    message: 'Pages of this origin may not open a WebSocket here; the server’s CORS_ORIGINS names those that may.',
  });
}

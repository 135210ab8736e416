/**
 * Tells local programs apart from clients that a local proxy forwards. Proxies name the client in a header or use
 * HTTP/1.0, which is nginx's default.
 */
import { isLoopback } from '../security/address.js';
import type { Exchange } from './exchange.js';

const HEADERS_OF_PROXIES = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'x-forwarded-proto',
  'x-forwarded-host',
  'via',
];

export function isLocal({ request }: Exchange): boolean {
  return (
    isLoopback(request.socket.remoteAddress ?? '') &&
    request.httpVersion !== '1.0' &&
    HEADERS_OF_PROXIES.every((name) => request.headers[name] === undefined)
  );
}

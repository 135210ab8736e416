/** What browsers are told: who may call from another origin, and what a page of this server may do. */
import type { Exchange } from './exchange.js';

const EXPOSED =
  'X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, ETag, Link, Idempotency-Replayed, Dry-Run, Dry-Run-Effects';
const ACCEPTED =
  'Authorization, Content-Type, X-Request-Id, If-Match, Idempotency-Key, Dry-Run, Apollo-Require-Preflight, X-Apollo-Operation-Name, ' +
  'Apollographql-Client-Name, Apollographql-Client-Version';

// The editor of the playground writes style elements; no page needs a script that is not a file of this server.
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const ANSWER_POLICY = "default-src 'none'; frame-ancestors 'none'";

export function setSecurityHeaders({ response }: Exchange): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Content-Security-Policy', ANSWER_POLICY);
  response.setHeader('Cache-Control', 'no-store');
}

/** A page with scripts of its own: the playground and the reference. */
export function allowPageScripts({ response }: Exchange): void {
  response.setHeader('Content-Security-Policy', PAGE_POLICY);
  response.setHeader('Cache-Control', 'public, no-cache');
}

/** Marks the answer for an allowed origin. True when the request was a preflight, and so has had its answer. */
export function answerCors(exchange: Exchange, allowedOrigins: readonly string[]): boolean {
  const origin = exchange.header('origin');
  if (allowedOrigins.length > 0) exchange.response.setHeader('Vary', 'Origin');
  if (origin === undefined) return false;
  const allowed = allowedOrigins.includes(origin) || allowedOrigins.includes('*');
  if (allowed) {
    exchange.response.setHeader('Access-Control-Allow-Origin', origin);
    exchange.response.setHeader('Access-Control-Expose-Headers', EXPOSED);
  }
  if (exchange.method !== 'OPTIONS' || exchange.header('access-control-request-method') === undefined) return false;
  if (allowed) {
    exchange.response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, DELETE');
    exchange.response.setHeader('Access-Control-Allow-Headers', ACCEPTED);
    exchange.response.setHeader('Access-Control-Max-Age', '600');
  }
  exchange.sendNothing(204);
  return true;
}

/** Headers for browsers: who may call from another origin, and what a page of this server may do. */
import type { Exchange } from './exchange.js';

/** Every header that an answer may carry and that browsers do not show to pages by themselves. */
const EXPOSED = [
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'ETag',
  'Link',
  'Location',
  'Allow',
  'WWW-Authenticate',
  'Idempotency-Replayed',
  'Dry-Run',
  'Dry-Run-Effects',
].join(', ');

/** What browsers may send besides the few headers that they always may; those of tracing are in the second half. */
const ACCEPTED: readonly string[] = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'Dry-Run',
  'Apollo-Require-Preflight',
  'X-Apollo-Operation-Name',
  'Apollographql-Client-Name',
  'Apollographql-Client-Version',

  'X-Request-Id',
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
];

export interface CorsSettings {
  readonly origins: readonly string[];
  /** Request headers that are accepted besides those above. */
  readonly headers: readonly string[];
}

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
export function answerCors(exchange: Exchange, { origins, headers }: CorsSettings): boolean {
  const origin = exchange.header('origin');
  if (origins.length > 0) exchange.response.setHeader('Vary', 'Origin');
  if (origin === undefined) return false;
  const allowed = origins.includes(origin) || origins.includes('*');
  if (allowed) {
    exchange.response.setHeader('Access-Control-Allow-Origin', origin);
    exchange.response.setHeader('Access-Control-Expose-Headers', EXPOSED);
  }
  if (exchange.method !== 'OPTIONS' || exchange.header('access-control-request-method') === undefined) return false;
  if (allowed) {
    exchange.response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, DELETE');
    exchange.response.setHeader('Access-Control-Allow-Headers', [...ACCEPTED, ...headers].join(', '));
    exchange.response.setHeader('Access-Control-Max-Age', '600');
  }
  exchange.sendNothing(204);
  return true;
}

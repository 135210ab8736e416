/** Headers for browsers: who may call this server from another origin, and what its pages may do. */
import type { Exchange } from './exchange.js';

/** Response headers that browsers otherwise hide from pages. */
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

/** Request headers that pages may send, besides those that browsers always allow. The second half is for tracing. */
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
  readonly headers: readonly string[];
}

// The playground's editor writes style elements. All scripts are files from this server.
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const ANSWER_POLICY = "default-src 'none'; frame-ancestors 'none'";

const STYLED_ANSWER_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'; form-action 'self'";

export function setSecurityHeaders({ response }: Exchange): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Content-Security-Policy', ANSWER_POLICY);
  response.setHeader('Cache-Control', 'no-store');
}

export function allowStyles({ response }: Exchange): void {
  response.setHeader('Content-Security-Policy', STYLED_ANSWER_POLICY);
}

/** Allows a page's own scripts. Only the playground and the REST reference have some. */
export function allowPageScripts({ response }: Exchange): void {
  response.setHeader('Content-Security-Policy', PAGE_POLICY);
  response.setHeader('Cache-Control', 'public, no-cache');
}

const isAllowed = (origin: string, { origins }: Pick<CorsSettings, 'origins'>): boolean =>
  origins.includes(origin) || origins.includes('*');

/** Lets an allowed origin read the response. Otherwise, its page couldn't even read a refusal. */
export function setCorsHeaders(exchange: Exchange, cors: CorsSettings): void {
  const origin = exchange.header('origin');
  if (cors.origins.length > 0) exchange.response.setHeader('Vary', 'Origin');
  if (origin === undefined || !isAllowed(origin, cors)) return;
  exchange.response.setHeader('Access-Control-Allow-Origin', origin);
  exchange.response.setHeader('Access-Control-Expose-Headers', EXPOSED);
}

/** True if a browser asks whether a page may send its request. */
export function isPreflight(exchange: Exchange): boolean {
  const asks =
    exchange.header('origin') !== undefined && exchange.header('access-control-request-method') !== undefined;
  return asks && exchange.method === 'OPTIONS';
}

export function answerPreflight(exchange: Exchange, cors: CorsSettings): void {
  if (isAllowed(exchange.header('origin') ?? '', cors)) {
    exchange.response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, DELETE');
    exchange.response.setHeader('Access-Control-Allow-Headers', [...ACCEPTED, ...cors.headers].join(', '));
    exchange.response.setHeader('Access-Control-Max-Age', '600');
  }
  exchange.sendNothing(204);
}

/** The response headers for budgets, as in the IETF draft "RateLimit header fields for HTTP". */
import type { ServerResponse } from 'node:http';
import type { RateLimitResult } from './rate-limit.js';

type RateLimitResults = Iterable<readonly [name: string, taken: RateLimitResult]>;

export function setRateLimitHeaders(response: ServerResponse, taken: RateLimitResults): void {
  for (const [name, value] of Object.entries(rateLimitHeaders(taken))) response.setHeader(name, value);
}

/** One entry per budget, in the order in which the call was counted. Accepts a map of name to `RateLimitResult`. */
export function rateLimitHeaders(taken: RateLimitResults): Record<string, string> {
  const entries = [...taken];
  if (entries.length === 0) return {};
  const waitSeconds = Math.max(...entries.map(([, { retryAfterSeconds }]) => retryAfterSeconds));
  return {
    'RateLimit-Policy': entries
      .map(([name, { limit, windowSeconds }]) => `${quote(name)};q=${limit};w=${windowSeconds}`)
      .join(', '),
    RateLimit: entries
      .map(([name, { remaining, resetSeconds }]) => `${quote(name)};r=${remaining};t=${resetSeconds}`)
      .join(', '),
    ...(waitSeconds > 0 && { 'Retry-After': String(waitSeconds) }),
  };
}

/** The names come from our code and need no escaping in a quoted string. */
function quote(name: string): string {
  return `"${name}"`;
}

/** The answer's headers about budgets, in the form of the IETF draft "RateLimit header fields for HTTP". */
import type { ServerResponse } from 'node:http';
import type { Taken } from './rate-limit.js';

type AllTaken = Iterable<readonly [name: string, taken: Taken]>;

export function setRateLimitHeaders(response: ServerResponse, taken: AllTaken): void {
  for (const [name, value] of Object.entries(rateLimitHeaders(taken))) response.setHeader(name, value);
}

/** One entry for each budget, in the order in which the call was counted: a map of name to `Taken` fits. */
export function rateLimitHeaders(taken: AllTaken): Record<string, string> {
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

/** The names are the program's own, and need no escaping in a quoted string. */
function quote(name: string): string {
  return `"${name}"`;
}

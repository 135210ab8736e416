/** Rate limit headers, from the IETF draft "RateLimit header fields for HTTP", and the headers of refusals. */
import type { ServerResponse } from 'node:http';
import type { RateLimitResults } from '../security/rate-limit.js';
import type { Refusal } from '../errors.js';
import type { Exchange } from './exchange.js';

export function setRateLimitHeaders(response: ServerResponse, results: RateLimitResults): void {
  for (const [name, value] of Object.entries(rateLimitHeaders(results))) response.setHeader(name, value);
}

/** Each header has one entry per rate limit, in the order in which the call was counted. */
export function rateLimitHeaders(results: RateLimitResults): Record<string, string> {
  const entries = [...results];
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

/** Our own names don't contain characters that must be escaped in a quoted string. */
function quote(name: string): string {
  return `"${name}"`;
}

/** Sets a refusal's headers: rate limits, authentication, when to retry, and what is allowed. */
export function setRefusalHeaders({ response, rateLimitResults }: Exchange, { status, details }: Refusal): void {
  const { retryAfter, allowedMethods } = details;
  setRateLimitHeaders(response, rateLimitResults);
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (typeof retryAfter === 'number') response.setHeader('Retry-After', String(retryAfter));
  if (Array.isArray(allowedMethods)) response.setHeader('Allow', allowedMethods.join(', '));
}

/** The headers of a refusal, whatever its body: rate limits, authentication, when to retry, and what is allowed. */
import type { Refusal } from '../errors.js';
import { setRateLimitHeaders } from '../security/rate-limit-headers.js';
import type { Exchange } from './exchange.js';

export function setRefusalHeaders({ response, taken }: Exchange, { status, details }: Refusal): void {
  const { retryAfter, allowedMethods } = details;
  setRateLimitHeaders(response, taken);
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (typeof retryAfter === 'number') response.setHeader('Retry-After', String(retryAfter));
  if (Array.isArray(allowedMethods)) response.setHeader('Allow', allowedMethods.join(', '));
}

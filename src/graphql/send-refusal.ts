/** A refusal before GraphQL had a word: the same form, with the status that HTTP asks for. */
import type { Exchange } from '../http/exchange.js';
import type { Refusal } from '../rules/errors.js';
import { setRateLimitHeaders } from '../security/rate-limit-headers.js';
import { extensionsOf } from './errors.js';

export function sendRefusal(exchange: Exchange, refusal: Refusal, status: number = refusal.status): void {
  const { record, response, taken } = exchange;
  record.refused(refusal);
  setRateLimitHeaders(response, taken);
  if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (refusal.code === 'METHOD_NOT_ALLOWED') response.setHeader('Allow', 'GET, POST');
  const { retryAfter } = refusal.details;
  if (typeof retryAfter === 'number') response.setHeader('Retry-After', String(retryAfter));
  const extensions = { ...extensionsOf(refusal), requestId: exchange.requestId };
  exchange.sendJson(status, { errors: [{ message: refusal.message, extensions }] });
}

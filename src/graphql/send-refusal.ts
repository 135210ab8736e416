/** Answers a refusal before GraphQL: in the same format, with the HTTP status of the refusal. */
import { JSON_TYPE, type Exchange } from '../http/exchange.js';
import type { Refusal } from '../rules/errors.js';
import { setRateLimitHeaders } from '../security/rate-limit-headers.js';
import { acceptedType } from './content-type.js';
import { extensionsOf } from './errors.js';

export function sendRefusal(exchange: Exchange, refusal: Refusal, status: number = refusal.status): void {
  const { record, response, taken } = exchange;
  record.addRefusal(refusal);
  setRateLimitHeaders(response, taken);
  if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (refusal.code === 'METHOD_NOT_ALLOWED') response.setHeader('Allow', 'GET, POST');
  const { retryAfter } = refusal.details;
  if (typeof retryAfter === 'number') response.setHeader('Retry-After', String(retryAfter));
  const extensions = { ...extensionsOf(refusal), requestId: exchange.requestId };
  // Apollo Client reads the errors of such an answer only in the media type that it requested.
  const contentType = acceptedType(exchange.header('accept')) ?? JSON_TYPE;
  exchange.send(status, contentType, JSON.stringify({ errors: [{ message: refusal.message, extensions }] }));
}

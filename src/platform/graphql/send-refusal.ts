/** Sends a refusal that comes before GraphQL, in the same format, with the refusal's HTTP status. */
import { JSON_TYPE, type Exchange } from '../http/exchange.js';
import { setRefusalHeaders } from '../http/refusal-headers.js';
import type { Refusal } from '../errors.js';
import { acceptedType } from './content-type.js';
import { extensionsOf } from './errors.js';

export function sendRefusal(exchange: Exchange, refusal: Refusal, status: number = refusal.status): void {
  exchange.record.addRefusal(refusal);
  setRefusalHeaders(exchange, refusal);
  const extensions = { ...extensionsOf(refusal), requestId: exchange.requestId };
  // Apollo Client reads the errors in such a response only in the media type that it requested.
  const contentType = acceptedType(exchange.header('accept')) ?? JSON_TYPE;
  exchange.send(status, contentType, JSON.stringify({ errors: [{ message: refusal.message, extensions }] }));
}

/** Chooses the response's media type before anything runs, because a rejected call must have no effect. */
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { JSON_TYPE, type Exchange } from '../http/exchange.js';
import { setRefusalHeaders } from '../http/rate-limit-headers.js';
import type { Refusal } from '../errors.js';
import { extensionsOf } from './errors.js';

/** If the client accepts both equally, the first one wins. */
const FORMS = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'];

/** Most requests send one of few Accept headers. Parsing one costs as much as parsing a list's input. */
const formsByHeader = new LRUCache<string, { readonly form: string | undefined }>({ max: 100 });

/** Undefined if the client accepts neither media type. */
export function acceptedType(accept = '*/*'): string | undefined {
  const entry = formsByHeader.get(accept);
  if (entry) return entry.form;
  const form = new Negotiator({ headers: { accept } }).mediaType(FORMS);
  formsByHeader.set(accept, { form });
  return form;
}

/** Sends a refusal from before GraphQL ran, in GraphQL's format and with the refusal's HTTP status. */
export function sendRefusal(exchange: Exchange, refusal: Refusal, status: number = refusal.status): void {
  exchange.record.addRefusal(refusal);
  setRefusalHeaders(exchange, refusal);
  const extensions = { ...extensionsOf(refusal), requestId: exchange.requestId };
  // Apollo Client reads the errors only if the response has the media type that it requested.
  const contentType = acceptedType(exchange.header('accept')) ?? JSON_TYPE;
  exchange.send(status, contentType, `${JSON.stringify({ errors: [{ message: refusal.message, extensions }] })}\n`);
}

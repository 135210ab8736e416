/** Chooses the response's media type. It does so before anything runs, because a rejected call must have no effect. */
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

/** In order of preference, if the client accepts both equally. */
const FORMS = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'];

/** Most requests send one of very few headers, and parsing one costs as much as parsing the input of a list. */
const formsByHeader = new LRUCache<string, { readonly form: string | undefined }>({ max: 100 });

/** Undefined for a client that accepts neither. */
export function acceptedType(accept = '*/*'): string | undefined {
  const entry = formsByHeader.get(accept);
  if (entry) return entry.form;
  const form = new Negotiator({ headers: { accept } }).mediaType(FORMS);
  formsByHeader.set(accept, { form });
  return form;
}

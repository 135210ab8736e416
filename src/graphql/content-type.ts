/** Which form of JSON an answer takes. It is settled before anything runs: nothing of a refused call may be kept. */
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

/** In the order in which they are chosen where a client is as glad of one as of the other. */
const FORMS = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'];

/** Most requests bear one of very few headers, each of which takes as long to read as the input of a list. */
const read = new LRUCache<string, { readonly form: string | undefined }>({ max: 100 });

/** Undefined for a client that takes neither form. */
export function acceptedType(accept = '*/*'): string | undefined {
  const known = read.get(accept);
  if (known) return known.form;
  const form = new Negotiator({ headers: { accept } }).mediaType(FORMS);
  read.set(accept, { form });
  return form;
}

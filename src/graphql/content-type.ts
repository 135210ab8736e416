/** Which form of JSON an answer takes. It is settled before anything runs: nothing of a refused call may be kept. */
import Negotiator from 'negotiator';

/** In the order in which they are chosen where a client is as glad of one as of the other. */
const FORMS = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'];

/** Undefined for a client that takes neither form. */
export function acceptedType(accept: string | undefined): string | undefined {
  return new Negotiator({ headers: { accept } }).mediaType(FORMS);
}

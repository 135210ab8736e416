/**
 * Chooses the media type of an answer. This is done before anything runs, since a call that is refused must have no
 * effect.
 */
import Negotiator from 'negotiator';

/** In order of preference where the client accepts both equally. */
const FORMS = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'];

/** Undefined for a client that accepts neither. */
export function acceptedType(accept: string | undefined): string | undefined {
  return new Negotiator({ headers: { accept } }).mediaType(FORMS);
}

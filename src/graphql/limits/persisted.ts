/**
 * With PERSISTED_DOCUMENTS=only, the documents that may run are those of a list, each named by its SHA-256: as
 * `documentId`, with or without `sha256:` before it, or as Apollo's clients send it, in
 * `extensions.persistedQuery.sha256Hash`. Anything else is refused before it is read, a `query` that is on the list
 * included.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';

/** A request as its address or its body carries it. */
export interface Asked {
  readonly method: string;
  readonly search: string;
  readonly body: unknown;
}

/** Puts the document that was named in the place of its name. */
export type FindDocument = (asked: Asked) => Asked;

export function openPersistedDocuments(file: string): FindDocument {
  const documents = readList(file);
  return (asked) => {
    const given = asked.method === 'GET' ? inAddress(asked.search) : inBody.safeParse(asked.body).data;
    const query = given?.query == null && documents.get(nameOf(given) ?? '');
    if (!query) throw refuse('VALIDATION_FAILED', { message: LISTED_ALONE });
    const { documentId, extensions, ...rest } = given ?? {};
    return asked.method === 'GET'
      ? { ...asked, search: asAddress({ ...rest, query }) }
      : { ...asked, body: { ...rest, query } };
  };
}

const LISTED_ALONE =
  'This server runs listed documents alone. Send the SHA-256 of one as `documentId` or in `extensions.persistedQuery.sha256Hash`, and no `query`.';

const inBody = z.object({
  query: z.unknown().optional(),
  documentId: z.unknown().optional(),
  operationName: z.unknown().optional(),
  variables: z.unknown().optional(),
  extensions: z
    .object({ persistedQuery: z.object({ sha256Hash: z.unknown().optional() }).nullish() })
    .nullish()
    .catch(null),
});

type Given = z.infer<typeof inBody>;

function inAddress(search: string): Given | undefined {
  const { extensions, ...given } = Object.fromEntries(new URLSearchParams(search));
  return inBody.safeParse({ ...given, extensions: extensions === undefined ? null : parsed(extensions) }).data;
}

function asAddress(parameters: Readonly<Record<string, unknown>>): string {
  return new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  ).toString();
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function nameOf(given: Given | undefined): string | undefined {
  const name = given?.documentId ?? given?.extensions?.persistedQuery?.sha256Hash;
  return typeof name === 'string' ? name.toLowerCase().replace(/^sha256:/, '') : undefined;
}

/** A list that is not what it says it is must not be served from. */
function readList(file: string): ReadonlyMap<string, string> {
  const list = z.record(z.string(), z.string()).safeParse(parsed(textOf(file)));
  if (!list.success) throw new Error(`PERSISTED_DOCUMENTS_FILE: ${file} must hold a JSON object of hash → document.`);
  const entries = Object.entries(list.data).map(([hash, document]) => [hash.toLowerCase(), document] as const);
  const wrong = entries.filter(([hash, document]) => hash !== createHash('sha256').update(document).digest('hex'));
  if (wrong.length > 0)
    throw new Error(
      `PERSISTED_DOCUMENTS_FILE: not the SHA-256 of their documents: ${wrong.map(([hash]) => hash).join(', ')}.`,
    );
  return new Map(entries);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`PERSISTED_DOCUMENTS_FILE: ${file} cannot be read.`, { cause: error });
  }
}

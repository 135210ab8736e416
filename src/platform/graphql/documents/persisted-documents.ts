/**
 * With PERSISTED_DOCUMENTS=only, only listed documents run, on every channel. A request sends the exact text, or names
 * the document by its SHA-256. The name is a `documentId`, with or without `sha256:`, or Apollo's
 * `extensions.persistedQuery.sha256Hash`. Any other request is rejected before parsing.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { cut, refuse } from '../../errors.js';
import { sha256 } from './automatic-query-cache.js';

export interface GraphqlRequest {
  readonly method: string;
  readonly search: string;
  readonly body: unknown;
}

export type FindDocument = (request: GraphqlRequest) => GraphqlRequest;

export function openPersistedDocuments(file: string): FindDocument {
  const documents = readList(file);
  return (request) => {
    const parameters = request.method === 'GET' ? parametersInUrl(request.search) : inBody.safeParse(request.body).data;
    const query = listedDocument(parameters, documents);
    const { documentId, extensions, ...rest } = parameters ?? {};
    return request.method === 'GET'
      ? { ...request, search: asUrlQuery({ ...rest, query }) }
      : { ...request, body: { ...rest, query } };
  };
}

function listedDocument(parameters: RequestParameters | undefined, documents: ReadonlyMap<string, string>): string {
  const { query, ...names } = parameters ?? {};
  const name = nameOf(names);
  if (query == null || query === '') {
    if (name === undefined) throw refuse('VALIDATION_FAILED', { message: LISTED_ALONE });
    const document = documents.get(name);
    if (document === undefined)
      throw refuse('VALIDATION_FAILED', { message: notListed(`with the hash ${cut(name, 100)}`) });
    return document;
  }
  const hash = typeof query === 'string' ? sha256(query) : undefined;
  const document = hash === undefined ? undefined : documents.get(hash);
  if (document === undefined) throw refuse('VALIDATION_FAILED', { message: notListed('with this `query`') });
  if (name !== undefined && name !== hash) throw refuse('VALIDATION_FAILED', { message: TWO_DOCUMENTS });
  return document;
}

const LISTED_ALONE =
  'This server runs only listed documents. Send the document’s SHA-256 as `documentId` or in ' +
  '`extensions.persistedQuery.sha256Hash`, or send the whole document as `query`.';

const TWO_DOCUMENTS =
  'This server runs only listed documents, and the hash doesn’t match the `query`. Send only one of them.';

/** Clients print documents differently, so neither their text nor their hash necessarily matches the list. */
const notListed = (what: string) =>
  `This server runs only listed documents, and its list has no document ${what}. ` +
  'Send the hash from the list, and make sure that the server has the list for the build you deployed.';

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

type RequestParameters = z.infer<typeof inBody>;

function parametersInUrl(search: string): RequestParameters | undefined {
  const { extensions, ...others } = Object.fromEntries(new URLSearchParams(search));
  return inBody.safeParse({ ...others, extensions: extensions === undefined ? null : parseOrNull(extensions) }).data;
}

function asUrlQuery(parameters: Readonly<Record<string, unknown>>): string {
  return new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  ).toString();
}

function parseOrNull(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function nameOf(parameters: RequestParameters | undefined): string | undefined {
  const name = parameters?.documentId ?? parameters?.extensions?.persistedQuery?.sha256Hash;
  return typeof name === 'string' ? plainHash(name) : undefined;
}

function plainHash(name: string): string {
  return name.toLowerCase().replace(/^sha256:/, '');
}

/** The format of graphql-codegen's `persisted-documents.json`: a map from hashes to documents. */
const codegenManifest = z.record(z.string(), z.string());

/** The output format of Apollo's `generate-persisted-query-manifest`. */
const apolloManifest = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  version: z.literal(1),
  operations: z.array(z.object({ id: z.string(), body: z.string() })),
});

const FORMS =
  'must be a list of documents as written by graphql-codegen (persisted-documents.json, a JSON object of SHA-256 → ' +
  'document) or by Apollo’s generate-persisted-query-manifest.';

/** Reads the list. If a hash doesn't match its document, the server must not start. */
function readList(file: string): ReadonlyMap<string, string> {
  const invalidFile = (problem: string) => new Error(`PERSISTED_DOCUMENTS_FILE: ${file} ${problem}`);
  const namedDocuments = entriesIn(parseOrNull(textOf(file)));
  if (!namedDocuments) throw invalidFile(FORMS);
  const entries = namedDocuments.map(([name, document]) => [plainHash(name), document] as const);
  if (entries.some(([hash]) => SHA1.test(hash))) throw invalidFile(NOT_SHA1);
  const wrongHashes = entries.filter(([hash, document]) => hash !== sha256(document)).map(([hash]) => cut(hash, 100));
  if (wrongHashes.length > 0)
    throw invalidFile(
      `has hashes that aren’t the SHA-256 of their documents: ${cut(wrongHashes.slice(0, 5).join(', '))}.`,
    );
  return new Map(entries);
}

/** An Apollo manifest has string members too, but isn't a map of hashes. */
function entriesIn(list: unknown): (readonly [name: string, document: string])[] | undefined {
  const byApollo = apolloManifest.safeParse(list);
  if (byApollo.success) return byApollo.data.operations.map(({ id, body }) => [id, body] as const);
  const byCodegen = codegenManifest.safeParse(list);
  return byCodegen.success ? Object.entries(byCodegen.data) : undefined;
}

const SHA1 = /^(sha1:)?[0-9a-f]{40}$/;
const NOT_SHA1 =
  "names documents by their SHA-1. Set `persistedDocuments: { hashAlgorithm: 'sha256' }` in the presetConfig of " +
  'graphql-codegen’s client preset, and generate it again.';

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`PERSISTED_DOCUMENTS_FILE: ${file} cannot be read.`, { cause: error });
  }
}

/**
 * Automatic persisted queries, as Apollo Client and urql send them. A client first sends only the document's SHA-256,
 * in `extensions.persistedQuery`. If the response is PersistedQueryNotFound, it sends the hash with the document.
 * Clients recognize only that exact message and its code. The server stores the document once it has run, so the hash
 * is enough from then on.
 */
import { z } from 'zod';
import { refuse } from '../../errors.js';
import { jsonInUrl } from '../../http/body.js';
import { sha256, type DocumentCache } from './automatic-query-cache.js';
import type { GraphqlRequest } from './persisted-documents.js';

export interface FoundDocument {
  /** The request with its document filled in. */
  readonly request: GraphqlRequest;
  /** True if the request names its document by hash. A form or a link on another page can't do that. */
  readonly isNamed: boolean;
  /** Stores the document once it has run. Rejected documents aren't kept. */
  keep?(): Promise<void>;
}

export async function findAutomatic(request: GraphqlRequest, documents: DocumentCache): Promise<FoundDocument> {
  const { persistedQuery, ...extensions } = extensionsIn(request);
  if (persistedQuery == null) return { request, isNamed: false };
  const hash = hashIn(persistedQuery);
  const query = queryIn(request);
  if (query == null || query === '') {
    const document = await documents.find(hash);
    if (document === undefined) throw refuse('PERSISTED_QUERY_NOT_FOUND');
    return { request: withDocument(request, document, extensions), isNamed: true };
  }
  if (typeof query === 'string' && sha256(query) !== hash)
    throw refuse('VALIDATION_FAILED', { message: '`sha256Hash` must be the hex-encoded SHA-256 hash of the query.' });
  return {
    request: withDocument(request, query, extensions),
    isNamed: true,
    ...(typeof query === 'string' && { keep: () => documents.keep(hash, query) }),
  };
}

function extensionsIn({ method, search, body }: GraphqlRequest): Readonly<Record<string, unknown>> {
  const extensions = method === 'GET' ? jsonInUrl(new URLSearchParams(search), 'extensions') : inBody(body).extensions;
  return isObject(extensions) ? extensions : {};
}

function queryIn({ method, search, body }: GraphqlRequest): unknown {
  return method === 'GET' ? new URLSearchParams(search).get('query') : inBody(body).query;
}

const persistedQueryForm = z.object({ version: z.literal(1), sha256Hash: z.string().regex(/^[0-9a-f]{64}$/i) });

function hashIn(persistedQuery: unknown): string {
  const form = persistedQueryForm.safeParse(persistedQuery);
  if (form.success) return form.data.sha256Hash.toLowerCase();
  throw refuse('VALIDATION_FAILED', {
    message: 'extensions.persistedQuery must be { version: 1, sha256Hash: <the SHA-256 of the query, in hex> }.',
  });
}

/** Removes the extension that named the document, and keeps the others. */
function withDocument(
  request: GraphqlRequest,
  query: unknown,
  extensions: Readonly<Record<string, unknown>>,
): GraphqlRequest {
  if (request.method !== 'GET') return { ...request, body: { ...inBody(request.body), query, extensions } };
  const parameters = new URLSearchParams(request.search);
  parameters.set('query', String(query));
  parameters.set('extensions', JSON.stringify(extensions));
  return { ...request, search: parameters.toString() };
}

function inBody(body: unknown): Readonly<Record<string, unknown>> {
  return isObject(body) ? body : {};
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

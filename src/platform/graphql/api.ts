/** Passes GraphQL requests over HTTP to Apollo Server, and sends its responses. */
import { ApolloServer, HeaderMap } from '@apollo/server';
import type { GraphQLFormattedError } from 'graphql';
import { z } from 'zod';
import { BODY_BYTES_MAX } from '../caller-limits.js';
import { jsonInUrl, parseJson } from '../http/body.js';
import type { Exchange } from '../http/exchange.js';
import { allowPageScripts } from '../http/browser-headers.js';
import type { Caller } from '../call/caller.js';
import { wantsDryRun, type DryRunEffects } from '../call/dry-run.js';
import type { PlatformServices } from '../call/services.js';
import { waitForSlot } from '../quotas/quotas.js';
import { Refusal, refuse } from '../errors.js';
import { setRateLimitHeaders } from '../http/rate-limit-headers.js';
import { acceptedType, sendRefusal } from './content-type.js';
import { contextOf, type Context, type LoadersFor, type Opening } from './context.js';
import { formatError } from './errors.js';
import { asApolloGateway, createExecutor } from './executor/executor.js';
import { asPlugin, createHooks, type Operations, DISABLED_PLUGINS, OTHER_PLUGINS } from './hooks.js';
import { createKnownDocuments, type HttpAnswer } from './documents/known-documents.js';
import { createLimits } from './limits/document-limits.js';
import type { Measured } from './limits/measure.js';
import { findAutomatic, type FoundDocument } from './documents/automatic-queries.js';
import { createDocumentCache } from './documents/automatic-query-cache.js';
import { openPersistedDocuments, type GraphqlRequest } from './documents/persisted-documents.js';
import { refusalIn } from './limits/refusals.js';
import { openServerSentEvents, type ServerSentEventsOptions } from './streams/server-sent-events.js';
import { createSubscriptions } from './streams/subscriptions.js';
import { openWebSockets, type WebSockets } from './streams/web-sockets.js';

export interface Graph extends Measured {
  readonly operations: Operations;
  readonly loadersFor: LoadersFor;
}

export interface GraphqlSettings {
  introspection: boolean;
  /** True if errors suggest existing names for misspelled ones. */
  suggestions: boolean;
  /** The file that lists the allowed documents. Undefined if every document may run. */
  persistedDocumentsFile: string | undefined;
  /** Redis stores the documents that clients register. Without it, they're only in memory. */
  redisUrl: string | undefined;
  sendPage(this: void, exchange: Exchange): void;
}

export interface GraphqlApi {
  handle(exchange: Exchange, caller: Caller): Promise<void>;
  handleStream(exchange: Exchange, caller: Caller): Promise<void>;
  readonly webSockets: Pick<WebSockets, 'open'>;
  /** Ends every stream. Clients then reconnect to another server. */
  endStreams(): void;
  stop(): Promise<void>;
}

export type StreamSettings = Pick<ServerSentEventsOptions, 'timeouts' | 'unread'>;

export async function openGraphqlApi(
  graph: Graph,
  services: PlatformServices,
  settings: GraphqlSettings,
  streamSettings: StreamSettings,
): Promise<GraphqlApi> {
  const { schema, operations, loadersFor } = graph;
  const limits = createLimits(graph, settings);
  const { persistedDocumentsFile: file, redisUrl } = settings;
  const findPersisted = file === undefined ? undefined : openPersistedDocuments(file);
  const documentCache = createDocumentCache(findPersisted ? undefined : redisUrl);
  const findDocument = async (request: GraphqlRequest): Promise<FoundDocument> =>
    findPersisted ? { request: findPersisted(request), isNamed: true } : findAutomatic(request, documentCache);
  const format = limits.wrapFormat(formatError(services.log));
  const run = createExecutor(schema);
  const hooks = createHooks(limits, format, operations);
  const knownDocuments = createKnownDocuments({ run, hooks, format });
  const plugin = asPlugin(hooks, knownDocuments.keep, limits);
  const server = new ApolloServer<Context>({
    // With `schema` instead of a gateway, Apollo would execute everything with graphql-js.
    gateway: asApolloGateway(schema, run),
    ...limits.options,
    introspection: settings.introspection,
    formatError: format,
    includeStacktraceInErrorResponses: false,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    persistedQueries: false,
    logger: services.log,
    plugins: [...DISABLED_PLUGINS, ...OTHER_PLUGINS, plugin],
  });
  await server.start();
  const mayAnswerDirectly = OTHER_PLUGINS.length === 0;
  const openSubscription = createSubscriptions({
    findDocument,
    execute: executeSubscription,
    format: (error) => format(error.toJSON(), error),
  });
  const webSockets = openWebSockets({ schema, services, openSubscription, ...streamSettings });
  const serverSentEvents = openServerSentEvents({ openSubscription, ...streamSettings });

  async function handle(exchange: Exchange, caller: Caller): Promise<void> {
    if (wantsPage(exchange)) {
      allowPageScripts(exchange);
      return settings.sendPage(exchange);
    }
    const mediaType = acceptedType(exchange.header('accept'));
    let document: FoundDocument;
    try {
      assertGetOrPost(exchange);
      if (mediaType === undefined) return sendRefusal(exchange, unacceptable(), 406);
      const body = exchange.method === 'POST' ? await readGraphql(exchange) : undefined;
      document = await findDocument({ method: exchange.method, search: exchange.search, body });
    } catch (error) {
      if (error instanceof Refusal) return sendRefusal(exchange, error);
      throw error;
    }
    const dryRunHeader = exchange.header('dry-run');
    const execute = () => answer(exchange, contextOf(caller, loadersFor, { dryRunHeader }), document, mediaType);
    const work = wantsDryRun(dryRunHeader) ? caller.withDryRunEnd(execute) : execute();
    const { status, headers, contentType, text } = await work;
    if (status < 400) await document.keep?.();
    const { response } = exchange;
    if (caller.dryRun) response.setHeader('Dry-Run', 'true');
    if (caller.replayed) response.setHeader('Idempotency-Replayed', 'true');
    setRateLimitHeaders(response, caller.rateLimitResults);
    for (const [name, value] of headers) response.setHeader(name, value);
    exchange.send(status, contentType, caller.dryRun ? withEffects(text, caller.dryRun.effects) : text);
  }

  async function handleStream(exchange: Exchange, caller: Caller): Promise<void> {
    assertGetOrPost(exchange);
    const body = exchange.method === 'POST' ? await readGraphql(exchange) : bodyInUrl(exchange.search);
    return serverSentEvents.answer(exchange, caller, body);
  }

  async function executeSubscription(
    caller: Caller,
    body: unknown,
    opening: Opening,
  ): Promise<readonly GraphQLFormattedError[]> {
    const contextValue = contextOf(caller, loadersFor, { opening });
    try {
      await waitForSlot(services.quotas.heavyReads, caller.client);
      const { body: answer } = await server.executeOperation(operationIn(body), { contextValue });
      return (answer.kind === 'single' && answer.singleResult.errors) || [];
    } catch (error) {
      throw refusalIn(error) ?? error;
    }
  }

  async function answer(
    exchange: Exchange,
    context: Context,
    { request, isNamed }: FoundDocument,
    mediaType: string,
  ): Promise<HttpAnswer> {
    const directAnswer = mayAnswerDirectly ? await knownDocuments.answer(request, mediaType, context) : undefined;
    if (directAnswer) return directAnswer;
    await waitForSlot(services.quotas.heavyReads, exchange.client); // Apollo parses and validates the document.
    const {
      status = 200,
      headers,
      body,
    } = await server.executeHTTPGraphQLRequest({
      httpGraphQLRequest: {
        ...request,
        headers: headersOf(exchange, mediaType, isNamed),
        search: request.search && `?${request.search}`,
      },
      context: async () => context,
    });
    if (body.kind !== 'complete') throw new Error('Incremental delivery isn’t supported.');
    return {
      status,
      headers: [...headers].filter(([name]) => name !== 'cache-control' && name !== 'content-type'),
      contentType: mediaType,
      text: status < 400 || status === 503 ? body.string : withRequestId(body.string, exchange),
    };
  }

  function endStreams(): void {
    webSockets.drain();
    serverSentEvents.drain();
  }

  async function stop(): Promise<void> {
    webSockets.close();
    documentCache.close();
    await server.stop();
  }

  return { handle, handleStream, webSockets, endStreams, stop };
}

function assertGetOrPost({ method }: Exchange): void {
  if (method !== 'GET' && method !== 'POST')
    throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: ['GET', 'POST'] } });
}

function unacceptable(): Refusal {
  return refuse('MALFORMED_REQUEST', {
    message: 'The response is JSON. Send Accept: application/json or application/graphql-response+json.',
  });
}

const operationForm = z.object({
  query: z.string().nullish(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  extensions: z.record(z.string(), z.unknown()).nullish(),
});

/** Reads the operation from a body. Apollo makes the same checks for requests that skip this function. */
function operationIn(body: unknown) {
  const { data, error } = operationForm.safeParse(body);
  if (error)
    throw refuse('MALFORMED_REQUEST', {
      message: '`query` and `operationName` must be strings; `variables` and `extensions` must be objects.',
    });
  const { query, operationName, variables, extensions } = data;
  return {
    query: query ?? undefined,
    operationName: operationName ?? undefined,
    variables: variables ?? undefined,
    extensions: extensions ?? undefined,
  };
}

function bodyInUrl(search: string): unknown {
  const parameters = new URLSearchParams(search);
  return {
    ...Object.fromEntries(parameters),
    variables: jsonInUrl(parameters, 'variables'),
    extensions: jsonInUrl(parameters, 'extensions'),
  };
}

async function readGraphql(exchange: Exchange): Promise<unknown> {
  const body = await exchange.body(BODY_BYTES_MAX);
  await exchange.waitToParse(body);
  // Apollo's own error best explains an empty body: a preflight or a missing query.
  if (body.length === 0) return undefined;
  const json = parseJson(body, exchange.header('content-type'));
  if (Array.isArray(json))
    throw refuse('MALFORMED_REQUEST', { message: 'Send one operation per request. Batches aren’t accepted.' });
  if (typeof json !== 'object' || json === null)
    throw refuse('MALFORMED_REQUEST', { message: 'The body must be a JSON object with a `query`.' });
  return json;
}

/** A plugin couldn't add the ID, because Apollo rejects some requests before it calls plugins. */
function withRequestId(body: string, { requestId, record }: Exchange): string {
  const { errors, ...answer }: { errors?: { extensions?: object }[] } = JSON.parse(body);
  record.addErrors(errors ?? []);
  return `${JSON.stringify({
    ...(errors && { errors: errors.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } })) }),
    ...answer,
  })}\n`;
}

function withEffects(body: string, dryRun: DryRunEffects): string {
  const { extensions, ...answer }: { extensions?: object } = JSON.parse(body);
  return `${JSON.stringify({ ...answer, extensions: { ...extensions, dryRun } })}\n`;
}

function wantsPage(exchange: Exchange): boolean {
  return (
    (exchange.method === 'GET' || exchange.method === 'HEAD') &&
    exchange.search === '' &&
    (exchange.header('accept') ?? '').includes('text/html')
  );
}

/**
 * Apollo rejects a GET that any web page could send without a preflight. urql sends such GETs, with hashes. They're
 * safe, because this API uses no cookies, so a GET that names its document by hash is allowed.
 */
function headersOf(exchange: Exchange, mediaType: string, isNamed: boolean): HeaderMap {
  const headers = new HeaderMap();
  if (isNamed) headers.set('apollo-require-preflight', 'named by its hash');
  for (const [name, value] of Object.entries(exchange.request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  headers.set('accept', mediaType);
  return headers;
}

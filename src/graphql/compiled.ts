/**
 * Documents that come again are compiled: the second time a document is seen, a plan is made of it, and from then on a
 * request that brings it is answered by that plan alone, without Apollo's own steps for each request. What the plan
 * does not cover is left to graphql-js, which also puts every refused variable into words.
 */
import type { ApolloServerPlugin } from '@apollo/server';
import type { DocumentNode, GraphQLFormattedError, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from './context.js';
import { DOCUMENT_CHARACTERS_KEPT, type Costs } from './limits.js';
import { mutationsIn } from './limits/shape.js';
import { planOf, type Run } from './plan.js';
import { applyHeaders } from './request-headers.js';

type FormatError = (formatted: GraphQLFormattedError, thrown: unknown) => GraphQLFormattedError;

/** An operation of a compiled document, ready to be run with a caller's variables. */
interface Ready {
  readonly run: Run;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly mutations: readonly string[];
}

interface Answer {
  readonly data: Record<string, unknown> | null;
  readonly errors?: GraphQLFormattedError[];
  readonly cost: number;
}

export interface CompiledDocuments {
  /** Sees what Apollo runs, and compiles what it sees again. */
  readonly plugin: ApolloServerPlugin<Context>;
  /** Undefined for whatever Apollo has to answer, or to refuse; nothing has run then. */
  answer(body: unknown, context: () => Context): Promise<Answer | undefined>;
}

const COMPILED_AT_SIGHT = 2;
const NEVER = Number.NEGATIVE_INFINITY;

export function compiledDocuments(schema: GraphQLSchema, costs: Costs, formatError: FormatError): CompiledDocuments {
  const sights = new WeakMap<OperationDefinitionNode, number>();
  /** By the document's text, and then by the name of the operation in it. */
  const known = new LRUCache<string, Map<string | undefined, Ready>>({
    maxSize: DOCUMENT_CHARACTERS_KEPT,
    maxEntrySize: DOCUMENT_CHARACTERS_KEPT / 20,
    sizeCalculation: (_, query) => 1 + query.length,
  });

  function see(
    query: string,
    name: string | undefined,
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): void {
    const times = (sights.get(operation) ?? 0) + 1;
    sights.set(operation, times);
    if (times < COMPILED_AT_SIGHT || known.get(query)?.has(name)) return;
    // Several mutations run one after the other, and only as long as none is refused.
    const mutations = mutationsIn(document, operation);
    const run = mutations.length > 1 ? undefined : planOf(schema, document, operation);
    if (!run) return void sights.set(operation, NEVER);
    const ofQuery = known.get(query) ?? new Map<string | undefined, Ready>();
    known.set(query, ofQuery.set(name, { run, document, operation, mutations }));
  }

  return {
    plugin: {
      requestDidStart: async () => ({
        executionDidStart: async ({ request, document, operation }) => {
          // Apollo begins to execute even where nothing bears the name that was asked for, whatever its types say.
          const asked = operation as OperationDefinitionNode | null;
          if (asked && request.query !== undefined) see(request.query, request.operationName, document, asked);
        },
      }),
    },
    answer: async (body, contextOf) => {
      const sent = isPlain(body) ? body : undefined;
      const ready = sent && known.get(sent.query)?.get(sent.operationName ?? undefined);
      if (!ready) return undefined;
      const variables = sent.variables ?? {};
      const cost = costs.of(ready.document, ready.operation, variables);
      if (cost > costs.max) return undefined;
      const context = contextOf();
      applyHeaders(context, ready.mutations);
      const result = await ready.run(context, variables);
      if (!result) return undefined;
      const { data, errors } = result;
      return {
        data,
        cost,
        ...(errors.length > 0 && { errors: errors.map((error) => formatError(error.toJSON(), error)) }),
      };
    },
  };
}

/** A body that is as every client's library sends it; whatever else may be in one is Apollo's to judge. */
interface Sent {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: Record<string, unknown> | null;
}

function isPlain(body: unknown): body is Sent {
  if (!isObject(body) || typeof body.query !== 'string') return false;
  const { operationName, variables, extensions } = body;
  return (
    (operationName == null || (typeof operationName === 'string' && operationName !== '')) &&
    (variables == null || isObject(variables)) &&
    (extensions == null || (isObject(extensions) && !('persistedQuery' in extensions)))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

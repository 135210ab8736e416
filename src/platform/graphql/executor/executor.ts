/**
 * Executes GraphQL documents with plans. An operation's plan is created on its first run and determines how each field
 * is resolved and serialized. If a plan doesn't cover an operation, or a variable is rejected, graphql-js executes it.
 * README.md in this folder lists the guarantees and how they're checked.
 */
import type { ApolloServerOptionsWithGateway } from '@apollo/server';
import {
  execute,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
  createSourceEventStream,
} from 'graphql';
import { type Context, contextOf } from '../context.js';
import { planOf, type Plan } from './plan.js';

export interface OperationRequest {
  readonly document: DocumentNode;
  /** Undefined if the document has no operation with this name. */
  readonly operation: OperationDefinitionNode | undefined;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown> | undefined;
  readonly context: Context;
}

export type RunOperation = (request: OperationRequest) => Promise<ExecutionResult<Record<string, unknown>>>;

export function createExecutor(schema: GraphQLSchema): RunOperation {
  /** Each plan lives as long as its document, which Apollo caches. */
  const plans = new WeakMap<OperationDefinitionNode, Plan | 'none'>();

  function planFor({ document, operation }: OperationRequest): Plan | undefined {
    if (!operation) return undefined;
    const plan = plans.get(operation) ?? planOf(schema, document, operation) ?? 'none';
    plans.set(operation, plan);
    return plan === 'none' ? undefined : plan;
  }

  return async (request) => {
    const { document, operation, operationName, variables, context } = request;
    if (operation?.operation === 'subscription') return openSource(schema, request);
    const result = planFor(request)?.(context, variables ?? {});
    return result ?? execute({ schema, document, contextValue: context, variableValues: variables, operationName });
  };
}

type ApolloGateway = ApolloServerOptionsWithGateway<Context>['gateway'];

/** Apollo accepts another executor only as a gateway. Its plugins still see every step. */
export function asApolloGateway(schema: GraphQLSchema, run: RunOperation): ApolloGateway {
  let onSchemaLoad: Parameters<ApolloGateway['onSchemaLoadOrUpdate']>[0] | undefined;
  return {
    onSchemaLoadOrUpdate: (callback) => {
      onSchemaLoad = callback;
      return () => undefined;
    },
    load: async () => {
      onSchemaLoad?.({ apiSchema: schema, coreSupergraphSdl: '' });
      return {
        executor: ({ document, operation, request, context }) =>
          run({
            document,
            operation,
            operationName: request.operationName,
            variables: request.variables,
            // Apollo's gateways don't type the context. The API created this one.
            context: context as unknown as Context,
          }),
      };
    },
    stop: async () => undefined,
  };
}

/**
 * Opens a subscription's source. Returns only errors if that fails. Subscriptions run on graphql-js, which executes the
 * document for each event.
 */
export async function openSource(
  schema: GraphQLSchema,
  request: Omit<OperationRequest, 'operation'>,
): Promise<ExecutionResult> {
  const { document, operationName, variables, context } = request;
  const args = { schema, document, operationName, variableValues: variables };
  const source = await createSourceEventStream({ ...args, contextValue: context });
  if (!(Symbol.asyncIterator in source)) return source;
  const { caller, loadersFor } = context;
  context.opening?.answerWith((event) =>
    execute({ ...args, rootValue: event, contextValue: contextOf(caller, loadersFor) }),
  );
  return { data: null };
}

/**
 * Executes all GraphQL documents on this server. On its first execution, an operation gets a plan that determines how
 * each field is resolved and serialized. graphql-js executes operations that a plan doesn't cover, and reports every
 * rejected variable. This folder's README.md lists the guarantees and how they are checked.
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

/** An operation to execute. Its document has been parsed and validated. */
export interface OperationRequest {
  readonly document: DocumentNode;
  /** Undefined if the document has no operation with the requested name. */
  readonly operation: OperationDefinitionNode | undefined;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown> | undefined;
  readonly context: Context;
}

export type RunOperation = (request: OperationRequest) => Promise<ExecutionResult<Record<string, unknown>>>;

export function createExecutor(schema: GraphQLSchema): RunOperation {
  /** Apollo keeps the documents that it has validated. Each plan is kept as long as its document. */
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

/** A gateway is Apollo's way to accept another executor. Apollo's plugins still see every step of every operation. */
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
            // Apollo's gateways have no type for the context. This is the context that the API created.
            context: context as unknown as Context,
          }),
      };
    },
    stop: async () => undefined,
  };
}

/** graphql-js executes subscriptions: it opens their source and executes the document for each event. */
interface SubscriptionRequest {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown> | undefined;
  readonly context: Context;
}

/** Opens a subscription's source. Returns the errors if the stream couldn't be opened, and no data otherwise. */
export async function openSource(schema: GraphQLSchema, request: SubscriptionRequest): Promise<ExecutionResult> {
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

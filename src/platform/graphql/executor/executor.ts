/**
 * Executes all GraphQL documents of this server. An operation gets a plan on its first execution, which determines how
 * each field is resolved and serialized; graphql-js executes the operations that a plan does not cover, and reports
 * every refused variable. README.md of this folder lists what is promised and how it is checked.
 */
import type { ApolloServerOptionsWithGateway } from '@apollo/server';
import {
  execute,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { Context } from '../context.js';
import { planOf, type Plan } from './plan.js';
import { openSource } from './subscribe.js';

/** An operation to execute; its document has been parsed and validated. */
export interface OperationRequest {
  readonly document: DocumentNode;
  /** Undefined where the document has no operation of the requested name. */
  readonly operation: OperationDefinitionNode | undefined;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown> | undefined;
  readonly context: Context;
}

export type RunOperation = (request: OperationRequest) => Promise<ExecutionResult<Record<string, unknown>>>;

export function createExecutor(schema: GraphQLSchema): RunOperation {
  /** Apollo keeps the documents that it has validated; the plan of each operation is kept as long. */
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

/**
 * Passes the executor to Apollo as a gateway, which is how Apollo accepts one in place of graphql-js. Apollo does
 * everything else as usual, so that its plugins get every step of every call.
 */
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
            // Apollo's gateways have no type for the context; it is the one that the API made.
            context: context as unknown as Context,
          }),
      };
    },
    stop: async () => undefined,
  };
}

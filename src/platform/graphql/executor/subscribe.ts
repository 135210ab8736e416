/** graphql-js executes subscriptions: it opens their source and executes the document for each event. */
import { createSourceEventStream, execute, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { contextOf, type Context } from '../context.js';

interface SubscriptionRequest {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown> | undefined;
  readonly context: Context;
}

/** The first result for the channel: the errors of a stream that couldn't be opened, or no data yet. */
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

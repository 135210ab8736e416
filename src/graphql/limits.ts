/**
 * The limits of a GraphQL request. A request above one of them is refused before anything of it runs: by the length of
 * its document while that is parsed, by its shape while it is validated, and by its cost once the variables give the
 * lengths of the lists.
 */
import type { ApolloServerOptionsWithSchema } from '@apollo/server';
import { InMemoryLRUCache } from '@apollo/utils.keyvaluecache';
import {
  GraphQLError,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { refuse } from '../rules/errors.js';
import { DOCUMENT_CACHE_CHARACTERS_MAX, ERRORS, GRAPHQL_LIMITS } from '../rules/limits.js';
import type { LimitCheck, Context } from './context.js';
import { costOf, type Cost } from './limits/cost.js';
import { limitError, refusalIn } from './limits/refusals.js';
import { shapeRule } from './limits/shape.js';
import { wrongVariables } from './limits/variables.js';

type Options = ApolloServerOptionsWithSchema<Context>;
type FormatError = NonNullable<Options['formatError']>;

export interface Limits {
  readonly options: Pick<Options, 'parseOptions' | 'validationRules' | 'validationOptions' | 'documentStore'>;
  /** The cost of an operation, and the reasons why it may not run. */
  check(operation: OperationToCheck): LimitCheck;
  /** Formats an error about a limit as the refusal of that limit, and removes suggestions of names from the schema. */
  wrapFormat(format: FormatError): FormatError;
}

/** An operation of a valid document, before it runs. */
interface OperationToCheck {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly isStream: boolean;
}

export interface LimitSettings {
  /** Whether errors about a misspelt name suggest existing names. */
  suggestions: boolean;
}

export function createLimits(schema: GraphQLSchema, { suggestions }: LimitSettings): Limits {
  const costOfOperation = memoizeCosts(schema);
  return {
    options: {
      parseOptions: { maxLexicalTokens: GRAPHQL_LIMITS.tokens },
      validationRules: [shapeRule],
      // After the last of them GraphQL adds an error that there are more.
      validationOptions: { hideSuggestions: !suggestions, maxErrors: ERRORS.perAnswerMax - 1 },
      documentStore: new InMemoryLRUCache<DocumentNode>({
        maxSize: DOCUMENT_CACHE_CHARACTERS_MAX,
        sizeCalculation: ({ loc }) => 1 + (loc?.end ?? 0),
      }),
    },
    check: ({ document, operation, variables, isStream }) => {
      const refusal = wrongAddress(operation, isStream);
      if (refusal) return { refusals: [refusal] };
      const operationCost = costOfOperation(document, operation, variables);
      const { cost: max } = GRAPHQL_LIMITS;
      const cost = { requested: operationCost, max, remaining: Math.max(max - operationCost, 0) };
      if (operationCost > max) return { cost, refusals: [limitError('cost', operationCost, operation)] };
      return { cost, refusals: wrongVariables(schema, operation, variables, { suggestions }) };
    },
    wrapFormat: (format) => (formattedError, originalError) => {
      const error = format(formattedError, refusalIn(originalError) ?? originalError);
      return suggestions ? error : withoutSuggestions(error);
    },
  };
}

/**
 * Refuses a subscription that is sent to the address of requests, and a query or mutation that is sent to the address
 * of streams.
 */
function wrongAddress({ operation }: OperationDefinitionNode, isStream: boolean): GraphQLError | undefined {
  if ((operation === 'subscription') === isStream) return undefined;
  const refusal = refuse('VALIDATION_FAILED', { message: isStream ? SUBSCRIPTIONS_ALONE : NO_SUBSCRIPTIONS });
  return new GraphQLError(refusal.message, {
    originalError: refusal,
    extensions: { http: { status: refusal.status } },
  });
}

const SUBSCRIPTIONS_ALONE = 'Streams are for subscriptions alone; send queries and mutations by POST to /graphql.';
const NO_SUBSCRIPTIONS =
  'A subscription is a stream: open it by a WebSocket to /graphql (graphql-transport-ws), or as server-sent events ' +
  'from /graphql/stream.';

function memoizeCosts(schema: GraphQLSchema) {
  // The cost of a document is kept as long as Apollo keeps the validated document.
  const costs = new WeakMap<OperationDefinitionNode, Cost>();
  return (
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: OperationToCheck['variables'],
  ): number => {
    const cost = costs.get(operation) ?? costOf(schema, document, operation);
    costs.set(operation, cost);
    return typeof cost === 'number' ? cost : cost(variables);
  };
}

/** Variables are coerced while executing, where Apollo passes no options on. */
function withoutSuggestions(error: GraphQLFormattedError): GraphQLFormattedError {
  const { message } = error;
  const at = message.endsWith('?') ? message.indexOf(' Did you mean ') : -1;
  return at < 0 ? error : { ...error, message: message.slice(0, at) };
}

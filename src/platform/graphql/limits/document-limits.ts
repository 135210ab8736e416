/**
 * Refuses a request that exceeds a limit before any part of it runs. Lines are checked before parsing, tokens during
 * it, selections during validation, and the document's shape after it. The cost also depends on the variables, which
 * hold the lists' lengths.
 */
import type { ApolloServerOptionsWithSchema } from '@apollo/server';
import { InMemoryLRUCache } from '@apollo/utils.keyvaluecache';
import type { DocumentNode, GraphQLError, GraphQLFormattedError, OperationDefinitionNode } from 'graphql';
import { ERRORS, GRAPHQL_LIMITS } from '../../caller-limits.js';
import { DOCUMENT_CACHE_CHARACTERS_MAX } from '../../service-limits.js';
import type { LimitCheck, Context } from '../context.js';
import { measureOperation, UNCONDITIONAL, type Measure, type Measured } from './measure.js';
import { limitErrorsIn, refusalError, refusalIn } from './refusals.js';
import { wrongVariables } from './variables.js';

type Options = ApolloServerOptionsWithSchema<Context>;
type FormatError = NonNullable<Options['formatError']>;

export interface Limits {
  readonly options: Pick<Options, 'parseOptions' | 'maxRecursiveSelections' | 'validationOptions' | 'documentStore'>;
  /** Measures a valid document's operation. The result lives as long as the document. */
  measure(document: DocumentNode, operation: OperationDefinitionNode): Measure;
  check(operation: OperationToCheck): LimitCheck;
  assertFewLines(source: string): void;
  /** The refusal for an error that a GraphQL rule threw. Undefined if the document didn't cause it. */
  refusalOfThrown(error: Error): GraphQLError | undefined;
  /** Formats errors about limits as refusals, and removes suggestions of names from the schema. */
  wrapFormat(format: FormatError): FormatError;
}

interface OperationToCheck {
  readonly operation: OperationDefinitionNode;
  readonly measure: Measure;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly isStream: boolean;
}

export interface LimitSettings {
  suggestions: boolean;
}

export function createLimits(measured: Measured, { suggestions }: LimitSettings): Limits {
  const measures = new WeakMap<OperationDefinitionNode, Measure>();
  return {
    options: {
      parseOptions: { maxLexicalTokens: GRAPHQL_LIMITS.tokens },
      maxRecursiveSelections: GRAPHQL_LIMITS.selections,
      // After this many errors, GraphQL adds one that says there are more.
      validationOptions: { hideSuggestions: !suggestions, maxErrors: ERRORS.perAnswerMax - 1 },
      documentStore: new InMemoryLRUCache<DocumentNode>({
        maxSize: DOCUMENT_CACHE_CHARACTERS_MAX,
        sizeCalculation: ({ loc }) => 1 + (loc?.end ?? 0),
      }),
    },
    measure: (document, operation) => {
      const measure = measures.get(operation) ?? measureOperation(measured, document, operation);
      measures.set(operation, measure);
      return measure;
    },
    check: ({ operation, measure, variables, isStream }) => {
      const refusal = wrongPath(operation, isStream);
      if (refusal) return { refusals: [refusal] };
      const requested = measure.cost(variables);
      const { cost: max } = GRAPHQL_LIMITS;
      const cost = { requested, max, remaining: Math.max(max - requested, 0) };
      const tooCostly = limitErrorsIn({ cost: requested }, operation);
      if (tooCostly.length > 0) return { cost, refusals: tooCostly };
      return { cost, refusals: wrongVariables(measured.schema, operation, variables, { suggestions }) };
    },
    assertFewLines: (source) => {
      const [error] = limitErrorsIn({ lines: (source.match(/\r\n|[\n\r]/g)?.length ?? 0) + 1 });
      if (error) throw error;
    },
    refusalOfThrown,
    wrapFormat: (format) => (formattedError, originalError) => {
      const error = format(formattedError, refusalIn(originalError) ?? originalError);
      return suggestions ? error : withoutSuggestions(error);
    },
  };
}

/** Refuses subscriptions on the request path, and queries and mutations on the stream path. */
function wrongPath({ operation }: OperationDefinitionNode, isStream: boolean): GraphQLError | undefined {
  if ((operation === 'subscription') === isStream) return undefined;
  return refusalError(isStream ? SUBSCRIPTIONS_ALONE : NO_SUBSCRIPTIONS);
}

const SUBSCRIPTIONS_ALONE = 'Streams are only for subscriptions. Send queries and mutations by POST to /graphql.';
const NO_SUBSCRIPTIONS =
  'Open a subscription with a WebSocket to /graphql (graphql-transport-ws), or with server-sent events from ' +
  '/graphql/stream.';

/**
 * GraphQL's rules overflow the stack if fragments spread each other in a circle below a field. They also throw if they
 * can't evaluate the condition of a subscription's field.
 */
function refusalOfThrown(error: Error): GraphQLError | undefined {
  if (refusalIn(error)) return error as GraphQLError;
  if (error instanceof RangeError) return refusalError(NESTED_TOO_DEEPLY);
  return error.message.startsWith('Argument "if" ') ? refusalError(UNCONDITIONAL) : undefined;
}

const NESTED_TOO_DEEPLY =
  'The operation is nested too deeply, or its fragments refer to each other in a circle. Split it into several ' +
  'requests.';

/**
 * Apollo doesn't pass options on to execution, which checks the variables. So this removes the suggestions afterward.
 */
function withoutSuggestions(error: GraphQLFormattedError): GraphQLFormattedError {
  const { message } = error;
  const at = message.endsWith('?') ? message.indexOf(' Did you mean ') : -1;
  return at < 0 ? error : { ...error, message: message.slice(0, at) };
}

/**
 * A request that exceeds a limit is refused before any part of it runs. The document's lines are checked before
 * parsing, its tokens during parsing, its selections during validation, and its shape after validation. Its cost is
 * checked once the variables are known, because they contain the lengths of the lists.
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
  /** Measures what an operation of a valid document requests. The result is kept as long as the document. */
  measure(document: DocumentNode, operation: OperationDefinitionNode): Measure;
  check(operation: OperationToCheck): LimitCheck;
  assertFewLines(source: string): void;
  /** The refusal for an error that a GraphQL rule threw. Undefined if the document didn't cause the error. */
  refusalOfThrown(error: Error): GraphQLError | undefined;
  /** Formats an error about a limit as that limit's refusal, and removes suggestions of names from the schema. */
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
      // After the last reported error, GraphQL adds an error that says that there are more.
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
      const refusal = wrongAddress(operation, isStream);
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

/** Refuses a subscription sent to the path for requests, and a query or mutation sent to the path for streams. */
function wrongAddress({ operation }: OperationDefinitionNode, isStream: boolean): GraphQLError | undefined {
  if ((operation === 'subscription') === isStream) return undefined;
  return refusalError(isStream ? SUBSCRIPTIONS_ALONE : NO_SUBSCRIPTIONS);
}

const SUBSCRIPTIONS_ALONE = 'Streams are only for subscriptions. Send queries and mutations by POST to /graphql.';
const NO_SUBSCRIPTIONS =
  'Open a subscription with a WebSocket to /graphql (graphql-transport-ws), or with server-sent events from ' +
  '/graphql/stream.';

/**
 * GraphQL's rules overflow the stack if fragments below a field spread each other in a circle. The rules also throw if
 * they can't evaluate the condition of a subscription's field.
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
 * Removes suggestions of names here, because Apollo doesn't pass options on to execution, which coerces the variables.
 */
function withoutSuggestions(error: GraphQLFormattedError): GraphQLFormattedError {
  const { message } = error;
  const at = message.endsWith('?') ? message.indexOf(' Did you mean ') : -1;
  return at < 0 ? error : { ...error, message: message.slice(0, at) };
}

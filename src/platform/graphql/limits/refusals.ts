/** The refusals of limits. Each names the limit, what was found, what is allowed, and what to do instead. */
import { GraphQLError, type ASTNode } from 'graphql';
import { Refusal, refuse, type PlatformCode } from '../../errors.js';
import { GRAPHQL_LIMITS } from '../../caller-limits.js';

export type Limit = keyof typeof GRAPHQL_LIMITS;

const COST_IN_WORDS =
  'An object costs 1, a text 3 for each 1,000 characters that it may have, and a list its `first` (20 by default) ' +
  'times its nodes: ask for fewer at a time, or without the long texts.';

const WORDS: Readonly<Record<Limit, readonly [code: PlatformCode, unit: string, instead: string]>> = {
  tokens: ['MALFORMED_REQUEST', 'tokens', 'Send values as variables, and a long query in parts.'],
  lines: ['VALIDATION_FAILED', 'lines', 'Leave out comments and empty lines.'],
  nameCharacters: [
    'VALIDATION_FAILED',
    'characters in a name',
    'Give operations, fragments, variables and aliases shorter names.',
  ],
  depth: ['VALIDATION_FAILED', 'levels of fields', 'Read what lies deeper by a query of its own.'],
  introspectionDepth: [
    'VALIDATION_FAILED',
    'levels of introspection',
    'The standard introspection query is within the limit.',
  ],
  introspectionAliases: [
    'VALIDATION_FAILED',
    'aliases of or within introspection',
    'The standard introspection query has none.',
  ],
  aliases: ['VALIDATION_FAILED', 'aliases', 'Read lists as lists, and the rest in requests of their own.'],
  rootMutations: ['VALIDATION_FAILED', 'mutations', 'Send the others in requests of their own.'],
  entries: ['VALIDATION_FAILED', 'log-ins and sign-ups', 'Send each in a request of its own.'],
  directives: ['VALIDATION_FAILED', 'directives', 'Leave out what is not wanted, or put it into one fragment.'],
  selections: [
    'VALIDATION_FAILED',
    'selections, counting a fragment at each use',
    'Spread each fragment where it is needed alone.',
  ],
  repeats: [
    'VALIDATION_FAILED',
    'comparisons of fields that are selected more than once',
    'Select each field of an object once, or send the parts in requests of their own.',
  ],
  cost: ['VALIDATION_FAILED', 'points of cost', COST_IN_WORDS],
};

/** The errors for all counts above their limits. */
export function limitErrorsIn(counts: Partial<Record<Limit, number>>, nodes?: ASTNode): GraphQLError[] {
  return (Object.entries(counts) as [Limit, number][])
    .filter(([limit, count]) => count > GRAPHQL_LIMITS[limit])
    .map(([limit, count]) => limitError(limit, count, nodes));
}

function limitError(limit: Limit, count: number, nodes: ASTNode | undefined): GraphQLError {
  return errorOf(refusalOf(limit, count, formatNumber(count)), nodes);
}

/** An operation that may not be sent this way. */
export function refusalError(message: string, nodes?: ASTNode): GraphQLError {
  return errorOf(refuse('VALIDATION_FAILED', { message }), nodes);
}

/** In the form that makes Apollo respond with the refusal's own status. */
function errorOf(refusal: Refusal, nodes: ASTNode | undefined): GraphQLError {
  const { message, status } = refusal;
  return new GraphQLError(message, { nodes, originalError: refusal, extensions: { http: { status } } });
}

/** The refusal for an error that GraphQL or Apollo throws about a limit. Undefined for any other error. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof GraphQLError)) return undefined;
  if (error.originalError instanceof Refusal) return error.originalError;
  if (TOO_MANY_TOKENS.test(error.message)) return beyond('tokens');
  if (error.extensions.validationErrorCode === 'MAX_RECURSIVE_SELECTIONS_EXCEEDED') return beyond('selections');
  if (error.extensions.validationErrorCode === 'INTROSPECTION_DISABLED')
    return refuse('VALIDATION_FAILED', { message: INTROSPECTION_IS_OFF });
  return undefined;
}

const TOO_MANY_TOKENS = /^Syntax Error: Document contains more tha[nt] \d+ tokens/;
const INTROSPECTION_IS_OFF =
  'This server does not answer introspection: `__schema` and `__type` cannot be queried. `__typename` can.';

/** GraphQL and Apollo don't say how far a limit is exceeded. */
function beyond(limit: Limit): Refusal {
  const count = GRAPHQL_LIMITS[limit] + 1;
  return refusalOf(limit, count, `at least ${formatNumber(count)}`);
}

function refusalOf(limit: Limit, count: number, countInWords: string): Refusal {
  const [code, unit, instead] = WORDS[limit];
  const max = GRAPHQL_LIMITS[limit];
  return refuse(code, {
    message: `The operation has ${countInWords} ${unit}; at most ${formatNumber(max)} may be sent. ${instead}`,
    details: { limit, max, found: count },
  });
}

/** Created once, because creating it takes longer than the rest of a refusal. */
const NUMBERS = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

function formatNumber(number: number): string {
  return NUMBERS.format(number);
}

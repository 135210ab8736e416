/** The refusals for exceeded limits. Each names the limit, the actual and allowed values, and what to do instead. */
import { GraphQLError, type ASTNode } from 'graphql';
import { Refusal, refuse, type PlatformCode } from '../../errors.js';
import { GRAPHQL_LIMITS } from '../../caller-limits.js';

export type Limit = keyof typeof GRAPHQL_LIMITS;

const COST_IN_WORDS =
  'An object costs 1. A string costs 3 per 1,000 characters that it can have. A list costs `first` (20 by default) ' +
  'times the cost of its nodes. Request fewer entries, or leave out long strings.';

const WORDS: Readonly<Record<Limit, readonly [code: PlatformCode, unit: string, instead: string]>> = {
  tokens: ['MALFORMED_REQUEST', 'tokens', 'Send values as variables, and split a long query.'],
  lines: ['VALIDATION_FAILED', 'lines', 'Leave out comments and empty lines.'],
  nameCharacters: [
    'VALIDATION_FAILED',
    'characters in a name',
    'Give operations, fragments, variables and aliases shorter names.',
  ],
  depth: ['VALIDATION_FAILED', 'levels of fields', 'Read the deeper levels in a separate query.'],
  introspectionDepth: [
    'VALIDATION_FAILED',
    'levels of introspection',
    'The standard introspection query is within the limit.',
  ],
  introspectionAliases: [
    'VALIDATION_FAILED',
    'aliases in introspection',
    'The standard introspection query doesn’t use aliases.',
  ],
  aliases: ['VALIDATION_FAILED', 'aliases', 'Use lists instead of aliases, or split the request.'],
  rootMutations: ['VALIDATION_FAILED', 'mutations', 'Send the others in separate requests.'],
  entries: ['VALIDATION_FAILED', 'logins and signups', 'Send each in a separate request.'],
  directives: [
    'VALIDATION_FAILED',
    'directives',
    'Leave out the fields that you don’t want, or put them into one fragment.',
  ],
  selections: [
    'VALIDATION_FAILED',
    'selections, counting a fragment each time it’s used',
    'Spread each fragment only where you need it.',
  ],
  repeats: [
    'VALIDATION_FAILED',
    'comparisons of repeated fields',
    'Select each field of an object once, or split the request.',
  ],
  cost: ['VALIDATION_FAILED', 'cost points', COST_IN_WORDS],
};

export function limitErrorsIn(counts: Partial<Record<Limit, number>>, nodes?: ASTNode): GraphQLError[] {
  return (Object.entries(counts) as [Limit, number][])
    .filter(([limit, count]) => count > GRAPHQL_LIMITS[limit])
    .map(([limit, count]) => limitError(limit, count, nodes));
}

function limitError(limit: Limit, count: number, nodes: ASTNode | undefined): GraphQLError {
  return errorOf(refusalOf(limit, count, formatNumber(count)), nodes);
}

export function refusalError(message: string, nodes?: ASTNode): GraphQLError {
  return errorOf(refuse('VALIDATION_FAILED', { message }), nodes);
}

/** In this form, Apollo responds with the refusal's own status. */
function errorOf(refusal: Refusal, nodes: ASTNode | undefined): GraphQLError {
  const { message, status } = refusal;
  return new GraphQLError(message, { nodes, originalError: refusal, extensions: { http: { status } } });
}

/** The refusal for an error about a limit that GraphQL or Apollo threw. Undefined for other errors. */
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
  'Introspection is turned off on this server. You can query `__typename`, but not `__schema` or `__type`.';

/** The refusal for a limit that GraphQL or Apollo checks. Their errors lack the actual value. */
function beyond(limit: Limit): Refusal {
  const count = GRAPHQL_LIMITS[limit] + 1;
  return refusalOf(limit, count, `at least ${formatNumber(count)}`);
}

function refusalOf(limit: Limit, count: number, countInWords: string): Refusal {
  const [code, unit, instead] = WORDS[limit];
  const max = GRAPHQL_LIMITS[limit];
  return refuse(code, {
    message: `The operation has ${countInWords} ${unit}. The maximum is ${formatNumber(max)}. ${instead}`,
    details: { limit, max, found: count },
  });
}

/** Created once, because creating a formatter takes longer than the rest of a refusal. */
const NUMBERS = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

function formatNumber(number: number): string {
  return NUMBERS.format(number);
}

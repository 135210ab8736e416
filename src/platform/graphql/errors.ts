/**
 * Formats refusals and failures for `errors[]`. For an unexpected error, callers get only a generic message, and the
 * log gets the details.
 */
import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { Logger } from 'pino';
import { Refusal, PLATFORM_REFUSALS, type PlatformCode, cut } from '../errors.js';
import { ERRORS } from '../caller-limits.js';
import { ERROR_BEYOND_LIMIT, FORMATTED_ERROR_BEYOND_LIMIT } from './failures.js';

const OWN_CODES: Readonly<Record<string, PlatformCode>> = {
  GRAPHQL_PARSE_FAILED: 'MALFORMED_REQUEST',
  GRAPHQL_VALIDATION_FAILED: 'VALIDATION_FAILED',
  BAD_USER_INPUT: 'VALIDATION_FAILED',
  OPERATION_RESOLUTION_FAILURE: 'MALFORMED_REQUEST',
  BAD_REQUEST: 'MALFORMED_REQUEST',
};

export function formatError(log: Logger) {
  return (formattedError: GraphQLFormattedError, error: unknown): GraphQLFormattedError => {
    if (error === ERROR_BEYOND_LIMIT) return FORMATTED_ERROR_BEYOND_LIMIT;
    const cause = unwrapResolverError(error);
    const { locations, path } = formattedError;
    const place = { ...(locations && { locations: locations.slice(0, ERRORS.locationsMax) }), ...(path && { path }) };
    if (cause instanceof Refusal) return { message: cause.message, ...place, extensions: extensionsOf(cause) };

    const { fields } = formattedError.extensions ?? {};
    const own = codeOfStatus(cause) ?? OWN_CODES[String(formattedError.extensions?.code)];
    if (own)
      return {
        message: withoutValues(formattedError.message, reasonIn(cause)),
        ...place,
        extensions: { code: own, status: PLATFORM_REFUSALS[own][0], ...(fields !== undefined && { fields }) },
      };
    if (cause instanceof GraphQLError && cause.originalError === undefined && isAboutValues(cause)) {
      return {
        message: withoutValues(cause.message),
        ...place,
        extensions: { code: 'VALIDATION_FAILED', status: 400 },
      };
    }
    log.error({ err: cause, path }, 'a resolver failed');
    return { message: PLATFORM_REFUSALS.INTERNAL[1], ...place, extensions: { code: 'INTERNAL', status: 500 } };
  };
}

export function extensionsOf(refusal: Refusal): Record<string, unknown> {
  const { code, status, fields, blockedFields, details } = refusal;
  return { code, status, ...(fields && { fields }), ...(blockedFields.length > 0 && { blockedFields }), ...details };
}

function reasonIn(error: unknown): string | undefined {
  return error instanceof GraphQLError ? error.originalError?.message : undefined;
}

/** The code for errors to which Apollo gives only a status: a mutation by GET, and a GET with another Content-Type. */
function codeOfStatus(error: unknown): PlatformCode | undefined {
  const http: unknown = error instanceof GraphQLError ? error.extensions.http : undefined;
  const status = typeof http === 'object' && http !== null && 'status' in http ? http.status : undefined;
  return (['METHOD_NOT_ALLOWED', 'UNSUPPORTED_MEDIA_TYPE'] as const).find(
    (code) => PLATFORM_REFUSALS[code][0] === status,
  );
}

/**
 * True for errors about the value of an argument or variable. graphql-js checks literal arguments only during
 * execution.
 */
function isAboutValues(error: GraphQLError): boolean {
  return /^(Argument |Variable |Too many errors processing variables)/.test(error.message);
}

interface Result {
  readonly data?: Record<string, unknown> | null | undefined;
  readonly errors?: readonly GraphQLFormattedError[] | undefined;
}

/**
 * Returns the seconds until a retry if every root field failed because something is unavailable: the server, the
 * database, or the payment provider. Such a response gets a 503 instead of a 200, so proxies and dashboards count it as
 * an error.
 */
export function retryAfterIfUnavailable({ data, errors = [] }: Result): number | undefined {
  const causes = errors.filter(({ extensions }) => extensions?.status === 503);
  if (causes.length === 0) return undefined;
  const isWholly = data
    ? Object.entries(data).every(([name, value]) => value === null && causes.some(({ path }) => path?.[0] === name))
    : causes.length === errors.length;
  return isWholly ? Math.max(1, ...causes.map(({ extensions }) => Number(extensions?.retryAfter ?? 1))) : undefined;
}

/**
 * Removes the values that GraphQL quotes in its errors. If a login lacked a field, the error would contain the
 * password, and many clients log errors. `reason` is the text that GraphQL appends to a variable's value.
 */
export function withoutValues(message: string, reason = ''): string {
  if (message.startsWith('Maximum call stack')) return 'The query is nested too deeply.';
  if (message.startsWith('This operation has been blocked as a potential Cross-Site')) return SEND_A_POST;
  const name = /^Variable "\$(\w{1,100})" got invalid value /.exec(message.slice(0, 200))?.[1];
  if (name === undefined) return cut(sentence(withoutQuotes(message)));
  const end = message.length - `; ${reason}`.length;
  const place = / at "\w+([\w.[\]]*)"$/.exec(
    message.slice(Math.max(end - PLACE_CHARACTERS_MAX, 0), Math.max(end, 0)),
  )?.[1];
  return refusedVariable(name, place === undefined ? '' : `${name}${place}`, reason);
}

const SEND_A_POST =
  'Send a POST with Content-Type: application/json and a body such as {"query": "{ catalog { categories } }"}.';

/** Names the part of the variable that has the problem. */
export function aboutVariable(name: string, path: readonly (string | number)[], reason: string): string {
  const steps = path.map((step) =>
    typeof step === 'number' ? `[${step}]` : `.${cut(step, ERRORS.nameCharactersMax)}`,
  );
  return refusedVariable(name, path.length === 0 ? '' : `${name}${steps.join('')}`, reason);
}

function refusedVariable(name: string, place: string, reason: string): string {
  const where = place && ` at ${cut(place, PLACE_CHARACTERS_MAX)}`;
  return cut(sentence(`Variable "$${name}" is not valid${where}${reason && `: ${withoutQuotes(reason)}`}`));
}

const PLACE_CHARACTERS_MAX = 300;

/** Longer messages are cut anyway. Searching a caller's whole text for values would take seconds. */
const SEARCHED_CHARACTERS_MAX = 2 * ERRORS.textCharactersMax;

const QUOTES: readonly RegExp[] = [
  /(?<= cannot represent [^:]*value): .*/s,
  /(?<=^Expected value of type "[^"]*"), found .*/s,
  /(?<=^Argument "\w+" has invalid value) .*/s,
  /(?<=^Syntax Error: .*\b(String|BlockString|Int|Float)) ".*/s,
];

function withoutQuotes(text: string): string {
  return QUOTES.reduce((shorter, quote) => shorter.replace(quote, ''), text.slice(0, SEARCHED_CHARACTERS_MAX));
}

function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}

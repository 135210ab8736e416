/** Formats refusals and failures for `errors[]`. An error that isn't a refusal reveals nothing about itself. */
import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { Logger } from 'pino';
import { Refusal, PLATFORM_REFUSALS, type PlatformCode } from '../errors.js';
import { ERRORS } from '../caller-limits.js';
import { ERROR_BEYOND_LIMIT, FORMATTED_ERROR_BEYOND_LIMIT } from './failures.js';
import { withoutValues } from './error-messages.js';

/** Our own code for each of GraphQL's errors. */
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

/** Errors for which Apollo sets a status but no code: a mutation sent by GET, and a GET with another Content-Type. */
function codeOfStatus(error: unknown): PlatformCode | undefined {
  const http: unknown = error instanceof GraphQLError ? error.extensions.http : undefined;
  const status = typeof http === 'object' && http !== null && 'status' in http ? http.status : undefined;
  return (['METHOD_NOT_ALLOWED', 'UNSUPPORTED_MEDIA_TYPE'] as const).find(
    (code) => PLATFORM_REFUSALS[code][0] === status,
  );
}

/** graphql-js coerces a literal argument only during execution. Its error is about the caller's value. */
function isAboutValues(error: GraphQLError): boolean {
  return /^(Argument |Variable |Too many errors processing variables)/.test(error.message);
}

/** Refusals: errors that tell callers what is wrong and what to do. Each market adds its own codes. */
import { ERRORS } from './caller-limits.js';

export type RefusalRow = readonly [status: number, sentence: string];

export const PLATFORM_REFUSALS = {
  VALIDATION_FAILED: [400, 'Some fields need attention.'],
  MALFORMED_REQUEST: [400, 'The request couldn’t be read.'],
  UNAUTHENTICATED: [401, 'A valid access token is required.'],
  FORBIDDEN: [403, 'You don’t have permission to do this.'],
  NOT_FOUND: [404, 'Not found.'],
  METHOD_NOT_ALLOWED: [405, 'This URL doesn’t support this method.'],
  PAYLOAD_TOO_LARGE: [413, 'The request body is too large.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The body must be JSON, sent with Content-Type: application/json.'],
  RATE_LIMITED: [429, 'Too many requests. Wait a moment, then try again.'],
  IDEMPOTENCY_KEY_REUSED: [422, 'This Idempotency-Key was already used for a different request.'],
  IDEMPOTENCY_KEY_IN_USE: [409, 'A request with this Idempotency-Key is still running. Try again in a moment.'],
  /** Occurs only at `/graphql`. Clients look for exactly these words and HTTP 200. */
  PERSISTED_QUERY_NOT_FOUND: [200, 'PersistedQueryNotFound'],
  OVERLOADED: [503, 'The service is at capacity. Try again shortly.'],
  INTERNAL: [500, 'Something went wrong on our end.'],
} as const satisfies Record<string, RefusalRow>;

export type PlatformCode = Exclude<keyof typeof PLATFORM_REFUSALS, 'UNAUTHENTICATED'>;

/** `details` holds the keys that only this error code uses. */
export interface RefusalOptions {
  /** Replaces the code's general message. */
  message?: string;
  /**
   * Problems by field name, in the operation's camelCase. After 50, further fields are only counted in `fieldsLeftOut`.
   */
  fields?: Record<string, string>;
  /** The submitted fields that must not change. */
  blockedFields?: readonly string[];
  details?: Record<string, unknown>;
}

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly fields: Record<string, string> | undefined;
  readonly blockedFields: readonly string[];
  readonly details: Record<string, unknown>;

  constructor(
    readonly code: string,
    [status, sentence]: RefusalRow,
    options: RefusalOptions = {},
  ) {
    const message = cut(options.message ?? sentence);
    // Skips the stack trace, which costs more than the rest of a refusal. In a flood, most calls are refused.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.status = status;
    const fields = Object.entries(options.fields ?? {});
    const shortFields = fields
      .slice(0, perAnswerMax)
      .map(([name, problem]) => [cut(name, nameCharactersMax), cut(problem)] as const);
    this.fields = options.fields && Object.fromEntries(shortFields);
    this.blockedFields = (options.blockedFields ?? [])
      .slice(0, perAnswerMax)
      .map((name) => cut(name, nameCharactersMax));
    const fieldsLeftOut = Math.max(fields.length - perAnswerMax, 0);
    this.details = fieldsLeftOut > 0 ? { ...options.details, fieldsLeftOut } : (options.details ?? {});
  }
}

export const OVERLOAD_CAUSES = [
  'database_away',
  'database_read_only',
  'database_slow',
  'database_full',
  'beyond_capacity',
] as const;
export type OverloadCause = (typeof OVERLOAD_CAUSES)[number];

/** An OVERLOADED refusal caused by the database. */
export class Overload extends Refusal {
  constructor(
    readonly overloadCause: OverloadCause,
    message: string,
    cause: unknown,
    /** Undefined if Postgres didn't cause the failure. */
    readonly sqlstate?: string,
  ) {
    super('OVERLOADED', PLATFORM_REFUSALS.OVERLOADED, { message, details: { retryAfter: 1 } });
    this.cause = cause;
  }
}

const { perAnswerMax, nameCharactersMax, textCharactersMax } = ERRORS;

/** Shortens an error's text, which may include a caller's text of any length. Never splits a character. */
export function cut(text: string, charactersMax: number = textCharactersMax): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 3).replace(/[\uD800-\uDBFF]$/, '')}...`;
}

/** A duration in words, such as `59 minutes`. Rounds up, so callers who wait that long can retry. */
export function inWords(seconds: number): string {
  const [count, unit] =
    seconds <= 90
      ? [seconds, 'second']
      : seconds <= 5400
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3600), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Throw the result. In a transaction, the throw rolls everything back. */
export function refuse(code: PlatformCode, options?: RefusalOptions): Refusal {
  return new Refusal(code, PLATFORM_REFUSALS[code], options);
}

/** If a host name has several addresses and none can be reached, Node's error has an error for each, but no message. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && !error.message) return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

/** Why a call has no viewer. The reason tells clients whether to refresh their token or log in. */
export const UNAUTHENTICATED_MESSAGES = {
  missing: 'This requires a token. Send it as `Authorization: Bearer <token>`.',
  malformed: 'The Authorization header doesn’t contain a valid token. Send `Authorization: Bearer <token>`.',
  invalid: 'The token isn’t valid. Log in again.',
  expired: 'The access token has expired. Use the refresh token to get a new one.',
  session_ended: 'The session has ended. Log in again.',
} as const;

/** The message for an Authorization header without a bearer token. Its reason is `malformed`. */
export const NO_BEARER_TOKEN = 'The Authorization header has no bearer token. Send `Authorization: Bearer <token>`.';

export type UnauthenticatedReason = keyof typeof UNAUTHENTICATED_MESSAGES;

export function unauthenticated(
  reason: UnauthenticatedReason,
  message: string = UNAUTHENTICATED_MESSAGES[reason],
): Refusal {
  return new Refusal('UNAUTHENTICATED', PLATFORM_REFUSALS.UNAUTHENTICATED, { message, details: { reason } });
}

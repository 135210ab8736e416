/** Every refusal that the service can return, with its HTTP status and its default message. */
import {
  PLATFORM_REFUSALS,
  Refusal,
  UNAUTHENTICATED_MESSAGES,
  type RefusalOptions,
  type RefusalRow,
} from '../../platform/errors.js';
import { EDITS } from './market-limits.js';

export const REFUSALS = {
  VALIDATION_FAILED: PLATFORM_REFUSALS.VALIDATION_FAILED,
  MALFORMED_REQUEST: PLATFORM_REFUSALS.MALFORMED_REQUEST,
  MISSING_FIELDS: [400, 'Fill in the missing fields first.'],
  INVALID_TRANSITION: [400, 'The current status doesn’t allow this.'],
  FIELD_NOT_EDITABLE: [400, 'Some of these fields can’t be changed in the job’s current status.'],
  BUDGET_DECREASE_TOO_LARGE: [
    400,
    `After a job is published, its budgets can be lowered by at most ${EDITS.budgetDecreasePercentMax} percent and ` +
      'can’t be removed.',
  ],
  URGENCY_LOCKED: [400, 'The urgency can’t be lowered while the job has bids.'],
  COMPLETION_DATE_SHIFT_TOO_LARGE: [
    400,
    `The completion date can move by at most ${EDITS.completionShiftDaysMax} days and can’t be removed.`,
  ],
  INSUFFICIENT_TOKENS: [400, 'You don’t have enough tokens.'],
  UNKNOWN_BID: [400, 'This bid can’t be awarded.'],
  DUPLICATE_BID: [400, 'You’ve already bid on this job.'],
  EMAIL_TAKEN: [400, 'An account with this email address already exists.'],
  UNKNOWN_REFERRAL_CODE: [400, 'No account has this referral code.'],
  INVALID_LINK: [400, 'This link doesn’t work. Request a new one.'],
  UNAUTHENTICATED: PLATFORM_REFUSALS.UNAUTHENTICATED,
  INVALID_CREDENTIALS: [401, 'The email address or password is wrong.'],
  INVALID_REFRESH_TOKEN: [401, 'The refresh token isn’t valid. Log in again.'],
  FORBIDDEN: PLATFORM_REFUSALS.FORBIDDEN,
  NOT_FOUND: PLATFORM_REFUSALS.NOT_FOUND,
  METHOD_NOT_ALLOWED: PLATFORM_REFUSALS.METHOD_NOT_ALLOWED,
  PAYLOAD_TOO_LARGE: PLATFORM_REFUSALS.PAYLOAD_TOO_LARGE,
  UNSUPPORTED_MEDIA_TYPE: PLATFORM_REFUSALS.UNSUPPORTED_MEDIA_TYPE,
  RATE_LIMITED: PLATFORM_REFUSALS.RATE_LIMITED,
  IDEMPOTENCY_KEY_REUSED: PLATFORM_REFUSALS.IDEMPOTENCY_KEY_REUSED,
  IDEMPOTENCY_KEY_IN_USE: PLATFORM_REFUSALS.IDEMPOTENCY_KEY_IN_USE,
  STALE_VERSION: [412, 'The job, bid, or proposal has changed since you read it. Read it again, then retry.'],
  PERSISTED_QUERY_NOT_FOUND: PLATFORM_REFUSALS.PERSISTED_QUERY_NOT_FOUND,
  OVERLOADED: PLATFORM_REFUSALS.OVERLOADED,
  PAYMENTS_UNAVAILABLE: [503, 'The payment provider can’t be reached. Try again with the same Idempotency-Key.'],
  NOT_CONFIGURED: [501, 'This operation isn’t set up on this server.'],
  INTERNAL: PLATFORM_REFUSALS.INTERNAL,
} as const satisfies Record<string, RefusalRow>;

export type ErrorCode = keyof typeof REFUSALS;

/** Every 401 also has a reason. */
export type UnauthorizedCode = {
  [Code in ErrorCode]: (typeof REFUSALS)[Code][0] extends 401 ? Code : never;
}[ErrorCode];
export type RefusalCode = Exclude<ErrorCode, UnauthorizedCode>;

export const ERROR_CODES = Object.keys(REFUSALS) as ErrorCode[];

/** Leaves out codes that occur only at `/graphql`. */
export const REST_ERROR_CODES = ERROR_CODES.filter((code): boolean => code !== 'PERSISTED_QUERY_NOT_FOUND');

/** Throwing the refusal, as in `throw refuse('UNKNOWN_BID')`, rolls back the transaction. */
export function refuse(code: RefusalCode, options?: RefusalOptions): Refusal {
  return new Refusal(code, REFUSALS[code], options);
}

/** The reason tells the client whether to refresh, to log in again, or to correct the header. */
export function unauthorized<Code extends UnauthorizedCode>(
  code: Code,
  reason: keyof (typeof UNAUTHORIZED_MESSAGES)[Code] & UnauthorizedReason,
  message: string = (UNAUTHORIZED_MESSAGES[code] as Readonly<Record<string, string>>)[reason] ?? REFUSALS[code][1],
  details: Record<string, unknown> = {},
): Refusal {
  return new Refusal(code, REFUSALS[code], { message, details: { reason, ...details } });
}

export const UNAUTHORIZED_REASONS = {
  missing: 'No token was sent.',
  malformed: 'The value doesn’t look like a token.',
  invalid: 'The token is unknown, was altered, or comes from another service.',
  expired: 'The token is genuine but has expired.',
  session_ended:
    'The session has ended or the API key was revoked, for example because of a logout, a new password, or a ' +
    'suspension.',
  superseded: 'The refresh token and its successor were already used. Use the session’s newest refresh token.',
  reused: 'The refresh token was first used more than 60 seconds ago, so we ended the session.',
  wrong_credentials: 'The email address or password is wrong.',
  suspended: 'The password is right, but the account is suspended.',
} as const;

export type UnauthorizedReason = keyof typeof UNAUTHORIZED_REASONS;

export const UNAUTHORIZED_MESSAGES = {
  UNAUTHENTICATED: UNAUTHENTICATED_MESSAGES,
  INVALID_CREDENTIALS: {
    wrong_credentials: REFUSALS.INVALID_CREDENTIALS[1],
    suspended: 'This account is suspended. Contact support if you think this is a mistake.',
  },
  INVALID_REFRESH_TOKEN: {
    malformed: 'This isn’t a refresh token. A refresh token is `rft_` followed by 27 letters and digits.',
    invalid: REFUSALS.INVALID_REFRESH_TOKEN[1],
    expired: 'The refresh token has expired. Log in again.',
    session_ended: 'The session has ended. Log in again.',
    superseded: 'This refresh token was replaced by a newer one that was already used. Use the newest one.',
    reused: 'This refresh token was already used, so we ended the session to protect your account. Log in again.',
  },
} as const satisfies Record<UnauthorizedCode, { readonly [Reason in UnauthorizedReason]?: string }>;

const OTHER_REASONS = {
  INVALID_LINK: {
    unknown: 'The link is invalid or incomplete.',
    used: 'The link was already used. Each link works only once.',
    expired: 'The link has expired.',
  },
  FORBIDDEN: {
    email_unverified: 'You must confirm your email address first.',
    email_disputed: 'Someone asked to undo an email change, and support must decide who keeps the account.',
  },
} as const satisfies { readonly [Code in ErrorCode]?: Readonly<Record<string, string>> };

export type LinkProblem = keyof (typeof OTHER_REASONS)['INVALID_LINK'];

/** Empty for most codes, because only a few have reasons. */
export function reasonsOf(code: ErrorCode): Readonly<Record<string, string>> {
  const messages: Partial<Record<ErrorCode, object>> = UNAUTHORIZED_MESSAGES;
  const others: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = OTHER_REASONS;
  const reasons = Object.keys(messages[code] ?? {}) as UnauthorizedReason[];
  return others[code] ?? Object.fromEntries(reasons.map((reason) => [reason, UNAUTHORIZED_REASONS[reason]]));
}

export const REASONS = [...new Set(ERROR_CODES.flatMap((code) => Object.keys(reasonsOf(code))))];

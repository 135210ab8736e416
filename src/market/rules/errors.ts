/** Every refusal that the service can give, each with its HTTP status and a message for people. */
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
  MISSING_FIELDS: [400, 'Some fields must be filled in first.'],
  INVALID_TRANSITION: [400, 'The job is not in a state that allows this.'],
  FIELD_NOT_EDITABLE: [400, 'Some of these fields cannot be changed in the present state.'],
  BUDGET_DECREASE_TOO_LARGE: [
    400,
    `A budget of a published job may be lowered by at most ${EDITS.budgetDecreasePercentMax} percent, and not removed.`,
  ],
  URGENCY_LOCKED: [400, 'The urgency cannot be lowered while the job has bids.'],
  COMPLETION_DATE_SHIFT_TOO_LARGE: [
    400,
    `The completion date may move by at most ${EDITS.completionShiftDaysMax} days, and may not be removed.`,
  ],
  INSUFFICIENT_TOKENS: [400, 'There are too few tokens available for this.'],
  UNKNOWN_BID: [400, 'There is no such bid on this job.'],
  DUPLICATE_BID: [400, 'You have already made a bid on this job.'],
  EMAIL_TAKEN: [400, 'An account with this email exists already.'],
  UNKNOWN_REFERRAL_CODE: [400, 'There is no account with this referral code.'],
  INVALID_LINK: [400, 'This link does not work; ask for a new one.'],
  UNAUTHENTICATED: PLATFORM_REFUSALS.UNAUTHENTICATED,
  INVALID_CREDENTIALS: [401, 'The email or the password is wrong.'],
  INVALID_REFRESH_TOKEN: [401, 'The refresh token is not valid; log in again.'],
  FORBIDDEN: PLATFORM_REFUSALS.FORBIDDEN,
  NOT_FOUND: PLATFORM_REFUSALS.NOT_FOUND,
  METHOD_NOT_ALLOWED: PLATFORM_REFUSALS.METHOD_NOT_ALLOWED,
  PAYLOAD_TOO_LARGE: PLATFORM_REFUSALS.PAYLOAD_TOO_LARGE,
  UNSUPPORTED_MEDIA_TYPE: PLATFORM_REFUSALS.UNSUPPORTED_MEDIA_TYPE,
  RATE_LIMITED: PLATFORM_REFUSALS.RATE_LIMITED,
  IDEMPOTENCY_KEY_REUSED: PLATFORM_REFUSALS.IDEMPOTENCY_KEY_REUSED,
  IDEMPOTENCY_KEY_IN_USE: PLATFORM_REFUSALS.IDEMPOTENCY_KEY_IN_USE,
  STALE_VERSION: [412, 'The job has changed since you read it; read it again.'],
  PERSISTED_QUERY_NOT_FOUND: PLATFORM_REFUSALS.PERSISTED_QUERY_NOT_FOUND,
  OVERLOADED: PLATFORM_REFUSALS.OVERLOADED,
  NOT_CONFIGURED: [501, 'This server is not set up for it.'],
  INTERNAL: PLATFORM_REFUSALS.INTERNAL,
} as const satisfies Record<string, RefusalRow>;

export type ErrorCode = keyof typeof REFUSALS;

/** The codes with status 401. Each has a reason. */
export type UnauthorizedCode = {
  [Code in ErrorCode]: (typeof REFUSALS)[Code][0] extends 401 ? Code : never;
}[ErrorCode];
export type RefusalCode = Exclude<ErrorCode, UnauthorizedCode>;

export const ERROR_CODES = Object.keys(REFUSALS) as ErrorCode[];

/** All codes except those that occur only at `/graphql`. */
export const REST_ERROR_CODES = ERROR_CODES.filter((code): boolean => code !== 'PERSISTED_QUERY_NOT_FOUND');

/** `throw refuse('UNKNOWN_BID')` rolls the transaction back automatically. */
export function refuse(code: RefusalCode, facts?: RefusalOptions): Refusal {
  return new Refusal(code, REFUSALS[code], facts);
}

/** Every 401 has a reason, so a client knows whether to refresh, to log in again, or to correct its header. */
export function unauthorized<Code extends UnauthorizedCode>(
  code: Code,
  reason: keyof (typeof UNAUTHORIZED_MESSAGES)[Code] & UnauthorizedReason,
  message: string = (UNAUTHORIZED_MESSAGES[code] as Readonly<Record<string, string>>)[reason] ?? REFUSALS[code][1],
  details: Record<string, unknown> = {},
): Refusal {
  return new Refusal(code, REFUSALS[code], { message, details: { reason, ...details } });
}

/** The reasons for a 401, for programs to read in `reason`. */
export const UNAUTHORIZED_REASONS = {
  missing: 'no token was sent',
  malformed: 'what was sent does not look like a token',
  invalid: 'the token is unknown, altered or not ours',
  expired: 'the token is genuine and has expired',
  session_ended:
    'the session or the API key was ended: by a log-out, a new password, a revocation, a suspension, or its age',
  superseded: 'the refresh token was used and its successor too; the session goes on with the newest one',
  reused: 'the refresh token was used before, longer ago than the leeway: the session has been ended',
  wrong_credentials: 'the email or the password is wrong',
  suspended: 'the password is right, and the account is suspended',
} as const;

export type UnauthorizedReason = keyof typeof UNAUTHORIZED_REASONS;

/** Each code's reasons, with a message for people. */
export const UNAUTHORIZED_MESSAGES = {
  UNAUTHENTICATED: UNAUTHENTICATED_MESSAGES,
  INVALID_CREDENTIALS: {
    wrong_credentials: REFUSALS.INVALID_CREDENTIALS[1],
    suspended: 'This account is suspended. Contact support if you think this is a mistake.',
  },
  INVALID_REFRESH_TOKEN: {
    malformed: 'This is no refresh token: one is `rft_` and 27 letters and digits.',
    invalid: REFUSALS.INVALID_REFRESH_TOKEN[1],
    expired: 'The refresh token has expired; log in again.',
    session_ended: 'The session has ended; log in again.',
    superseded: 'This refresh token was replaced by a newer one, which was used already; use the newest one.',
    reused: 'This refresh token was used before, so the session has been ended for safety; log in again.',
  },
} as const satisfies Record<UnauthorizedCode, { readonly [Reason in UnauthorizedReason]?: string }>;

/** The reasons of codes without status 401, for programs to read in `reason`. */
const OTHER_REASONS = {
  INVALID_LINK: {
    unknown: 'the link is none of ours, or is not complete',
    used: 'the link was used before; each works once',
    expired: 'the link works no more',
  },
  FORBIDDEN: {
    email_unverified: 'the email must be confirmed first',
    email_disputed: 'someone asked to undo an email change, and support has to decide who keeps the account',
  },
} as const satisfies { readonly [Code in ErrorCode]?: Readonly<Record<string, string>> };

export type LinkProblem = keyof (typeof OTHER_REASONS)['INVALID_LINK'];

/** A code's reasons, with the meaning of each. Most codes have none. */
export function reasonsOf(code: ErrorCode): Readonly<Record<string, string>> {
  const messages: Partial<Record<ErrorCode, object>> = UNAUTHORIZED_MESSAGES;
  const others: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = OTHER_REASONS;
  const reasons = Object.keys(messages[code] ?? {}) as UnauthorizedReason[];
  return others[code] ?? Object.fromEntries(reasons.map((reason) => [reason, UNAUTHORIZED_REASONS[reason]]));
}

export const REASONS = [...new Set(ERROR_CODES.flatMap((code) => Object.keys(reasonsOf(code))))];

/** Lists the refusals of each address: those that follow from its input, and those of its operation's own rules. */
import { OPERATIONS, type OperationName } from '../operations/index.js';
import type { Operation } from '../operations/operation.js';
import { BID_TRANSITION_LIST } from '../rules/bids.js';
import { CODES_OF_LIMITS } from '../rules/editing.js';
import { ERROR_CODES, REFUSALS, type ErrorCode } from '../rules/errors.js';
import { JOB_ACTION_KEYS, JOB_ACTIONS } from '../rules/lifecycle.js';
import { codesOfDenials } from '../rules/policies.js';
import { parametersOf } from './addresses.js';
import { hasBody, shapeOf } from './input.js';
import { isRepeatable, type Route } from './route.js';

const OWN_REFUSALS: { readonly [Name in OperationName]?: readonly ErrorCode[] } = {
  signUpHomeowner: ['EMAIL_TAKEN', 'UNKNOWN_REFERRAL_CODE'],
  signUpContractor: ['EMAIL_TAKEN', 'UNKNOWN_REFERRAL_CODE'],
  logIn: ['INVALID_CREDENTIALS'],
  refreshSession: ['INVALID_REFRESH_TOKEN'],
  changePassword: ['INVALID_CREDENTIALS'],
  adjustTokens: ['INSUFFICIENT_TOKENS'],
  listJobs: ['FORBIDDEN'],
  readTokens: ['FORBIDDEN'],
  listTransfers: ['FORBIDDEN'],
  updateJob: CODES_OF_LIMITS,
};

const OWN_REFUSALS_BY_OPERATION = new Map<Operation<unknown, unknown>, readonly ErrorCode[]>(
  Object.entries(OWN_REFUSALS).map(([name, codes]) => [OPERATIONS[name as OperationName], codes]),
);

/** The codes of each status, in the order of the list of codes. */
export function refusalsOf(route: Route): Map<number, ErrorCode[]> {
  const codes = new Set([
    ...OF_EVERY_CALL,
    ...ofShape(route),
    ...ofState(route),
    ...(OWN_REFUSALS_BY_OPERATION.get(route.operation) ?? []),
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of ERROR_CODES.filter((one) => codes.has(one))) {
    const [status] = REFUSALS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([one], [other]) => one - other));
}

/** What the list of a route's codes is called, where there are several: generators of code make an enum of each. */
export function listName({ operation: { name } }: Route, codes: readonly ErrorCode[]): string {
  return SHARED_LISTS.get(codes.join(' ')) ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}ErrorCode`;
}

const OF_INPUT = 'VALIDATION_FAILED MALFORMED_REQUEST';

/** The lists that several routes have. */
const SHARED_LISTS: ReadonlyMap<string, string> = new Map([
  [OF_INPUT, 'InputErrorCode'],
  [`${OF_INPUT} INVALID_TRANSITION`, 'TransitionErrorCode'],
  [`${OF_INPUT} EMAIL_TAKEN UNKNOWN_REFERRAL_CODE`, 'SignUpErrorCode'],
]);

const OF_EVERY_CALL: readonly ErrorCode[] = ['VALIDATION_FAILED', 'RATE_LIMITED', 'OVERLOADED', 'INTERNAL'];

function ofShape(route: Route): ErrorCode[] {
  const { allows, needsSession } = route.operation;
  const pathParameters = parametersOf(route);
  const isSomebodysOwn = pathParameters.length > 0 && /^\/(jobs|bids|tokens|webhooks)\//.test(route.path);
  const codes: ErrorCode[] = [];
  if (allows !== 'anyone') codes.push('UNAUTHENTICATED');
  if (Array.isArray(allows) || isSomebodysOwn || needsSession) codes.push('FORBIDDEN');
  if (pathParameters.length > 0) codes.push('NOT_FOUND');
  if (hasBody(route)) codes.push('MALFORMED_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (isRepeatable(route)) codes.push('IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_IN_USE');
  if (shapeOf(route).has('expectedVersion')) codes.push('MALFORMED_REQUEST', 'STALE_VERSION');
  return codes;
}

/** The codes for an action on a job or a bid in a state that does not allow it, or whose further conditions fail. */
function ofState({ operation }: Route): readonly ErrorCode[] {
  const key = JOB_ACTION_KEYS.find((one) => JOB_ACTIONS[one].operation === operation.name);
  if (key) return codesOfDenials(key);
  return BID_TRANSITION_LIST.some((row) => row.operation === operation.name) ? ['INVALID_TRANSITION'] : [];
}

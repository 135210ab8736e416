/** Lists each address's refusals: its operation's, and those for any body. */
import { refusalCodesOf } from '../../market/operations/refusals.js';
import { ERROR_CODES, REFUSALS, type ErrorCode } from '../../market/rules/errors.js';
import { type Route, hasBody, shapeOf } from '../../platform/openapi/route.js';

/** Each status's codes, in the order of the list of codes. */
export function refusalsOf(route: Route): Map<number, ErrorCode[]> {
  const codes = new Set(refusalCodesOf(route.operation));
  if (hasBody(route)) for (const code of OF_BODIES) codes.add(code);
  // For a malformed If-Match.
  if (shapeOf(route).has('expectedVersion')) codes.add('MALFORMED_REQUEST');
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of ERROR_CODES.filter((one) => codes.has(one))) {
    const [status] = REFUSALS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([one], [other]) => one - other));
}

const OF_BODIES: readonly ErrorCode[] = ['MALFORMED_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/** The name of a route's list of codes, if it has several. Code generators create an enum from each. */
export function listName({ operation: { name } }: Route, codes: readonly ErrorCode[]): string {
  return SHARED_LISTS.get(codes.join(' ')) ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}ErrorCode`;
}

const OF_INPUT = 'VALIDATION_FAILED MALFORMED_REQUEST';

/** The lists that several routes share. */
const SHARED_LISTS: ReadonlyMap<string, string> = new Map([
  [OF_INPUT, 'InputErrorCode'],
  [`${OF_INPUT} INVALID_TRANSITION`, 'TransitionErrorCode'],
  [`${OF_INPUT} EMAIL_TAKEN UNKNOWN_REFERRAL_CODE`, 'SignUpErrorCode'],
]);

/**
 * Documents who can call each operation and which error codes it can return, for both APIs. `perform` in
 * `platform/call/operation.ts` and `market/rules/policies.ts` decide the order of the checks.
 */
import { BID_ACTION_LIST } from '../rules/bids.js';
import { ERROR_CODES, type ErrorCode } from '../rules/errors.js';
import type { IdKind } from '../rules/ids.js';
import { JOB_ACTION_KEYS, JOB_ACTION_LIST, JOB_ACTIONS } from '../rules/lifecycle.js';
import { ALLOWED_ACTORS } from '../rules/parties.js';
import { codesOfDenials } from '../rules/policies.js';
import { isRepeatable, isWrite, type Operation } from '../../platform/call/operation.js';
import { kindOf, metaOf } from '../../platform/fields/shapes.js';

type AnyOperation = Operation<unknown, unknown>;

/** The codes are in the order of `ERROR_CODES`. */
export function refusalCodesOf(operation: AnyOperation): ErrorCode[] {
  const codes = new Set([
    ...OF_EVERY_CALL,
    ...ofItsKind(operation),
    ...ofState(operation),
    ...(operation.refusals ?? []),
  ]);
  return ERROR_CODES.filter((code) => codes.has(code));
}

const OF_EVERY_CALL: readonly ErrorCode[] = ['VALIDATION_FAILED', 'RATE_LIMITED', 'OVERLOADED', 'INTERNAL'];

function ofItsKind(operation: AnyOperation): ErrorCode[] {
  const { allows, needsSession, input } = operation;
  const isForSome = Array.isArray(allows) || needsSession || (allows !== 'anyone' && isWrite(operation));
  const kind = kindOf(input);
  const fields = kind.is === 'object' ? kind.schema.shape : {};
  const ids = Object.values(fields).flatMap((field) => (metaOf(field).parameter ? (metaOf(field).kind ?? []) : []));
  const codes: ErrorCode[] = [];
  if (allows !== 'anyone') codes.push('UNAUTHENTICATED');
  if (isForSome || ids.some((id) => PRIVATE_KINDS.has(id))) codes.push('FORBIDDEN');
  if (ids.length > 0) codes.push('NOT_FOUND');
  if (isRepeatable(operation)) codes.push('IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_IN_USE');
  if ('expectedVersion' in fields) codes.push('STALE_VERSION');
  return codes;
}

/**
 * A caller who can't see an object of these kinds gets FORBIDDEN instead of NOT_FOUND, and learns that the object
 * exists.
 */
const PRIVATE_KINDS: ReadonlySet<string> = new Set<IdKind>([
  'job',
  'bid',
  'transfer',
  'purchase',
  'webhookEndpoint',
  'webhookDelivery',
]);

/** Returns the codes for an action on a job or a bid whose state or other conditions don't allow it. */
function ofState({ name }: AnyOperation): readonly ErrorCode[] {
  const key = JOB_ACTION_KEYS.find((one) => JOB_ACTIONS[one].operation === name);
  if (key) return codesOfDenials(key);
  return BID_ACTION_LIST.some((row) => row.operation === name) ? ['INVALID_TRANSITION'] : [];
}

/** The returned phrase comes after the word `For`. */
export function audienceOf({ name, allows }: Pick<AnyOperation, 'name' | 'allows'>): string {
  const row = [...JOB_ACTION_LIST, ...BID_ACTION_LIST].find(({ operation }) => operation === name);
  if (row) return ALLOWED_ACTORS[row.actor].description;
  if (allows === 'anyone') return 'anyone';
  if (allows === 'signed in') return 'every logged-in user';
  return allows.map((role) => `${role}s`).join(' and ');
}

/** What the database's own failures mean to a caller. Postgres' text never travels further than the log. */
import { refuse, Refusal } from '../rules/errors.js';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

/** The database is away, full or too slow: nothing the caller sent is wrong, and later may be better. */
const BEYOND_CAPACITY = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'CONNECTION_CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  SERIALIZATION_FAILURE,
  DEADLOCK_DETECTED,
  '57014', // a statement's time-out
  '55P03', // a lock's time-out
  '25P03',
  '25P04', // a transaction's time-outs
]);

/** Classes of SQLSTATE: connections, resources, an operator's intervention, the disk. */
const BEYOND_CAPACITY_CLASS = /^(08|53|57P|58)/;

export function mayBeRetried(error: unknown): boolean {
  const code = codeOf(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** A failure of the database as a refusal, where it is one; anything else as it was. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof Refusal) return error;
  const code = codeOf(error);
  if (code === undefined || !(BEYOND_CAPACITY.has(code) || BEYOND_CAPACITY_CLASS.test(code))) return error;
  const refusal = refuse('OVERLOADED', { details: { retryAfter: 1 } });
  refusal.cause = error;
  return refusal;
}

/** The name of the constraint that refused a row. */
export function violatedConstraint(error: unknown): string | undefined {
  if (!codeOf(error)?.startsWith('23') || !(error instanceof Error)) return undefined;
  return 'constraint_name' in error && typeof error.constraint_name === 'string' ? error.constraint_name : undefined;
}

/** A sum went beyond what its column holds. */
export function isOutOfRange(error: unknown): boolean {
  return codeOf(error) === '22003';
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Turns database errors into refusals. Callers never see Postgres's own messages, which go only to the log. */
import { Overload, Refusal, type OverloadCause, PLATFORM_REFUSALS } from '../errors.js';

/** Codes from the driver or the operating system are longer or contain an underscore. */
const SQLSTATE = /^[0-9][0-9A-Z]{4}$/;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const STATEMENT_TIMEOUT = '57014';
const LOCK_TIMEOUT = '55P03';

const UNREACHABLE = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'CONNECTION_CONNECT_TIMEOUT',
  // A full queue of connections on a Unix socket.
  'EAGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

const TOO_SLOW = new Set([
  SERIALIZATION_FAILURE,
  DEADLOCK_DETECTED,
  STATEMENT_TIMEOUT,
  LOCK_TIMEOUT,
  '25P03',
  '25P04', // transaction timeouts
]);

/**
 * Errors of valid calls that may succeed later. The first matching entry applies. The SQLSTATE classes are connections
 * (08), operator intervention (57P), resources (53), and the disk (58).
 */
const OVERLOADS: readonly (readonly [overloadCause: OverloadCause, fits: (code: string) => boolean])[] = [
  ['database_slow', (code) => TOO_SLOW.has(code)],
  ['database_away', (code) => UNREACHABLE.has(code) || /^(08|57P)/.test(code)],
  ['database_read_only', (code) => code === '25006'],
  ['database_full', (code) => /^(53|58)/.test(code)],
];

const SENTENCES: Readonly<Record<OverloadCause, string>> = {
  database_away: 'The database can’t be reached. Try again shortly.',
  database_read_only: 'The database is read-only at the moment. Try again shortly.',
  database_slow: 'The database took too long. Try again shortly.',
  database_full: 'The database is out of space or connections. Try again shortly.',
  beyond_capacity: PLATFORM_REFUSALS.OVERLOADED[1],
};

export function mayBeRetried(error: unknown): boolean {
  const code = codeOf(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

export function isStatementTimeout(error: unknown): boolean {
  return error instanceof Overload && error.sqlstate === STATEMENT_TIMEOUT;
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof Overload && error.sqlstate === LOCK_TIMEOUT;
}

/** Returns errors that have no refusal unchanged. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof Refusal) return error;
  const code = codeOf(error);
  const overloadCause = code === undefined ? undefined : OVERLOADS.find(([, fits]) => fits(code))?.[0];
  return overloadCause ? overload(overloadCause, error) : error;
}

export function overload(overloadCause: OverloadCause, cause: unknown): Overload {
  const code = codeOf(cause);
  return new Overload(overloadCause, SENTENCES[overloadCause], cause, code && SQLSTATE.test(code) ? code : undefined);
}

export function violatedConstraint(error: unknown): string | undefined {
  if (!codeOf(error)?.startsWith('23') || !(error instanceof Error)) return undefined;
  return 'constraint_name' in error && typeof error.constraint_name === 'string' ? error.constraint_name : undefined;
}

/** True if an earlier statement failed. Postgres then rejects the rest of the transaction. */
export function isBehindFailure(error: unknown): boolean {
  return codeOf(error) === '25P02';
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

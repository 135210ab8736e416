/** The facts of one request that its log line and the metrics show. */
import { Overload, Refusal, type OverloadCause } from '../errors.js';

export type Api = 'graphql' | 'rest';

export interface NamedDocument {
  /** As its author wrote it. */
  readonly name: string | undefined;
  /** The SHA-256 of its text, in hex. */
  readonly hash: string;
}

/** An operation of a GraphQL document: at most fifteen aliases, and so many names. */
const OPERATIONS_MAX = 20;

export class RequestRecord {
  /** Undefined for pages and for the operator's addresses. */
  api: Api | undefined;
  /** The user whom a genuine token names, whether or not their session is still active. */
  claimedUser: string | undefined;
  /** The API key in place of a session, once it is known to be one. */
  apiKey: string | undefined;
  /** Why it was answered 401. */
  reason: string | undefined;
  document: NamedDocument | undefined;
  overload: OverloadCause | undefined;
  /** The ID of the trace that the caller started (W3C Trace Context). */
  traceId: string | undefined;
  /** What PostgreSQL answered, where that is the cause. */
  sqlstate: string | undefined;
  /** Which limit was reached first. */
  limit: string | undefined;
  /** The user of the account that a log-in is for; the client may be anyone. */
  account: string | undefined;
  /** As GraphQL spells them. */
  readonly operations = new Set<string>();
  /** Of every error that was answered. */
  readonly codes = new Set<string>();

  addOperation(operation: string): void {
    if (this.operations.size < OPERATIONS_MAX) this.operations.add(operation);
  }

  addRefusal(refusal: Refusal): void {
    this.codes.add(refusal.code);
    this.#explain(refusal.status, refusal.details);
    this.noteOverload(refusal);
  }

  /** The codes of errors as they are sent. */
  addErrors(errors: readonly { readonly extensions?: SentExtensions }[]): void {
    for (const { extensions = {} } of errors) {
      if (typeof extensions.code === 'string') this.codes.add(extensions.code);
      this.#explain(extensions.status, extensions);
    }
  }

  #explain(status: unknown, { reason, limit }: Explanation): void {
    if (status === 401 && typeof reason === 'string') this.reason ??= reason;
    if (typeof limit === 'string') this.limit ??= limit;
  }

  /** The error of an operation; the API decides how to answer it. */
  noteOverload(error: unknown): void {
    if (!(error instanceof Refusal) || error.code !== 'OVERLOADED') return;
    this.overload ??= causeOf(error);
    if (error instanceof Overload) this.sqlstate ??= error.sqlstate;
  }
}

interface Explanation {
  readonly reason?: unknown;
  readonly limit?: unknown;
}

interface SentExtensions extends Explanation {
  readonly code?: unknown;
  readonly status?: unknown;
}

/** The operation of a request, as far as it is known. */
export function lineOf(record: RequestRecord, { address, user = record.claimedUser }: RequestHolder) {
  const { api, operations, codes, reason, limit, overload, sqlstate, account, apiKey, document, traceId } = record;
  return {
    address,
    ...(traceId && { traceId }),
    ...(api && { api }),
    ...(operations.size > 0 && { operation: [...operations].join(' ') }),
    ...(codes.size > 0 && { codes: [...codes] }),
    ...(reason && { reason }),
    ...(limit && { limit }),
    ...(overload && { cause: overload }),
    ...(sqlstate && { sqlstate }),
    ...(user !== undefined && { user }),
    ...(account && { account }),
    ...(apiKey && { apiKey }),
    ...(document && { document: document.name, documentHash: document.hash }),
  };
}

interface RequestHolder {
  readonly address: string;
  readonly user?: string | undefined;
}

/**
 * The server's own failure is an `error`; a call that the server had no capacity for is a `warn`; a caller's mistake is
 * neither.
 */
export function levelOf({ codes }: RequestRecord, status?: number): 'error' | 'warn' | 'info' {
  if (codes.has('INTERNAL')) return 'error';
  return codes.has('OVERLOADED') || status === 503 ? 'warn' : 'info';
}

/** Where the database is not the cause, it is a full share or queue. */
export function causeOf(refusal: Refusal): OverloadCause {
  return refusal instanceof Overload ? refusal.overloadCause : 'beyond_capacity';
}

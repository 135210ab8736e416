/** A request's facts for its log line and the metrics. */
import { Overload, Refusal, type OverloadCause } from '../errors.js';

export type Api = 'graphql' | 'rest';

export interface NamedDocument {
  /** The document's own name for the operation. */
  readonly name: string | undefined;
  /** The SHA-256 of the document's text, in hex. */
  readonly hash: string;
}

/** More than a request can run, because a GraphQL document has at most fifteen aliases. */
const OPERATIONS_MAX = 20;

export class RequestRecord {
  /** Undefined for pages and for operators' paths. */
  api: Api | undefined;
  /** The user that a genuine token names, even if the session has ended. */
  claimedUser: string | undefined;
  /** The API key, if one was used and is genuine. */
  apiKey: string | undefined;
  /** Why the response was a 401. */
  reason: string | undefined;
  document: NamedDocument | undefined;
  overload: OverloadCause | undefined;
  /** The ID of the trace that the caller started (W3C Trace Context). */
  traceId: string | undefined;
  sqlstate: string | undefined;
  limit: string | undefined;
  /** The account that someone tries to log in to. They may be anyone. */
  account: string | undefined;
  readonly operations = new Set<string>();
  readonly codes = new Set<string>();

  addOperation(operation: string): void {
    if (this.operations.size < OPERATIONS_MAX) this.operations.add(operation);
  }

  addRefusal(refusal: Refusal): void {
    this.codes.add(refusal.code);
    this.#explain(refusal.status, refusal.details);
    this.noteOverload(refusal);
  }

  /** Adds errors in the format in which they're sent. */
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

  /** Records why an operation failed with `OVERLOADED`. The API decides how to respond. */
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

/** The log line's fields that are known so far. */
export function lineOf(record: RequestRecord, { address, user = record.claimedUser }: Requester) {
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

interface Requester {
  readonly address: string;
  readonly user?: string | undefined;
}

/** The server's own failure is an `error`, and a lack of capacity is a `warn`. A caller's mistake is neither. */
export function levelOf({ codes }: RequestRecord, status?: number): 'error' | 'warn' | 'info' {
  if (codes.has('INTERNAL')) return 'error';
  return codes.has('OVERLOADED') || status === 503 ? 'warn' : 'info';
}

/** If the database isn't the cause, a quota or queue is full. */
export function causeOf(refusal: Refusal): OverloadCause {
  return refusal instanceof Overload ? refusal.overloadCause : 'beyond_capacity';
}

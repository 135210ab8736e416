/** The clients' history: every request before it is sent, and every response, so the run can be checked afterward. */
import type { Api, OperationKey } from '../../../story/calls.js';
import type { Json } from '../../../setup/app.js';

export type Fields = Readonly<Record<string, Json>>;

export type WriteOp = OperationKey | 'adjustTokens';
export const READ_OPS = ['readJob', 'readTokens', 'readProposal', 'countJobs', 'countBids'] as const;
export type ReadOp = (typeof READ_OPS)[number];
export type Op = WriteOp | ReadOp;

export interface Member {
  readonly userId: string;
  /** The ID of the homeowner or contractor. Empty for an admin. */
  readonly profileId: string;
  readonly kind: 'homeowner' | 'contractor' | 'admin';
  readonly token: string;
}

export interface Request {
  readonly op: Op;
  readonly by: Member;
  readonly job?: string | undefined;
  readonly bid?: string | undefined;
  /** In camelCase. */
  readonly body?: Fields | undefined;
}

/**
 * The outcome that the client expects. On a job that nobody else touches, it knows how each call must end, and what a
 * success must return. In a race, either outcome is possible.
 */
export type Expectation = 'success' | 'refusal' | 'either';

export interface Entry {
  readonly client: number;
  readonly request: Request;
  /**
   * Unique in the run. If the operation has a field for it, the field contains it. Every write has it as its
   * Idempotency-Key.
   */
  readonly tag: string;
  readonly expects: Expectation;
  /** The values that a success must return, as far as they are known. */
  readonly shows: Fields;
  /** Tokens that a success charges for raised urgency. */
  readonly charge: number;
  readonly attempts: Attempt[];
}

export interface Sent {
  readonly instance: number;
  readonly api: Api;
}

/** One attempt to send a request: its response, or the fact that none came. */
export type Attempt = Sent & (Lost | Answered);

export interface Lost {
  /** The connection's own error code. */
  readonly lost: string;
}

export interface Answered {
  /** REST's own status. For GraphQL, the status that the error names, or 200. */
  readonly status: number;
  readonly code: string | null;
  readonly replayed: boolean;
  /** The parts of the response that both APIs return. Null for an error. */
  readonly data: Fields | null;
  /** True if a 503 says when to retry. */
  readonly saysWhen: boolean;
}

export function isRead(op: Op): op is ReadOp {
  return READ_OPS.some((read) => read === op);
}

/** A response settles a request, unless the server is at capacity or the same key is still in use. */
export function settles(attempt: Attempt): attempt is Sent & Answered {
  return !('lost' in attempt) && attempt.status !== 503 && attempt.code !== 'IDEMPOTENCY_KEY_IN_USE';
}

/** The response that the client acted on. */
export function outcomeOf({ attempts }: Entry): (Sent & Answered) | undefined {
  return attempts.find(settles);
}

export function succeeded(entry: Entry): boolean {
  const outcome = outcomeOf(entry);
  return outcome !== undefined && outcome.data !== null;
}

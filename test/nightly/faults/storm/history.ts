/**
 * The history that the clients record: every request before it is sent, and every answer, so that the run can be
 * checked afterwards.
 */
import type { Api, OperationKey } from '../../../story/calls.js';
import type { Json } from '../../../setup/app.js';

export type Fields = Readonly<Record<string, Json>>;

export type WriteOp = OperationKey | 'adjustTokens';
export const READ_OPS = ['readJob', 'readTokens', 'readProposal', 'countJobs', 'countBids'] as const;
export type ReadOp = (typeof READ_OPS)[number];
export type Op = WriteOp | ReadOp;

export interface Member {
  readonly userId: string;
  /** Of the homeowner or contractor; empty for an admin. */
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
 * What the client may be sure of. On a job that nobody else touches, it knows how each call must end, and what a
 * success must show; where several race, either may come.
 */
export type Expectation = 'success' | 'refusal' | 'either';

export interface Entry {
  readonly client: number;
  readonly request: Request;
  /**
   * Unique in the run. Where the operation takes a text, the text holds it; every write is sent with it as its
   * Idempotency-Key.
   */
  readonly tag: string;
  readonly expects: Expectation;
  /** What a success must show, as far as it is known. */
  readonly shows: Fields;
  /** Tokens that a success charges by a raised urgency. */
  readonly charge: number;
  readonly attempts: Attempt[];
}

export interface Sent {
  readonly instance: number;
  readonly api: Api;
}

/** One sending of a request: the answer, or that none came. */
export type Attempt = Sent & (Lost | Answered);

export interface Lost {
  /** The connection's own word for it. */
  readonly lost: string;
}

export interface Answered {
  /** REST's own status; for GraphQL that which the refusal names, or 200. */
  readonly status: number;
  readonly code: string | null;
  readonly replayed: boolean;
  /** What was answered, cut to what both APIs tell alike; null for a refusal. */
  readonly data: Fields | null;
  /** Whether a 503 said when to come again. */
  readonly saysWhen: boolean;
}

export function isRead(op: Op): op is ReadOp {
  return READ_OPS.some((read) => read === op);
}

/** An answer settles a request unless it says to come again: beyond capacity, or still running under the same key. */
export function settles(attempt: Attempt): attempt is Sent & Answered {
  return !('lost' in attempt) && attempt.status !== 503 && attempt.code !== 'IDEMPOTENCY_KEY_IN_USE';
}

/** The answer that the client acted on. */
export function outcomeOf({ attempts }: Entry): (Sent & Answered) | undefined {
  return attempts.find(settles);
}

export function succeeded(entry: Entry): boolean {
  const outcome = outcomeOf(entry);
  return outcome !== undefined && outcome.data !== null;
}

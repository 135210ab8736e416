/** What the headers Idempotency-Key and Dry-Run allow a request's mutations to be, settled before any of them runs. */
import { GraphQLError } from 'graphql';
import { OPERATIONS } from '../operations/index.js';
import type { Operation } from '../operations/operation.js';
import { invalidField } from '../operations/validation.js';
import type { Context } from './context.js';

const OPERATION_NAMED = new Map<string, Operation<unknown, unknown>>(Object.entries(OPERATIONS));

/** Refuses mutations that do not go together under these headers, and makes the request a dry run if that is asked. */
export function applyHeaders({ caller, wantsDryRun }: Context, mutations: readonly string[]): void {
  // A key belongs to one answer.
  if (caller.request.idempotencyKey !== undefined && mutations.length > 1) {
    throw badHeader('Idempotency-Key', 'goes with one mutation a request; send the others in requests of their own');
  }
  if (!wantsDryRun) return;
  const alone = mutations.filter((name) => mustBeAlone(OPERATION_NAMED.get(name)));
  if (alone.length > 0 && mutations.length > 1) {
    throw badHeader('Dry-Run', `does not go with ${alone[0]} among other mutations; send it in a request of its own`);
  }
  if (!alone.some((name) => OPERATION_NAMED.get(name)?.alwaysForReal)) caller.keepNothing();
}

/** An operation that always happens for real cannot be part of a transaction that is undone, nor can slow work. */
function mustBeAlone(operation: Operation<unknown, unknown> | undefined): boolean {
  return operation?.alwaysForReal === true || operation?.prepare !== undefined;
}

function badHeader(header: string, problem: string): GraphQLError {
  const refusal = invalidField(header, problem);
  const extensions = { http: { status: refusal.status } };
  return new GraphQLError(refusal.message, { originalError: refusal, extensions });
}

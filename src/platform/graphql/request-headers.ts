/** Checks a request's mutations against the headers Idempotency-Key and Dry-Run, before any of them runs. */
import { GraphQLError } from 'graphql';
import { OPERATIONS } from '../../market/operations/index.js';
import type { Operation } from '../call/operation.js';
import { invalidField } from '../call/validation.js';
import type { Context } from './context.js';

const OPERATIONS_BY_NAME = new Map<string, Operation<unknown, unknown>>(Object.entries(OPERATIONS));

/**
 * Refuses combinations of mutations that these headers do not allow, and makes the request a dry run if it asks for
 * one.
 */
export function applyHeaders({ caller, wantsDryRun }: Context, mutations: readonly string[]): void {
  // A key belongs to one answer.
  if (caller.request.idempotencyKey !== undefined && mutations.length > 1) {
    throw badHeader('Idempotency-Key', 'goes with one mutation a request; send the others in requests of their own');
  }
  if (!wantsDryRun) return;
  const alone = mutations.filter((name) => mustBeAlone(OPERATIONS_BY_NAME.get(name)));
  if (alone.length > 0 && mutations.length > 1) {
    throw badHeader('Dry-Run', `does not go with ${alone[0]} among other mutations; send it in a request of its own`);
  }
  if (!alone.some((name) => OPERATIONS_BY_NAME.get(name)?.ignoresKeyAndDryRun)) caller.beginDryRun();
}

/** An operation that a dry run cannot undo may not be part of a transaction that is rolled back, nor may slow work. */
function mustBeAlone(operation: Operation<unknown, unknown> | undefined): boolean {
  return operation?.ignoresKeyAndDryRun === true || operation?.prepare !== undefined;
}

function badHeader(header: string, problem: string): GraphQLError {
  const refusal = invalidField(header, problem);
  const extensions = { http: { status: refusal.status } };
  return new GraphQLError(refusal.message, { originalError: refusal, extensions });
}

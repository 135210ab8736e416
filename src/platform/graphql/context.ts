/** The context of every resolver: the caller, and what the market reads nested objects by. */
import type { GraphQLError } from 'graphql';
import type { Caller } from '../call/caller.js';
import { Failures } from './failures.js';
import type { Opening } from './streams/opening.js';

/** What the limits determined about an operation before it runs. */
export interface LimitCheck {
  /** Its cost, and the highest cost that is allowed; undefined where it was sent to the wrong address. */
  readonly cost?: { readonly requested: number; readonly max: number; readonly remaining: number };
  /** If there are any, the operation does not run. */
  readonly refusals: readonly GraphQLError[];
}

export interface Context {
  readonly caller: Caller;
  /** The market knows what they are; here they are only passed on. */
  readonly loaders: unknown;
  /** Makes the loaders of one request, or of one event of a stream. */
  loadersFor(this: void, caller: Caller): unknown;
  readonly failures: Failures;
  /** Whether the request's headers ask for a dry run. */
  readonly wantsDryRun: boolean;
  /** For a subscription: its stream while it is being opened. */
  readonly opening: Opening | undefined;
  /**
   * The result of the checks, once made: where `known-documents.ts` leaves a request to Apollo, they are not made
   * again.
   */
  limitCheck: LimitCheck | undefined;
}

export type LoadersFor = Context['loadersFor'];

export function contextOf(caller: Caller, loadersFor: LoadersFor, wantsDryRun = false, opening?: Opening): Context {
  return {
    caller,
    loaders: loadersFor(caller),
    loadersFor,
    failures: new Failures(),
    wantsDryRun,
    opening,
    limitCheck: undefined,
  };
}

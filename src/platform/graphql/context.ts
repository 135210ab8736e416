/** The context of every resolver: the caller, and the market's loaders for nested objects. */
import type { GraphQLError, ExecutionResult } from 'graphql';
import type { Caller } from '../call/caller.js';
import { Failures } from './failures.js';
import type { EventStream } from '../live/live.js';

export interface LimitCheck {
  /** The operation's cost and the highest allowed cost. Undefined if the operation was sent to the wrong path. */
  readonly cost?: { readonly requested: number; readonly max: number; readonly remaining: number };
  /** The reasons to refuse the operation. If there are any reasons, the operation doesn't run. */
  readonly refusals: readonly GraphQLError[];
}

export interface Context {
  readonly caller: Caller;
  /** The market's loaders. Only the market knows their type, so the platform just passes them on. */
  readonly loaders: unknown;
  /** Creates the loaders of one request, or of one event of a stream. */
  loadersFor(this: void, caller: Caller): unknown;
  readonly failures: Failures;
  readonly wantsDryRun: boolean;
  /** A subscription's stream while it is being opened. */
  readonly opening: Opening | undefined;
  /**
   * The result of the checks, if `known-documents.ts` has checked the request and leaves it to Apollo. The checks then
   * don't run again.
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

export type AnswerEvent = (event: unknown) => ExecutionResult | Promise<ExecutionResult>;

export interface Opening {
  /** Counts the stream in the caller's quota, or throws a refusal, and then opens it. */
  begin<Stream extends EventStream<unknown>>(open: () => Stream): Stream;
  /** Sets how each event is executed. */
  answerWith(answer: AnswerEvent): void;
}

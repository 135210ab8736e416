/** Every resolver's context: the caller, and the market's loaders for nested objects. */
import type { GraphQLError, ExecutionResult } from 'graphql';
import type { Caller } from '../call/caller.js';
import { Failures } from './failures.js';
import type { EventStream } from '../live/live.js';

export interface LimitCheck {
  /** The operation's cost and limit. Undefined if the operation went to the wrong path. */
  readonly cost?: { readonly requested: number; readonly max: number; readonly remaining: number };
  /** The reasons to refuse the operation. With any reason, nothing runs. */
  readonly refusals: readonly GraphQLError[];
}

export interface Context {
  readonly caller: Caller;
  /** The platform passes the market's loaders on without knowing their type. */
  readonly loaders: unknown;
  /** Creates the loaders for one request or one stream event. */
  loadersFor(this: void, caller: Caller): unknown;
  readonly failures: Failures;
  readonly dryRunHeader: string | undefined;
  readonly opening: Opening | undefined;
  /**
   * The result of the checks that `known-documents.ts` made before it passed the request to Apollo. They don't run
   * again.
   */
  limitCheck: LimitCheck | undefined;
}

export type LoadersFor = Context['loadersFor'];

export function contextOf(
  caller: Caller,
  loadersFor: LoadersFor,
  { dryRunHeader, opening }: Partial<Pick<Context, 'dryRunHeader' | 'opening'>> = {},
): Context {
  return {
    caller,
    loaders: loadersFor(caller),
    loadersFor,
    failures: new Failures(),
    dryRunHeader,
    opening,
    limitCheck: undefined,
  };
}

export type AnswerEvent = (event: unknown) => ExecutionResult | Promise<ExecutionResult>;

export interface Opening {
  /** Counts the stream in the caller's quota and opens it. Throws a refusal if the quota is full. */
  begin<Stream extends EventStream<unknown>>(open: () => Stream): Stream;
  answerWith(answer: AnswerEvent): void;
}

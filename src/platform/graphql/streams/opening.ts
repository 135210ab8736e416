/** A subscription while it's being opened. The resolver sets its events, and the executor sets how each is executed. */
import type { ExecutionResult } from 'graphql';
import type { EventStream } from '../../live/live.js';

export type AnswerEvent = (event: unknown) => ExecutionResult | Promise<ExecutionResult>;

export interface Opening {
  /** Counts the stream in the caller's quota, or throws a refusal, and then opens it. */
  begin<Stream extends EventStream<unknown>>(open: () => Stream): Stream;
  /** Sets how each event is executed. */
  answerWith(answer: AnswerEvent): void;
}

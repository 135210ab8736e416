/** A subscription while it is being opened. The resolver sets its events, and the executor how each is executed. */
import type { ExecutionResult } from 'graphql';
import type { EventsToCome } from '../../../market/operations/events/events.js';
import type { JobEvent } from '../../../market/store/events/events.js';
import type { EventStream } from '../../live/live.js';

export type AnswerEvent = (event: JobEvent) => ExecutionResult | Promise<ExecutionResult>;

export interface Opening {
  /** Takes the caller's share of streams, or throws a refusal, and begins to receive events. */
  begin(open: EventsToCome['open']): EventStream;
  /** How each event is executed. */
  answerWith(answer: AnswerEvent): void;
}

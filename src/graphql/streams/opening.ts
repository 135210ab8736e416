/** A subscription while it is being opened. The resolver gives it its events, and the executor what they become. */
import type { ExecutionResult } from 'graphql';
import type { EventsToCome } from '../../operations/jobs/streams.js';
import type { JobEvent } from '../../store/events.js';
import type { EventStream } from '../../live/live.js';

export type AnswerEvent = (event: JobEvent) => ExecutionResult | Promise<ExecutionResult>;

export interface Opening {
  /** Takes the caller's share of streams, or throws the refusal, and begins to hear events. */
  begin(open: EventsToCome['open']): EventStream;
  /** How each event is executed. */
  answerWith(answer: AnswerEvent): void;
}

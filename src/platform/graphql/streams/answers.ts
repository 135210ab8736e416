/** The responses of one subscription, from its opening to its end: the result of its document for each event. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FormattedExecutionResult } from 'graphql';
import { STREAM } from '../../caller-limits.js';
import type { EventStream } from '../../live/live.js';
import { Refusal } from '../../errors.js';
import type { StreamEnd } from './stream-ends.js';

export interface StreamOptions {
  readonly source: EventStream<unknown>;
  /** Resolves when the connection has room for the next response. */
  ready(): Promise<void>;
  answer(event: unknown): Promise<FormattedExecutionResult>;
  /** Called when the server fails. Returns a response that reveals nothing about the failure. */
  onFailure(error: unknown): FormattedExecutionResult;
  onAnswer(): void;
  /** Called once, however the subscription ends. */
  onEnd(end: StreamEnd, answers: number): void;
  /** The reason why the connection is closing, if it is. */
  endOfConnection(): StreamEnd | undefined;
}

/** Either the server or the caller's quota is at capacity. */
const RETRYABLE_CODES: readonly string[] = ['OVERLOADED', 'RATE_LIMITED'];

type Next = IteratorResult<FormattedExecutionResult, undefined>;

/**
 * This iterator isn't a generator, because a generator that waits for an event would end only after the next event. An
 * event that arrives after the end of the stream isn't sent.
 */
export class AnswerStream implements AsyncGenerator<FormattedExecutionResult, undefined, undefined> {
  #answers = 0;
  #hasEnded = false;
  #last: FormattedExecutionResult | undefined;

  constructor(private readonly parts: StreamOptions) {}

  async next(): Promise<Next> {
    if (this.#hasEnded) return this.#lastResult();
    try {
      await this.parts.ready();
      const event = await this.#nextEvent();
      if (event.done === true) this.end(this.parts.endOfConnection() ?? 'draining');
      if (this.#hasEnded || event.done === true) return this.#lastResult();
      const value = await this.parts.answer(event.value);
      if (this.#hasEnded) return this.#lastResult();
      this.#answers += 1;
      this.parts.onAnswer();
      return { value, done: false };
    } catch (error) {
      // If the client has left, this isn't a failure. The client's place in a queue was given up.
      if (!this.#hasEnded) this.end('failed', this.parts.onFailure(error));
      return this.#lastResult();
    }
  }

  /** While the database is unreachable or busy, no event is lost. The stream continues from its position afterward. */
  async #nextEvent(): ReturnType<EventStream<unknown>['next']> {
    while (!this.#hasEnded) {
      try {
        return await this.parts.source.next();
      } catch (error) {
        if (!(error instanceof Refusal) || !RETRYABLE_CODES.includes(error.code)) throw error;
        await delay(STREAM.retryAfterMs, undefined, { ref: false });
      }
    }
    return { done: true, value: undefined };
  }

  /** Ends the subscription. If `last` is given, it's the last response to the client. */
  end(end: StreamEnd, last?: FormattedExecutionResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#last = last;
    this.parts.source.close();
    this.parts.onEnd(end, this.#answers);
  }

  return(): Promise<Next> {
    this.end(this.parts.endOfConnection() ?? 'completed');
    return Promise.resolve(this.#lastResult());
  }

  throw(error: unknown): Promise<Next> {
    this.end('failed', this.parts.onFailure(error));
    return Promise.resolve(this.#lastResult());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #lastResult(): Next {
    const value = this.#last;
    this.#last = undefined;
    return value ? { value, done: false } : { value: undefined, done: true };
  }
}

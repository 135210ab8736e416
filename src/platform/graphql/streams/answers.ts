/** A subscription's responses from start to end: its document's result for each event. */
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
  /** The reason for closing the connection, if it's closing. */
  endOfConnection(): StreamEnd | undefined;
}

/** The server or the caller's quota is at capacity. */
const RETRYABLE_CODES: readonly string[] = ['OVERLOADED', 'RATE_LIMITED'];

type Next = IteratorResult<FormattedExecutionResult, undefined>;

/**
 * An iterator instead of a generator. A generator that waits for an event could end only after the next event. Events
 * that arrive after the end are never sent.
 */
export class AnswerStream implements AsyncGenerator<FormattedExecutionResult, undefined, undefined> {
  #answers = 0;
  #hasEnded = false;
  #last: FormattedExecutionResult | undefined;

  constructor(private readonly options: StreamOptions) {}

  async next(): Promise<Next> {
    if (this.#hasEnded) return this.#lastResult();
    try {
      await this.options.ready();
      const event = await this.#nextEvent();
      if (event.done === true) this.end(this.options.endOfConnection() ?? 'draining');
      if (this.#hasEnded || event.done === true) return this.#lastResult();
      const value = await this.options.answer(event.value);
      if (this.#hasEnded) return this.#lastResult();
      this.#answers += 1;
      this.options.onAnswer();
      return { value, done: false };
    } catch (error) {
      // When a client leaves, its place in a queue is given up, which isn't a failure.
      if (!this.#hasEnded) this.end('failed', this.options.onFailure(error));
      return this.#lastResult();
    }
  }

  /**
   * While the database is unreachable or busy, the stream waits. It then continues from its position, so no event is
   * lost.
   */
  async #nextEvent(): ReturnType<EventStream<unknown>['next']> {
    while (!this.#hasEnded) {
      try {
        return await this.options.source.next();
      } catch (error) {
        if (!(error instanceof Refusal) || !RETRYABLE_CODES.includes(error.code)) throw error;
        await delay(STREAM.retryAfterMs, undefined, { ref: false });
      }
    }
    return { done: true, value: undefined };
  }

  /** Ends the subscription. `last` is the final response, if there is one. */
  end(end: StreamEnd, last?: FormattedExecutionResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#last = last;
    this.options.source.close();
    this.options.onEnd(end, this.#answers);
  }

  return(): Promise<Next> {
    this.end(this.options.endOfConnection() ?? 'completed');
    return Promise.resolve(this.#lastResult());
  }

  throw(error: unknown): Promise<Next> {
    this.end('failed', this.options.onFailure(error));
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

/**
 * Server-sent events in GraphQL-SSE's "distinct connections mode", where each request is one stream. The other mode
 * makes a server keep reservations for unauthenticated clients.
 */
import type { ServerResponse } from 'node:http';
import type { ExecutionResult, FormattedExecutionResult, GraphQLFormattedError } from 'graphql';
import { createHandler } from 'graphql-sse';
import type { Exchange } from '../../http/exchange.js';
import type { Timeouts } from '../../service-limits.js';
import type { UnreadAnswers } from '../../http/unread.js';
import { serverStops } from '../../http/draining.js';
import type { Caller } from '../../call/caller.js';
import { refuse, PLATFORM_REFUSALS, unauthenticated } from '../../errors.js';
import { type StreamEnd, endWithSession } from './stream-ends.js';
import { setRateLimitHeaders } from '../../http/rate-limit-headers.js';
import { waitForSlot } from '../../quotas/quotas.js';
import { retryAfterIfUnavailable } from '../errors.js';
import type { AnswerStream } from './answers.js';
import { formatRefusal, type Connection, type OpenSubscription } from './subscriptions.js';

const EVENT_STREAM = 'text/event-stream';

export interface ServerSentEvents {
  answer(exchange: Exchange, caller: Caller, body: unknown): Promise<void>;
  /** Ends all streams. Clients then reconnect to another server. */
  drain(): void;
}

export interface ServerSentEventsOptions {
  readonly timeouts: Timeouts;
  readonly unread: Pick<UnreadAnswers, 'hold'>;
  readonly openSubscription: OpenSubscription;
}

export function openServerSentEvents(options: ServerSentEventsOptions): ServerSentEvents {
  const open = new Set<EventResponse>();
  let isDraining = false;

  return {
    async answer(exchange, caller, body) {
      assertTakesEvents(exchange);
      const viewer = await caller.viewer();
      if (isDraining) throw serverStops();
      const connection = new EventResponse(exchange.response, caller, options.unread);
      // Added before the stream opens, so a logout or a shutdown in the meantime ends this connection too.
      open.add(connection);
      const stop = endWithSession(caller, viewer, options.timeouts.afterExpiryMs, (end) => connection.close(end));
      try {
        const result = await options.openSubscription(caller, connection, body);
        caller.underWay?.end();
        setRateLimitHeaders(exchange.response, caller.rateLimitResults);
        if (!result.stream) return await sendRefusedSubscription(exchange, connection, result.errors);
        exchange.beganStream();
        await connection.stream(result.stream);
      } finally {
        stop();
        open.delete(connection);
      }
    },
    drain() {
      isDraining = true;
      for (const one of open) one.close('draining');
    },
  };
}

/** Browsers and graphql-sse ask for this media type. curl accepts anything. */
function assertTakesEvents(exchange: Exchange): void {
  const accept = exchange.header('accept') ?? '*/*';
  if (accept.includes(EVENT_STREAM) || accept.includes('*/*')) return;
  throw refuse('VALIDATION_FAILED', { message: `This URL returns a stream. Send Accept: ${EVENT_STREAM}.` });
}

/** Clients retry after a 503, but not after a stream that ended with `complete`. */
async function sendRefusedSubscription(
  exchange: Exchange,
  connection: EventResponse,
  errors: readonly GraphQLFormattedError[],
): Promise<void> {
  const retryAfter = retryAfterIfUnavailable({ errors });
  if (retryAfter === undefined) return connection.send(refusedAnswers(errors));
  exchange.response.setHeader('Retry-After', String(retryAfter));
  exchange.sendJson(PLATFORM_REFUSALS.OVERLOADED[0], { errors });
}

async function* refusedAnswers(errors: readonly GraphQLFormattedError[]): AsyncGenerator<FormattedExecutionResult> {
  yield { errors };
}

/** graphql-sse's types expect errors that it formats, but these are already formatted. */
const handle = createHandler<AsyncIterable<FormattedExecutionResult>>({
  authenticate: () => null,
  onSubscribe: ({ raw }) => raw as AsyncIterable<ExecutionResult>,
});

/** The headers of a placeholder request for graphql-sse. The real request has already been read and executed. */
const HEADERS: Readonly<Record<string, string>> = { accept: EVENT_STREAM, 'content-type': 'application/json' };
const SUBSCRIBE_REQUEST = {
  method: 'POST',
  url: '/graphql/stream',
  headers: { get: (name: string) => HEADERS[name] },
  body: { query: 'subscription { opened }' },
  context: undefined,
};

class EventResponse implements Connection {
  readonly channel = 'sse';
  end: StreamEnd | undefined;
  #stream: AnswerStream | undefined;
  #lastWrite: Promise<void> = Promise.resolve();
  /** Ends the wait in `ready`. If the connection closes, Node may never call back for a write. */
  #stopWaiting: () => void = () => {};

  constructor(
    private readonly response: ServerResponse,
    private readonly caller: Caller,
    private readonly unread: Pick<UnreadAnswers, 'hold'>,
  ) {
    response.once('close', () => {
      this.end ??= 'left';
      this.#stream?.end(this.end);
      this.#stopWaiting();
    });
  }

  /** Ends the stream. Clients retry after a cut-off response, but not after one that ended with `complete`. */
  close(end: StreamEnd): void {
    if (this.end) {
      // The client isn't reading the last event either.
      if (end === 'slow') this.#cut();
      return;
    }
    this.end = end;
    if (this.#stream) this.#break(this.#stream, end);
  }

  #break(stream: AnswerStream, end: StreamEnd): void {
    if (end === 'session_ended') {
      const refusal = unauthenticated('session_ended');
      return stream.end(end, { errors: [formatRefusal(refusal, this.caller)] });
    }
    if (end === 'slow') return this.#cut();
    this.response.end();
    stream.end(end);
  }

  /** A response that waits behind an earlier one has no connection of its own to close. */
  #cut(): void {
    this.response.req.socket.destroy();
  }

  /** Resolves once the client has read the last event. Otherwise, events would pile up. */
  async ready(): Promise<void> {
    await waitForSlot(this.caller.services.quotas.streamEvents, this.caller.client);
    const { writableLength } = this.response;
    if (writableLength === 0 || this.response.destroyed) return;
    const release = this.unread.hold(this.caller.client, writableLength, () => this.close('slow'));
    await new Promise<void>((resolve) => {
      this.#stopWaiting = resolve;
      void this.#lastWrite.then(resolve);
    });
    release();
  }

  async stream(answers: AnswerStream): Promise<void> {
    this.#stream = answers;
    if (this.response.destroyed) return answers.end('left');
    this.#begin();
    // The session ended, or the server stopped, while the stream was opening.
    if (this.end) this.#break(answers, this.end);
    if (!this.response.writableEnded) await this.send(answers);
  }

  async send(answers: AsyncIterable<FormattedExecutionResult>): Promise<void> {
    const { response } = this;
    const [events] = await handle({ ...SUBSCRIBE_REQUEST, raw: answers });
    if (typeof events !== 'object' || events === null) throw new Error('graphql-sse opened no stream.');
    response.once('close', () => void events.return());
    this.#begin();
    for await (const event of events) {
      if (response.writableEnded || response.destroyed) break;
      this.#lastWrite = new Promise((resolve) => response.write(event, () => resolve()));
    }
    response.end();
  }

  #begin(): void {
    this.response.setHeader('Content-Type', `${EVENT_STREAM}; charset=utf-8`);
    // Makes nginx forward each event immediately.
    this.response.setHeader('X-Accel-Buffering', 'no');
  }
}

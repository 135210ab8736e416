/** Opens subscriptions. Apollo processes their documents like any others, but the executor creates a stream. */
import { type FormattedExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { EventStream } from '../../live/live.js';
import type { Caller } from '../../call/caller.js';
import { Refusal, refuse, PLATFORM_REFUSALS } from '../../errors.js';
import type { StreamChannel, StreamEnd } from './stream-ends.js';
import type { Release } from '../../quotas/quota.js';
import { extensionsOf } from '../errors.js';
import { limitErrors } from '../failures.js';
import type { FoundDocument } from '../documents/automatic-queries.js';
import type { GraphqlRequest } from '../documents/persisted-documents.js';
import { AnswerStream } from './answers.js';
import type { AnswerEvent, Opening } from '../context.js';

export interface Connection {
  readonly channel: StreamChannel;
  /** Why the connection is closing. Undefined while it's open. */
  readonly end: StreamEnd | undefined;
  ready(): Promise<void>;
}

export interface OpeningResult {
  readonly stream?: AnswerStream;
  readonly errors: readonly GraphQLFormattedError[];
}

/** Opens a subscription, which counts against the caller's quota once it's open. The channel handles refusals. */
export type OpenSubscription = (caller: Caller, connection: Connection, body: unknown) => Promise<OpeningResult>;

export interface SubscriptionOptions {
  findDocument(request: GraphqlRequest): Promise<FoundDocument>;
  /** Executes the document until its stream is open. Returns the errors. */
  execute(caller: Caller, body: unknown, opening: Opening): Promise<readonly GraphQLFormattedError[]>;
  format(error: GraphQLError): GraphQLFormattedError;
}

export function createSubscriptions({ findDocument, execute, format }: SubscriptionOptions): OpenSubscription {
  return async (caller, connection, body) => {
    const began = performance.now();
    const { record } = caller.request;
    record.api = 'graphql';
    const stream = new OpeningStream(caller, connection, format);
    try {
      const { request, keep } = await findDocument({ method: 'POST', search: '', body });
      const errors = await execute(caller, request.body, stream);
      if (errors.length > 0) return { errors };
      await keep?.();
      const result = { stream: stream.finish(), errors };
      caller.services.metrics.recordAnswer(record, (performance.now() - began) / 1000);
      return result;
    } catch (error) {
      stream.abandon();
      if (!(error instanceof Refusal)) throw error;
      record.addRefusal(error);
      return { errors: [formatRefusal(error, caller)] };
    }
  };
}

export function formatRefusal(refusal: Refusal, { request }: Pick<Caller, 'request'>): GraphQLFormattedError {
  return { message: refusal.message, extensions: { ...extensionsOf(refusal), requestId: request.requestId } };
}

class OpeningStream implements Opening {
  #source: EventStream<unknown> | undefined;
  #release: Release | undefined;
  #answer: AnswerEvent | undefined;

  constructor(
    private readonly caller: Caller,
    private readonly connection: Connection,
    private readonly format: SubscriptionOptions['format'],
  ) {}

  begin<Stream extends EventStream<unknown>>(open: () => Stream): Stream {
    this.#release = this.caller.services.quotas.streams.take(this.caller.client);
    const source = open();
    this.#source = source;
    return source;
  }

  answerWith(answer: AnswerEvent): void {
    this.#answer = answer;
  }

  abandon(): void {
    this.#source?.close();
    this.#release?.();
  }

  finish(): AnswerStream {
    const [source, answer] = [this.#source, this.#answer];
    if (!source || !answer) throw new Error('A subscription ran without opening a stream.');
    const { services, request } = this.caller;
    const { channel } = this.connection;
    const openedAt = performance.now();
    services.metrics.recordStreamStart(channel);
    return new AnswerStream({
      source,
      ready: () => this.connection.ready(),
      answer: async (event) => {
        const answered = this.#formatResult(await answer(event));
        const { user } = this.caller.client;
        if (user !== undefined) await services.replica?.bringUpToDate([user]);
        return answered;
      },
      endOfConnection: () => this.connection.end,
      onAnswer: () => services.metrics.recordStreamEvent(channel),
      onFailure: (error) => {
        services.log.error({ err: error, requestId: request.requestId }, 'a stream failed');
        return { errors: [formatRefusal(refuse('INTERNAL'), this.caller)] };
      },
      onEnd: (end, answers) => {
        this.#release?.();
        services.metrics.recordStreamEnd(channel, end);
        services.log.info(this.#lineOf(end, answers, openedAt), 'a stream ended');
      },
    });
  }

  #lineOf(end: StreamEnd, events: number, openedAt: number): object {
    const { request, client } = this.caller;
    const { document, operations } = request.record;
    return {
      requestId: request.requestId,
      channel: this.connection.channel,
      operation: [...operations].join(' '),
      end,
      events,
      seconds: Math.round((performance.now() - openedAt) / 100) / 10,
      address: client.address,
      user: client.user,
      ...(request.record.apiKey && { apiKey: request.record.apiKey }),
      ...(document && { document: document.name, documentHash: document.hash }),
    };
  }

  #formatResult({ data, errors: fieldErrors = [] }: Awaited<ReturnType<AnswerEvent>>): FormattedExecutionResult {
    if (fieldErrors.length === 0) return { data: data ?? null };
    const { requestId, record } = this.caller.request;
    const allErrors = fieldErrors.map((error) => this.format(error));
    record.addErrors(allErrors);
    const { errors } = limitErrors(allErrors);
    return {
      data: data ?? null,
      errors: errors.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } })),
    };
  }
}

export class SentError extends GraphQLError {
  constructor(readonly formattedError: GraphQLFormattedError) {
    super(formattedError.message);
  }
}

/** Reveals nothing about errors from other code. */
export function formattedErrorOf(error: GraphQLError): GraphQLFormattedError {
  if (error instanceof SentError) return error.formattedError;
  const [status, message] = PLATFORM_REFUSALS.INTERNAL;
  return { message, extensions: { code: 'INTERNAL', status } };
}

/** The public clients of both channels, used like in an app. */
import { inspect } from 'node:util';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient, type Client, type ClientOptions } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Json, TestApp } from '../../../setup/app.js';
import type { Person } from '../../../story/cast.js';
import { until } from '../../security/until.js';

export const MY_EVENTS = 'subscription($after: String) { myEvents(after: $after) { id type position jobId data } }';
export const JOB_EVENTS =
  'subscription($job: ID!, $after: String) { jobEvents(jobId: $job, after: $after) { id type position jobId data } }';

export interface Heard {
  readonly events: Json[];
  readonly answers: Json[];
  /** The subscription's errors or a close event. Undefined if the stream completed. */
  readonly ended: Promise<unknown>;
  /** Resolves once this many events have arrived. */
  count(events: number): Promise<void>;
  stop(): void;
}

interface Sink {
  next(answer: Json): void;
  error(error: unknown): void;
  complete(): void;
}

const subscriptions = new Set<Heard>();

/** Stops every stream that the file's tests left open, so the next test finds none. */
export function stopAll(): void {
  for (const heard of subscriptions) heard.stop();
  subscriptions.clear();
}

export function hear(subscribe: (sink: Sink) => () => void): Heard {
  const events: Json[] = [];
  const answers: Json[] = [];
  let changed = () => {};
  let end: (how: unknown) => void = () => {};
  const ended = new Promise((resolve) => (end = resolve));
  const stop = subscribe({
    next(answer) {
      answers.push(answer);
      const event = answer.data && Object.values(answer.data)[0];
      if (event) events.push(event);
      changed();
    },
    error: end,
    complete: () => end(undefined),
  });
  const heard: Heard = {
    events,
    answers,
    ended,
    async count(wanted) {
      while (events.length < wanted) await new Promise<void>((resolve) => (changed = resolve));
    },
    stop,
  };
  subscriptions.add(heard);
  return heard;
}

export interface Connected {
  readonly client: Client;
  readonly connected: Promise<void>;
  readonly closed: Promise<{ code: number; reason: string }>;
  subscribe(query: string, variables?: object): Heard;
}

export function connectAs(
  url: string,
  person: Pick<Person, 'token'> | undefined,
  options: Partial<ClientOptions> = {},
): Connected {
  let onConnected = () => {};
  let onClosed: (event: { code: number; reason: string }) => void = () => {};
  const connected = new Promise<void>((resolve) => (onConnected = resolve));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => (onClosed = resolve));
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    ...(person && { connectionParams: { authorization: `Bearer ${person.token}` } }),
    ...options,
    on: {
      ...options.on,
      connected: () => onConnected(),
      closed: (event) => onClosed(event as { code: number; reason: string }),
    },
  });
  return {
    client,
    connected,
    closed,
    subscribe: (query, variables = {}) =>
      hear((sink) => client.subscribe({ query, variables: variables as Record<string, unknown> }, sink)),
  };
}

/** Waits until the server counts this many open streams. */
export async function untilOpen({ quotas }: Pick<TestApp['services'], 'quotas'>, streams: number): Promise<void> {
  await until(() => quotas.streams.inUse() === streams);
}

type Hear = (url: string, person: Pick<Person, 'token'> | undefined, query: string, variables?: object) => Heard;

export const hearOverWebSocket: Hear = (url, person, query, variables) =>
  connectAs(url, person).subscribe(query, variables);

export const hearAsEvents: Hear = (url, person, query, variables = {}) => {
  const client = createSseClient({
    url: `${url}/graphql/stream`,
    retryAttempts: 0,
    headers: person ? { authorization: `Bearer ${person.token}` } : {},
  });
  return hear((sink) => client.subscribe({ query, variables: variables as Record<string, unknown> }, sink));
};

export const CHANNELS: readonly (readonly [name: string, hear: Hear])[] = [
  ['a WebSocket', hearOverWebSocket],
  ['server-sent events', hearAsEvents],
];

/** The error codes of a rejected subscription, on either channel. */
export async function refusalOf({ ended, answers }: Heard): Promise<string[]> {
  const end = await ended;
  const errors = end ?? answers.at(-1)?.errors;
  if (!Array.isArray(errors)) throw new Error(`A stream was not refused, but ended by ${inspect(end)}.`);
  return errors.map(({ extensions }: Json) => extensions.code);
}

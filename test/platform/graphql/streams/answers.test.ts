import { expect, it } from 'vitest';
import { AnswerStream } from '../../../../src/platform/graphql/streams/answers.js';
import type { EventStream } from '../../../../src/platform/live/live.js';
import { refuse } from '../../../../src/market/rules/errors.js';
import type { JobEvent } from '../../../../src/market/store/events/events.js';

const EVENT: Partial<JobEvent> = { id: 'evt_one' };

function refusedOnce(code: Parameters<typeof refuse>[0]): {
  source: EventStream<unknown>;
  failures: unknown[];
  stream: AnswerStream;
} {
  let asked = 0;
  const source = {
    next: () => {
      asked += 1;
      return asked === 1 ? Promise.reject(refuse(code)) : Promise.resolve({ done: false, value: EVENT });
    },
    close: () => {},
  } as EventStream<unknown>;
  const failures: unknown[] = [];
  const stream = new AnswerStream({
    source,
    ready: () => Promise.resolve(),
    answer: (event) => Promise.resolve({ data: { id: (event as JobEvent).id } }),
    onFailure: (error) => {
      failures.push(error);
      return { errors: [] };
    },
    onAnswer: () => {},
    onEnd: () => {},
    endOfConnection: () => undefined,
  });
  return { source, failures, stream };
}

it.each(['OVERLOADED', 'RATE_LIMITED'] as const)(
  "reading the next event is retried after %s, and the event isn't lost",
  async (code) => {
    const { stream, failures } = refusedOnce(code);
    expect(await stream.next()).toEqual({ done: false, value: { data: { id: EVENT.id } } });
    expect(failures).toEqual([]);
  },
);

it('any other refusal ends the stream', async () => {
  const { stream, failures } = refusedOnce('FORBIDDEN');
  expect(await stream.next()).toEqual({ done: false, value: { errors: [] } });
  expect(failures).toHaveLength(1);
  expect((await stream.next()).done).toBe(true);
});

it('a client that leaves while its next event waits for a turn leaves no failure behind', async () => {
  const { stream, failures } = refusedOnce('FORBIDDEN');
  const next = stream.next();
  stream.end('left');
  expect(await next).toEqual({ done: true, value: undefined });
  expect(failures).toEqual([]);
});

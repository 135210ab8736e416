/**
 * A closed loop: a fixed number of connections, each with one request in progress at any time. It only checks where
 * each response ends and whether it is an error.
 */
import { connect, type Socket } from 'node:net';
import { addressOf } from '../../story/addresses.js';

export interface Driven {
  readonly seconds: number;
  readonly answered: number;
  /** Responses with a status of 400 or above, or with GraphQL errors. */
  readonly refused: number;
  /** In milliseconds, one per request, in no particular order. */
  readonly latencies: readonly number[];
}

export interface Drive {
  readonly port: number;
  readonly connections: number;
  /** The n-th request. Undefined when there are none left. */
  next(n: number): Buffer | undefined;
  readonly seconds: number;
}

export async function drive({ port, connections, next, seconds }: Drive): Promise<Driven> {
  const lines = await Promise.all(Array.from({ length: connections }, (_, n) => openLine(port, n)));
  const latencies: number[] = [];
  let refused = 0;
  let sent = 0;
  const began = performance.now();
  const until = began + seconds * 1_000;
  await Promise.all(
    lines.map(async (line) => {
      while (performance.now() < until) {
        const request = next(sent++);
        if (!request) break;
        const asked = performance.now();
        if ((await line.ask(request)).refused) refused += 1;
        latencies.push(performance.now() - asked);
      }
    }),
  );
  const took = (performance.now() - began) / 1_000;
  for (const line of lines) line.close();
  return { seconds: took, answered: latencies.length, refused, latencies };
}

export interface Answered {
  readonly status: number;
  /** True for a status of 400 or above, or for GraphQL errors. */
  readonly refused: boolean;
}

export interface Line {
  ask(request: Buffer): Promise<Answered>;
  close(): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const ERRORS = Buffer.from('"errors":');

/** Each caller has a separate network address, like real ones, because a server limits each address to a quota. */
export function openLine(port: number, caller: number): Promise<Line> {
  return new Promise((opened, failed) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(caller), noDelay: true });
    let received: Buffer | undefined;
    let settle: { resolve(answered: Answered): void; reject(error: Error): void } | undefined;
    const fail = (error: Error) => {
      failed(error);
      settle?.reject(error);
    };
    socket.once('error', fail);
    socket.once('close', () => fail(new Error('The server closed a connection in the middle of the work.')));
    socket.on('data', (chunk: Buffer) => {
      received = received ? Buffer.concat([received, chunk]) : chunk;
      const answered = answerIn(received);
      if (!answered) return;
      received = undefined;
      settle?.resolve(answered);
    });
    socket.once('connect', () =>
      opened({
        ask: (request) =>
          new Promise((resolve, reject) => {
            settle = { resolve, reject };
            socket.write(request);
          }),
        close: () => {
          settle = undefined;
          socket.destroy();
        },
      }),
    );
  });
}

/** Undefined until the response is complete. Requests are never pipelined, so the response ends where the bytes end. */
function answerIn(received: Buffer): Answered | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = received.toString('latin1', 0, headEnd);
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  const whole =
    length === undefined
      ? received.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
      : received.length >= headEnd + HEAD_END.length + Number(length);
  if (!whole) return undefined;
  const status = Number(head.slice(9, 12));
  return { status, refused: status >= 400 || received.indexOf(ERRORS, headEnd) >= 0 };
}

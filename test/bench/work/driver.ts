/**
 * A closed loop: so many connections, each with one request under way at any time. It reads no more of an answer than
 * where it ends and whether it is a refusal.
 */
import { connect, type Socket } from 'node:net';
import { addressOf } from '../../story/addresses.js';

export interface Driven {
  readonly seconds: number;
  readonly answered: number;
  /** Answers of 400 and above, or with errors in them. */
  readonly refused: number;
  /** In milliseconds, one a request, in no order. */
  readonly latencies: readonly number[];
}

export interface Drive {
  readonly port: number;
  readonly connections: number;
  /** The n-th request; undefined when there are none left. */
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
  /** 400 and above, or errors inside. */
  readonly refused: boolean;
}

export interface Line {
  ask(request: Buffer): Promise<Answered>;
  close(): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const ERRORS = Buffer.from('"errors":');

/**
 * Each caller has a network address of its own, as real ones do: a server may give one address no more than a share.
 */
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

/** Undefined until the answer is whole. Nothing is ever pipelined, so an answer ends where the bytes do. */
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

/** A raw connection to a server. It sends any bytes at any pace, and reads the response byte by byte. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'vitest';
import { addressOf } from '../story/addresses.js';
import type { Json } from '../setup/app.js';

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface RawConnection {
  readonly socket: Socket;
  send(bytes: string | Uint8Array): void;
  /** The next response. Rejects if the connection closes before the response is complete. */
  answer(): Promise<RawAnswer>;
  /** Resolves once the other side has closed the connection in any way. */
  readonly closed: Promise<void>;
  hangUp(): void;
}

/** With `from`, connects from that caller's address. */
export async function openConnection(url: string, from?: number): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const localAddress = from === undefined ? undefined : addressOf(from);
  const socket = connect({ host: hostname, port: Number(port), localAddress, noDelay: true });
  let received = Buffer.alloc(0);
  let wake = () => {};
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  void closed.then(() => wake());
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  await once(socket, 'connect');
  socket.on('error', () => {}); // A reset is one of the ways to close a connection.

  async function answer(): Promise<RawAnswer> {
    for (;;) {
      const found = answerIn(received);
      if (found) {
        received = received.subarray(found.bytes);
        // 100 Continue is not yet the response.
        if (found.answer.status !== 100) return found.answer;
      } else if (socket.destroyed)
        throw new Error(
          `The connection was closed after ${JSON.stringify(received.toString('latin1').slice(0, 200))}.`,
        );
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  return { socket, send: (bytes) => void socket.write(bytes), answer, closed, hangUp: () => socket.destroy() };
}

function answerIn(received: Buffer): { answer: RawAnswer; bytes: number } | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const bytes = end + 4 + Number(headers.get('content-length') ?? 0);
  if (received.length < bytes) return undefined;
  return { answer: { status, headers, body: received.subarray(end + 4, bytes).toString() }, bytes };
}

/** A valid request line and headers. Tests that need invalid ones write their own. */
export function head(method: string, target: string, headers: readonly string[] = [], version = '1.1'): string {
  return [`${method} ${target} HTTP/${version}`, 'Host: market.test', ...headers, '', ''].join('\r\n');
}

export function post(target: string, body: string | Uint8Array, headers: readonly string[] = []): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([
    Buffer.from(
      head('POST', target, ['Content-Type: application/json', `Content-Length: ${bytes.length}`, ...headers]),
    ),
    bytes,
  ]);
}

export const jsonOf = ({ body }: RawAnswer): Json => JSON.parse(body);

/** Also checks the form: always the same four keys, including the request's ID. */
export function refusalIn(answer: RawAnswer): readonly [number, string] {
  const body = jsonOf(answer);
  expect(Object.keys(body)).toEqual(['status', 'error', 'details', 'blocked_fields']);
  expect(body).toMatchObject({ status: answer.status, error: expect.stringMatching(/\S.*\.$/), blocked_fields: [] });
  expect(body.details.request_id).toBe(answer.headers.get('x-request-id'));
  for (const name of ['x-injected', 'set-cookie', 'x-b']) expect(answer.headers.has(name)).toBe(false);
  return [answer.status, body.details.code];
}

/** A client that sends exactly the bytes it is given, and holds what comes back against the clock. */
import { connect, type Socket } from 'node:net';

export interface Reply {
  /** 0 where the connection ended without a word. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly ms: number;
  /** All the statuses, where one connection answered several times. */
  readonly statuses: readonly number[];
}

export const HANG_MS = 60_000;

/** One connection that is used again and again, and made anew when the server has closed it. */
export class Line {
  private socket: Socket | undefined;

  constructor(private readonly port: number) {}

  async ask(bytes: Buffer, method: string): Promise<Reply> {
    const reused = this.socket !== undefined;
    const reply = await this.exchange(bytes, method);
    // The server may have closed the connection in the moment in which it was used again.
    return reused && reply.status === 0 && reply.ms < HANG_MS ? this.exchange(bytes, method) : reply;
  }

  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
  }

  private exchange(bytes: Buffer, method: string): Promise<Reply> {
    const socket = (this.socket ??= connect(this.port, '127.0.0.1').setNoDelay(true));
    const began = performance.now();
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const settle = (answer: Parsed | undefined) => {
        clearTimeout(late);
        socket.removeAllListeners();
        socket.on('error', () => {});
        const stays = answer !== undefined && !/close/i.test(answer.headers.get('connection') ?? '');
        if (!stays) this.close();
        else socket.once('close', () => (this.socket = this.socket === socket ? undefined : this.socket));
        resolve({ ...(answer ?? NO_ANSWER), ms: performance.now() - began, statuses: [answer?.status ?? 0] });
      };
      const late = setTimeout(() => settle(undefined), HANG_MS);
      socket.removeAllListeners();
      socket.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        const answer = parse(Buffer.concat(chunks), method);
        if (answer) settle(answer);
      });
      socket.once('error', () => settle(undefined));
      socket.once('close', () => settle(undefined));
      socket.write(bytes);
    });
  }
}

/**
 * How long nothing may come before the caller hangs up: after an answer it is over, but for another one that follows on
 * its heels.
 */
const QUIET_MS = { unanswered: 60, answered: 3 };

/**
 * Says all of it on a connection of its own, and hangs up once nothing more comes. Node takes a caller who hangs up for
 * one who does not listen either, so that this is not done before; but it ends every request that is still waiting for
 * its rest.
 */
export function say(port: number, bytes: Buffer): Promise<Reply> {
  const began = performance.now();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let lastHeard = began;
    let hungUp: number | undefined;
    let quiet: NodeJS.Timeout | undefined;
    const hangUpWhenQuiet = (ms: number) => {
      clearTimeout(quiet);
      quiet = setTimeout(() => {
        hungUp = performance.now();
        socket.end();
      }, ms);
    };
    const settle = () => {
      clearTimeout(late);
      clearTimeout(quiet);
      socket.destroy();
      const answers = parseAll(Buffer.concat(chunks));
      const ms = Math.max(lastHeard - began, performance.now() - (hungUp ?? lastHeard));
      resolve({ ...(answers[0] ?? NO_ANSWER), ms, statuses: answers.map(({ status }) => status) });
    };
    const late = setTimeout(settle, HANG_MS);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      lastHeard = performance.now();
      hangUpWhenQuiet(parseAll(Buffer.concat(chunks)).length > 0 ? QUIET_MS.answered : QUIET_MS.unanswered);
    });
    socket.once('end', settle);
    // A reset is what the rest of a request meets that was refused at its beginning; what was said before counts.
    socket.once('error', settle);
    socket.write(bytes);
    hangUpWhenQuiet(QUIET_MS.unanswered);
  });
}

interface Parsed {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

const NO_ANSWER: Parsed = { status: 0, headers: new Headers(), body: Buffer.alloc(0) };

function parseAll(bytes: Buffer): Parsed[] {
  const answers: Parsed[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const found = take(rest, undefined);
    if (!found) break;
    if (found.answer.status >= 200) answers.push(found.answer);
    rest = rest.subarray(found.length);
  }
  return answers;
}

/** The whole answer, once it is there; interim ones are passed over. */
function parse(bytes: Buffer, method: string): Parsed | undefined {
  let rest = bytes;
  for (;;) {
    const found = take(rest, method);
    if (!found || found.answer.status >= 200) return found?.answer;
    rest = rest.subarray(found.length);
  }
}

function take(bytes: Buffer, method: string | undefined): { answer: Parsed; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1] ?? 999);
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const announced = Number(headers.get('content-length') ?? 0);
  const length = bodyless(status, method, bytes, end + 4) ? 0 : announced;
  if (bytes.length < end + 4 + length) return undefined;
  return { answer: { status, headers, body: bytes.subarray(end + 4, end + 4 + length) }, length: end + 4 + length };
}

/**
 * Of a pipeline nobody knows which method an answer is for: a body that is followed by nothing, or by another answer,
 * is none.
 */
function bodyless(status: number, method: string | undefined, bytes: Buffer, at: number): boolean {
  if (status < 200 || status === 204 || status === 304) return true;
  if (method !== undefined) return method === 'HEAD';
  return bytes.length === at || bytes.subarray(at, at + 9).toString('latin1') === 'HTTP/1.1 ';
}

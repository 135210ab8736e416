/** A client that sends exactly the given bytes, and times the response. */
import { connect, type Socket } from 'node:net';

export interface Reply {
  /** Zero if the connection ended without a response. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly ms: number;
  /** All statuses, if one connection got several responses. */
  readonly statuses: readonly number[];
}

export const HANG_MS = 60_000;

/** A connection that is reused. It is opened again after the server closes it. */
export class Line {
  private socket: Socket | undefined;

  constructor(private readonly port: number) {}

  async ask(bytes: Buffer, method: string): Promise<Reply> {
    const reused = this.socket !== undefined;
    const reply = await this.exchange(bytes, method);
    // The server may have closed the connection just as it was reused.
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
 * How long the connection must be quiet before the caller hangs up. After a response, only another one right behind it
 * could follow.
 */
const QUIET_MS = { unanswered: 60, answered: 3 };

/**
 * Sends all bytes on a separate connection, and hangs up once no more data comes. It can't hang up earlier, because
 * Node assumes that a caller who hangs up has also stopped listening. Hanging up ends every request that is still
 * incomplete.
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
    // If the server rejects a request early, the rest of the request causes a reset. Earlier responses count.
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

/** The complete response, once it has arrived. Skips interim responses. */
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
 * In a pipeline, a response's method is unknown. If nothing, or another response, follows the headers, there is no
 * body.
 */
function bodyless(status: number, method: string | undefined, bytes: Buffer, at: number): boolean {
  if (status < 200 || status === 204 || status === 304) return true;
  if (method !== undefined) return method === 'HEAD';
  return bytes.length === at || bytes.subarray(at, at + 9).toString('latin1') === 'HTTP/1.1 ';
}

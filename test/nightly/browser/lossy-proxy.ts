/**
 * A network that loses responses. Each request reaches the server and is carried out, but some connections end without
 * a response. Some streams end before an event that was sent arrives. The losses depend only on the seed, the
 * operation's name, and the number of earlier calls. A run can therefore be repeated, however the calls of several tabs
 * interleave.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface LossyProxy {
  readonly url: string;
  /** The number of requests and of lost responses, by the operation's name. */
  readonly calls: ReadonlyMap<string, { came: number; lost: number }>;
  /** The number of streams that were ever opened, and of those that are open now. */
  readonly streams: { came: number; open: number };
  /** Sets the share of responses that are lost from now on, from 0 to 1. */
  lose(share: number): void;
  /** If `isLost` is true, every successful response to this operation is lost from now on. Errors still arrive. */
  loseSuccess(operation: string, isLost: boolean): void;
  /** Ends every stream, and blocks all requests and streams until it's called with false. */
  cut(isCut: boolean): void;
  close(): Promise<void>;
}

export async function openLossyProxy(target: () => string, seed: number): Promise<LossyProxy> {
  let share = 0;
  const cutOff = new Set<string>();
  const calls = new Map<string, { came: number; lost: number }>();

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (isCut) return void incoming.socket.destroy();
    const body = await buffer(incoming);
    const answer = await forward(`${target()}${incoming.url}`, incoming, body);
    if (incoming.method === 'POST' && isLost(nameOf(incoming.url, body), answer.body))
      return void incoming.socket.destroy();
    // If a reused connection ends without a response, the browser itself sends the request again.
    outgoing.writeHead(answer.status, { ...answer.headers, connection: 'close' }).end(answer.body);
  }

  function isLost(name: string, answer: Buffer): boolean {
    const counted = calls.get(name) ?? { came: 0, lost: 0 };
    calls.set(name, counted);
    counted.came += 1;
    const isCutOff = cutOff.has(name) && !answer.includes('"errors":');
    const lost = isCutOff || chance(`${seed} ${name} ${counted.came}`) < share;
    if (lost) counted.lost += 1;
    return lost;
  }

  const sockets = new Set<Socket>();
  const streams = { came: 0, open: 0 };
  let isCut = false;

  /** Passes a WebSocket on unchanged. A lost one ends when the server has sent its third part. */
  function passStream(incoming: IncomingMessage, near: Socket, head: Buffer): void {
    if (isCut) return void near.destroy();
    const { hostname, port } = new URL(target());
    const far = connect(Number(port), hostname);
    const isToBeLost = chance(`${seed} stream ${(streams.came += 1)}`) < share;
    let parts = 0;
    far.write(headOf(incoming));
    far.write(head);
    near.pipe(far);
    far.on('data', (part: Buffer) => {
      parts += 1;
      if (isToBeLost && parts === LAST_PART) near.destroy();
      else near.write(part);
    });
    streams.open += 1;
    sockets.add(near);
    near.on('error', () => near.destroy());
    far.on('error', () => far.destroy());
    far.on('end', () => near.end());
    far.on('close', () => near.destroy());
    near.on('close', () => {
      streams.open -= 1;
      sockets.delete(near);
      far.destroy();
    });
  }

  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing).catch(() => outgoing.destroy()));
  server.on('upgrade', (incoming, socket, head) => passStream(incoming, socket as Socket, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    streams,
    cut: (next) => {
      isCut = next;
      if (isCut) for (const socket of sockets) socket.destroy();
    },
    lose: (next) => void (share = next),
    loseSuccess: (operation, isLost) => void (isLost ? cutOff.add(operation) : cutOff.delete(operation)),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The first part after the handshake and its acknowledgment. */
const LAST_PART = 3;

function headOf({ method, url, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
  return [`${method} ${url} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

interface Forwarded {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: Buffer;
}

async function forward(url: string, { method, headers }: IncomingMessage, body: Buffer): Promise<Forwarded> {
  const sent = request(url, { method, headers: { ...headers, connection: 'close' }, agent: false });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
}

/** Clients send the operation's name. A handwritten call names it in its document, and a REST call in its URL. */
function nameOf(url: string | undefined, body: Buffer): string {
  if (url !== '/graphql') return url ?? '';
  const { operationName, query = '' } = JSON.parse(body.toString()) as { operationName?: string; query?: string };
  return operationName ?? /^(?:query|mutation)\s+(\w+)/.exec(query)?.[1] ?? 'unnamed';
}

function chance(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
}

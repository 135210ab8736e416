/**
 * A network that loses answers: each request reaches the server and is carried out, and for some the connection
 * ends without an answer. Some streams end before an event arrives that was sent. Which ones depends only on the seed,
 * the operation's name and how often it was called before, so that a run can be repeated however the calls of several
 * tabs interleave.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface LossyProxy {
  readonly url: string;
  /** By the operation's name: how many requests came, and how many of their answers were lost. */
  readonly calls: ReadonlyMap<string, { came: number; lost: number }>;
  /** How many streams came, and how many are open. */
  readonly streams: { came: number; open: number };
  /** The share of answers that are lost from now on, from 0 to 1. */
  lose(share: number): void;
  /** Whether each answer that says this operation was carried out is lost from now on; refusals arrive. */
  loseSuccess(operation: string, isLost: boolean): void;
  /** Ends every stream, and until it is told otherwise lets no request and no stream through. */
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
    // A browser sends a request again by itself if a connection that it used before ends without an answer.
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

  /** Passes a WebSocket on as it is. One that is lost ends when the third part of it has come from the server. */
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

/** Behind the handshake and its acknowledgement. */
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

/** Clients name the operation; a hand-written call names it in its document, one by REST in its address. */
function nameOf(url: string | undefined, body: Buffer): string {
  if (url !== '/graphql') return url ?? '';
  const { operationName, query = '' } = JSON.parse(body.toString()) as { operationName?: string; query?: string };
  return operationName ?? /^(?:query|mutation)\s+(\w+)/.exec(query)?.[1] ?? 'unnamed';
}

function chance(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
}

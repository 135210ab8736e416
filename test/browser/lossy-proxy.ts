/**
 * A network that loses answers: each request reaches the server and is carried out, and for some the connection
 * ends without an answer. Which ones depends only on the seed, the operation's name and how often it was called before,
 * so that a run can be repeated however the calls of several tabs interleave.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface LossyProxy {
  readonly url: string;
  /** By the operation's name: how many requests came, and how many of their answers were lost. */
  readonly calls: ReadonlyMap<string, { came: number; lost: number }>;
  /** The share of answers that are lost from now on, from 0 to 1. */
  lose(share: number): void;
  close(): Promise<void>;
}

export async function openLossyProxy(target: () => string, seed: number): Promise<LossyProxy> {
  let share = 0;
  const calls = new Map<string, { came: number; lost: number }>();

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const answer = await forward(`${target()}${incoming.url}`, incoming, body);
    if (incoming.method === 'POST' && isLost(nameOf(incoming.url, body))) return void incoming.socket.destroy();
    // A browser sends a request again by itself if a connection that it used before ends without an answer.
    outgoing.writeHead(answer.status, { ...answer.headers, connection: 'close' }).end(answer.body);
  }

  function isLost(name: string): boolean {
    const counted = calls.get(name) ?? { came: 0, lost: 0 };
    calls.set(name, counted);
    counted.came += 1;
    const lost = chance(`${seed} ${name} ${counted.came}`) < share;
    if (lost) counted.lost += 1;
    return lost;
  }

  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing).catch(() => outgoing.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    lose: (next) => void (share = next),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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

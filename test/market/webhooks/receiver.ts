/** A webhook receiver as a customer would build one: a plain server that checks signatures with the public library. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { Json } from '../../setup/app.js';
import { expectAsSent } from '../../story/documented.js';

export interface Received {
  readonly id: string;
  readonly body: Json;
  readonly raw: string;
  readonly headers: IncomingHttpHeaders;
  readonly connection: number;
}

export type Answer = (request: Received, response: ServerResponse) => void;

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  readonly connections: () => number;
  /** The response from now on. By default, 204. */
  answer: Answer;
  /** Resolves once the condition holds for the received requests. */
  until(holds: (received: readonly Received[]) => boolean): Promise<readonly Received[]>;
  close(): Promise<void>;
}

export async function openReceiver(answer: Answer = (_, response) => response.writeHead(204).end()): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const sockets = new Map<Socket, number>();
  let connections = 0;
  const server = createServer((request, response) => void take(request, response));
  server.on('connection', (socket) => {
    sockets.set(socket, (connections += 1));
    socket.on('close', () => sockets.delete(socket));
  });

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await text(request);
    const { headers, socket } = request;
    const one = {
      id: String(headers['webhook-id']),
      body: JSON.parse(raw) as Json,
      raw,
      headers,
      connection: sockets.get(socket) ?? 0,
    };
    received.push(one);
    receiver.answer(one, response);
    for (const check of waiting) check();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    connections: () => connections,
    answer,
    until: (holds) =>
      new Promise((resolve) => {
        const check = () => {
          if (!holds(received)) return;
          waiting.delete(check);
          resolve(received);
        };
        waiting.add(check);
        check();
      }),
    close: async () => {
      for (const socket of sockets.keys()) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Throws if the signature is invalid, or the request doesn't match the document. */
export function verify(secret: string, { raw, headers, body }: Received): unknown {
  expectAsSent(headers, body);
  return new Webhook(secret).verify(raw, headers as Record<string, string>);
}

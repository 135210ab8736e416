/** An endpoint that verifies every delivery with the public library, and fails some of them like a real one. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Receiver {
  readonly url: string;
  /** Each event's ID, with the number of deliveries that had a valid signature. */
  readonly received: ReadonlyMap<string, number>;
  /** Problems found, such as an event whose body differs between deliveries. */
  readonly problems: readonly string[];
  useSecret(secret: string): void;
  close(): Promise<void>;
}

export async function openReceiver(failing: () => boolean): Promise<Receiver> {
  const received = new Map<string, number>();
  const problems: string[] = [];
  let secret = '';
  const server = createServer((request, response) => void receive(request, response));

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    if (failing()) return void response.writeHead(500).end('Not now.');
    try {
      const { data } = new Webhook(secret).verify(body, request.headers as Record<string, string>) as {
        data: { id: string };
      };
      const id = String(request.headers['webhook-id']);
      if (data.id !== id) problems.push(`${id} carries ${data.id}`);
      received.set(id, (received.get(id) ?? 0) + 1);
    } catch (error) {
      problems.push(String(error));
    }
    response.writeHead(204).end();
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    problems,
    useSecret: (given) => void (secret = given),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

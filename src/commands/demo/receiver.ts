/**
 * A contractor's server, which receives webhooks while the sample data is created. It loses one event, so there's a gap
 * to fill. It doesn't verify signatures, but a real receiver must (see docs/webhooks.md).
 */
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

const WAIT_MS = 30_000;

interface Webhook {
  readonly type: string;
  readonly data: { readonly position: string };
  readonly previous_position: string | null;
}

export async function openReceiver(lostType: string) {
  const stored: Webhook[] = [];
  let lost: string | undefined;
  const news = new EventEmitter();
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const webhook = (await json(request)) as Webhook;
    if (lost === undefined && webhook.type === lostType) lost = webhook.data.position;
    else stored.push(webhook);
    response.writeHead(204).end();
    news.emit('webhook');
  }

  /** Resolves once a stored webhook has the property. */
  async function untilStored(hasProperty: (webhook: Webhook) => boolean): Promise<void> {
    const signal = AbortSignal.timeout(WAIT_MS);
    while (!stored.some(hasProperty)) await once(news, 'webhook', { signal });
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    /** Returns the range to replay, once the event after the lost one has arrived. */
    async gap(): Promise<{ after: string; until: string }> {
      await untilStored(({ previous_position: previous }) => previous !== null && previous === lost);
      const until = Number(lost);
      const before = stored.map(({ data }) => Number(data.position)).filter((position) => position < until);
      return { after: String(Math.max(0, ...before)), until: String(until) };
    },
    untilFilled: ({ until }: { until: string }) => untilStored(({ data }) => data.position === until),
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

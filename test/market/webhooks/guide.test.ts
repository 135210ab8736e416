/** The receivers that docs/webhooks.md prints, each in a separate process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { homeowner, type Person } from '../../story/cast.js';

const GUIDE = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');

let app: TestApp;
let hanna: Person;
let receiver: ChildProcess | undefined;

beforeAll(async () => {
  app = await openTestApp({ WEBHOOKS_ALLOW_PRIVATE: 'on' });
  hanna = await homeowner(app, 'Hanna');
});
afterAll(async () => {
  receiver?.kill();
  await app?.close();
});

it('a developer receives a test event, skips its duplicate, and rejects a forged one', async () => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const { webhook, secret } = await call('POST', '/v1/webhooks', { url });
  const { ready, printed } = startReceiver(port, secret);
  await ready(url);

  const delivery = await call('POST', `/v1/webhooks/${webhook.id}/test`);
  await expect.poll(() => attemptsOf(webhook.id)).toEqual([204]);
  await call('POST', `/v1/webhooks/deliveries/${delivery.id}/redeliver`);
  await expect.poll(() => attemptsOf(webhook.id)).toEqual([204, 204]);
  const headers = { 'webhook-id': 'evt_x', 'webhook-timestamp': '1772443800', 'webhook-signature': 'v1,AAAA' };
  expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(400);

  expect(printed()).toBe(`webhook.test ${delivery.event_id}\n`);
});

it('a receiver that lost events finds and fills the gaps automatically', async () => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const { webhook, secret } = await call('POST', '/v1/webhooks', { url });
  // It confirms two events, but doesn't store them.
  const forgetful = createHttpServer((_, response) => response.writeHead(204).end()).listen(port);
  await draft();
  await draft();
  await expect.poll(() => attemptsOf(webhook.id)).toEqual([204, 204]);
  forgetful.closeAllConnections();
  forgetful.close();
  await once(forgetful, 'close');

  const gaps = /^```js\n\/\/ Add this to receiver\.mjs\.\n([^]*?)^```$/m.exec(GUIDE)?.[1] ?? '';
  const code = RECEIVER.replace('events.set(id, event);', 'events.set(id, event);\n    checkGap(event);') + gaps;
  const env = { API_URL: app.url, TOKEN: hanna.token, WEBHOOK_ID: webhook.id, WAIT_MS: '50' };
  const { ready, printed } = startReceiver(port, secret, code, env);
  await ready(url);
  await draft();
  await expect.poll(() => printed().trim().split('\n').toSorted()).toEqual(await allEvents());
  await expect.poll(() => attemptsOf(webhook.id)).toEqual([204, 204, 204, 204, 204]);
});

const draft = () => call('POST', '/v1/jobs', { title: 'Mend the roof', description: 'It leaks.' });

async function allEvents(): Promise<string[]> {
  const { data } = await call('GET', '/v1/events');
  return data.map(({ type, id }: { type: string; id: string }) => `${type} ${id}`).toSorted();
}

async function call(method: string, path: string, body?: object) {
  return (await app.rest(method, path, { token: hanna.token, body })).body;
}

async function attemptsOf(webhookId: string): Promise<number[]> {
  const { data } = await call('GET', `/v1/webhooks/${webhookId}/deliveries`);
  return data.flatMap(({ attempts }: { attempts: { response_status: number }[] }) =>
    attempts.map(({ response_status }) => response_status),
  );
}

const RECEIVER = /^```js\n\/\/ receiver\.mjs\n([^]*?)^```$/m.exec(GUIDE)?.[1] ?? '';

function startReceiver(port: number, secret: string, code = RECEIVER, more: Record<string, string> = {}) {
  receiver?.kill();
  const env = { ...process.env, ...more, PORT: String(port), WEBHOOK_SECRET: secret };
  receiver = spawn(process.execPath, ['--input-type=module', '--eval', code], { env });
  let output = '';
  receiver.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  receiver.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ready = async (url: string) => {
    await expect.poll(() => statusOf(url)).toBe(400);
  };
  return { ready, printed: () => output };
}

/** Zero while nothing listens. */
const statusOf = (url: string) =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  );

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

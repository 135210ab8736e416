/** The receivers that docs/webhooks.md prints, each in a separate process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { allNumbered } from '../../platform/live/positions.js';
import { freeAddress } from '../../deploy/proxy.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { must } from '../../story/awards.js';
import { homeowner, type Person } from '../../story/cast.js';
import { gather, givenJob } from '../../story/journey.js';

const GUIDE = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');

/** On a busy machine, an attempt that times out or outlives its lease would be sent again. */
vi.mock('../../../src/market/rules/market-limits.js', async (original) => {
  const limits = await original<typeof import('../../../src/market/rules/market-limits.js')>();
  const { WEBHOOKS, TASKS } = limits;
  return {
    ...limits,
    WEBHOOKS: { ...WEBHOOKS, attemptMs: 200_000 },
    TASKS: { ...TASKS, webhook: { ...TASKS.webhook, leaseSeconds: 300 } },
  };
});

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

  const { ready, printed } = startReceiver(port, secret, WITH_GAPS, await settingsOf(hanna, webhook.id));
  await ready(url);
  await draft();
  await allNumbered(app);
  await expect.poll(() => printed().trim().split('\n').toSorted()).toEqual(await allEvents());
  await expect.poll(() => attemptsOf(webhook.id)).toEqual([204, 204, 204, 204, 204]);
});

it('a receiver sends one replay for several gaps, and no other for events that it can no longer see', async () => {
  const people = await gather(app);
  const { owner, awardee } = people;
  const [kept, first, second] = await Promise.all([1, 2, 3].map(() => givenJob(app, 'open', people)));
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const { webhook, secret } = await call('POST', '/v1/webhooks', { url }, awardee);
  const path = `/v1/webhooks/${webhook.id}`;
  await call('PUT', path, { status: 'paused' }, awardee);
  const lost = [first!, second!];
  for (const job of lost) {
    for (const one of [job, kept!]) await must(app, 'update', owner, one, undefined, { title: `After ${job.id}` });
  }
  const statuses = async () =>
    (await call('GET', `${path}/deliveries`, undefined, awardee)).data.map(({ status }: { status: string }) => status);
  await expect.poll(statuses).toHaveLength(4);
  for (const job of lost) await must(app, 'withdraw', awardee, job, job.bids.awardee!);

  const noticing = `const send = fetch;
    globalThis.fetch = (...call) => { console.log('replay'); return send(...call); };\n`;
  // It takes two checks for a gap to count as lost. Meanwhile, all deliveries must arrive.
  const waitMs = 5_000;
  const settings = { ...(await settingsOf(awardee, webhook.id)), WAIT_MS: String(waitMs) };
  const { ready, printed } = startReceiver(port, secret, noticing + WITH_GAPS, settings);
  await ready(url);
  await call('PUT', path, { status: 'active' }, awardee);
  await expect
    .poll(async () => (await statuses()).toSorted())
    .toEqual(['delivered', 'delivered', 'skipped', 'skipped']);
  await expect.poll(printed).toContain('replay');
  await must(app, 'update', owner, kept!, undefined, { title: 'Mend the whole roof' });
  await expect.poll(() => printed().match(/^job\.updated /gm)).toHaveLength(3);
  await sleep(3 * waitMs);
  expect(printed().match(/replay/g)).toHaveLength(1);
});

const draft = () => call('POST', '/v1/jobs', { title: 'Mend the roof', description: 'It leaks.' });

async function allEvents(): Promise<string[]> {
  const { data } = await call('GET', '/v1/events');
  return data.map(({ type, id }: { type: string; id: string }) => `${type} ${id}`).toSorted();
}

async function call(method: string, path: string, body?: object, { token } = hanna) {
  return (await app.rest(method, path, { token, body })).body;
}

/** A replayed event must arrive in this time. */
const WAIT_MS = 2_000;

async function settingsOf(person: Person, webhookId: string): Promise<Record<string, string>> {
  const { secret } = await call('POST', '/v1/api-keys', { name: 'Receiver', access: 'full' }, person);
  return { API_URL: app.url, API_KEY: secret, WEBHOOK_ID: webhookId, WAIT_MS: String(WAIT_MS) };
}

async function attemptsOf(webhookId: string): Promise<number[]> {
  const { data } = await call('GET', `/v1/webhooks/${webhookId}/deliveries`);
  return data.flatMap(({ attempts }: { attempts: { response_status: number }[] }) =>
    attempts.map(({ response_status }) => response_status),
  );
}

const RECEIVER = /^```js\n\/\/ receiver\.mjs\n([^]*?)^```$/m.exec(GUIDE)?.[1] ?? '';
const WITH_GAPS = /^```js\n\/\/ receiver-with-gaps\.mjs\n([^]*?)^```$/m.exec(GUIDE)?.[1] ?? '';

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
  return Number((await freeAddress()).split(':')[1]);
}

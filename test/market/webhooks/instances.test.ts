/** Instances that are killed one after another while they send. Another instance sends their unfinished deliveries. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../../setup/app.js';
import { patiently, patientUrl } from '../../app/callers.js';
import { clone, type Clone } from '../../app/clone.js';
import { ownDatabase, type OwnDatabase } from '../../app/own-database.js';
import { startServer } from '../../app/processes.js';
import { until } from '../../platform/security/until.js';
import { openReceiver, verify, type Receiver } from './receiver.js';

let project: Clone;
let database: OwnDatabase;
let receiver: Receiver;
beforeAll(async () => {
  project = clone();
  database = await ownDatabase();
  receiver = await openReceiver();
});
afterAll(async () => {
  await receiver.close();
  await database.drop();
  project.remove();
});

const start = () =>
  startServer(project, {
    DATABASE_URL: patientUrl(database.url),
    DATA_DIR: project.dataFolder(),
    JWT_SECRET: 'a secret that every instance shares',
    WEBHOOKS_ALLOW_PRIVATE: 'on',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
  });

async function call(url: string, path: string, body: object, token?: string): Promise<Json> {
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
    ...(token && { authorization: `Bearer ${token}` }),
  };
  const answer = await patiently(() =>
    fetch(`${url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  );
  expect(answer.status).toBe(201);
  return answer.json();
}

const PERSON = {
  email: 'hanna@example.test',
  password: 'hanna has a password',
  first_name: 'Hanna',
  last_name: 'Hill',
};

it('no event is lost if an instance is killed, and a duplicate has the same ID', async () => {
  let sender = start();
  const { token } = await call(await sender.url, '/auth/signup/homeowner', PERSON);
  const { secret } = await call(await sender.url, '/webhooks', { url: receiver.url }, token);

  for (const jobs of [10, 20]) {
    // No request gets a response, so the sending instance has requests in progress.
    receiver.answer = () => {};
    const before = receiver.received.length;
    const url = await sender.url;
    for (let job = 0; job < 10; job += 1)
      await call(url, '/jobs', { title: 'Mend the roof', description: 'It leaks.' }, token);
    await receiver.until((all) => all.length > before);
    const other = start();
    await other.url;
    await sender.stop('SIGKILL');
    receiver.answer = (_, response) => response.writeHead(204).end();
    // Makes it look as if the killed instance's leases, and the times between attempts, have passed.
    await database.sql`update tasks set leased_until = now(), run_at = now()`;
    const delivered = () => database.sql`select from webhook_deliveries where status = 'delivered'`;
    await until(async () => (await delivered()).length === jobs);
    sender = other;
  }

  for (const one of receiver.received) expect(verify(secret, one)).toEqual(one.body);
  const events = await database.sql`select id from events`;
  expect(events).toHaveLength(20);
  // Events that a killed instance was sending arrived twice.
  expect(receiver.received.length).toBeGreaterThan(20);
  expect(new Set(receiver.received.map(({ id }) => id))).toEqual(new Set(events.map(({ id }) => id as unknown)));
  expect(await database.sql`select from webhook_deliveries`).toHaveLength(20);
  await sender.stop();
});

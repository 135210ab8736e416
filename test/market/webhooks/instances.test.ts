/** Instances that are killed one after another while they send. Another instance sends their unfinished deliveries. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../../setup/app.js';
import { patiently, patientUrl } from '../../app/callers.js';
import { clone, type Clone } from '../../app/clone.js';
import { ownDatabase, type OwnDatabase } from '../../app/own-database.js';
import { startServer, type Started } from '../../app/processes.js';
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
  const instances: Started[] = [start(), start()];
  const [first, second] = await Promise.all(instances.map((one) => one.url));
  const { token } = await call(first!, '/auth/signup/homeowner', PERSON);
  const { secret } = await call(first!, '/webhooks', { url: receiver.url }, token);
  const draft = (url: string) => call(url, '/jobs', { title: 'Mend the roof', description: 'It leaks.' }, token);

  for (const [killed, other] of [
    [0, second!],
    [1, undefined],
  ] as const) {
    // No request gets a response, so the sending instance has requests in progress.
    const before = receiver.received.length;
    receiver.answer = () => {};
    const url = other ?? (await instances[0]!.url);
    for (let job = 0; job < 10; job += 1) await draft(url);
    await receiver.until((all) => all.length > before);
    await instances[killed]!.stop('SIGKILL');
    receiver.answer = (_, response) => response.writeHead(204).end();
    instances[killed] = start();
    await instances[killed].url;
    // Makes it look as if the killed instance's leases have expired.
    await database.sql`update tasks set leased_until = now()`;
    const events = await database.sql`select id from events`;
    await receiver.until((all) => events.every(({ id }) => all.some((one) => one.id === id)));
  }

  for (const one of receiver.received) expect(verify(secret, one)).toEqual(one.body);
  const made = await database.sql`select event_id, count(*)::int from webhook_deliveries group by event_id`;
  expect(made).toHaveLength(20);
  expect(made.every(({ count }) => count === 1)).toBe(true);
  await Promise.all(instances.map((one) => one.stop()));
});

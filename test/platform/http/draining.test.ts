/** A server stops with calls in progress and calls that wait. */
import { expect, it, vi } from 'vitest';
import { readConfig } from '../../../src/app/config.js';
import { TIMEOUTS } from '../../../src/platform/service-limits.js';
import { hashingThreads } from '../../../src/platform/security/hashing-threads.js';
import { startServer } from '../../../src/app/server.js';
import { JWT_SECRET, openTestApp, type Json, type TestApp } from '../../setup/app.js';
import { homeowner } from '../../story/cast.js';
import { until } from '../security/until.js';

/** How long a login waits for its hash. Here, it waits until the server stops. */
vi.mock('../../../src/platform/service-limits.js', async (original) => {
  const limits = await original<typeof import('../../../src/platform/service-limits.js')>();
  return { ...limits, HASHING: { ...limits.HASHING, waitMs: 250_000 } };
});

const config = readConfig({ NODE_ENV: 'test', PORT: '0', JWT_SECRET });

const lineOf = (app: TestApp, status: number): Json =>
  app.logged.map((line) => JSON.parse(line) as Json).find((line) => line.route && line.status === status);

it('refuses the logins that wait for their hashes, and completes those that have begun', async () => {
  const app = await openTestApp();
  const { email, password } = await homeowner(app, 'Hanna');
  const server = await startServer(app.services, config);
  const { passwords } = app.services;
  const compared: ((same: boolean) => void)[] = [];
  const compare = vi
    .spyOn(hashingThreads, 'compare')
    .mockImplementation(async () => new Promise((resolve) => compared.push(resolve)));
  const logIn = async () =>
    fetch(`${server.url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
  const waitingMax = 3;
  const calls: Promise<Response>[] = [];
  for (; passwords.waiting < waitingMax; await until(() => passwords.active + passwords.waiting === calls.length))
    calls.push(logIn());
  const begun = compared.length;
  const closed = server.close();
  await until(() => passwords.waiting === 0);
  for (const resolve of compared) resolve(true);
  const answers = await Promise.all(calls);
  await closed;
  compare.mockRestore();
  expect(compared).toHaveLength(begun);
  const refused = answers.slice(begun);
  expect(answers.map(({ status }) => status)).toEqual([
    ...Array<number>(begun).fill(200),
    ...Array<number>(waitingMax).fill(503),
  ]);
  for (const { headers } of refused)
    expect([headers.get('retry-after'), headers.get('connection')]).toEqual(['1', 'close']);
  await app.close();
});

it("keeps serving while it reports that it's stopping, until others have noticed", async () => {
  const app = await openTestApp();
  const { token } = await homeowner(app, 'Hanna');
  const server = await startServer(app.services, { ...config, LAME_DUCK_SECONDS: 30 });
  const read = (path: string) => fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } });
  expect((await read('/readyz')).status).toBe(200);
  let isClosed = false;
  const closed = server.close().then(() => (isClosed = true));
  const readiness = await read('/readyz');
  expect([readiness.status, await readiness.json()]).toEqual([503, { status: 'draining', busy: false }]);
  const served = await read('/v1/me');
  expect([served.status, served.headers.get('connection')]).toEqual([200, 'keep-alive']);
  expect(isClosed).toBe(false);
  await closed;
  await expect(read('/v1/me')).rejects.toThrow();
  await app.close();
});

it("cuts off what doesn't end in time, and logs that the server did it", async () => {
  const app = await openTestApp();
  const { token, userId } = await homeowner(app, 'Hanna');
  const server = await startServer(app.services, config, { ...TIMEOUTS, drainMs: 1 });
  await app.sql.begin(async (tx) => {
    await tx`select from users where id = ${userId} for update`;
    const asked = fetch(`${server.url}/v1/me`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ user: { first_name: 'Hanna' } }),
    });
    asked.catch(() => {}); // Its failure is expected below.
    await until(async () => (await app.metric('database_lock_waits')) > 0);
    await server.close();
    await expect(asked).rejects.toThrow();
  });
  expect(lineOf(app, 503)).toMatchObject({
    level: 'warn',
    route: 'PUT /v1/me',
    msg: 'this server is stopping: connection cut before the response',
  });
  await app.close();
});

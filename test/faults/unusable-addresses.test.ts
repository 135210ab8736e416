/**
 * Addresses without a usable database for a while: a balancer without a server, a network that drops data, a port that
 * nothing listens on, and a demoted primary. Within seconds, callers and the operator learn which it is. Everything
 * works again afterward without a restart.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { homeowner, type Person } from '../story/cast.js';
import { metricsOf } from '../setup/metrics.js';
import { until } from '../platform/security/until.js';
import type { FreshDatabase } from '../setup/postgres.js';

type Mode = 'passes on' | 'accepts and closes' | 'swallows' | 'refuses';

/** An address that closes all its connections when its mode changes. */
async function openAddress(to: FreshDatabase['connection']) {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-address-'));
  const socketIn = (place: string) => join(place, `.s.PGSQL.${to.port}`);
  let mode: Mode = 'passes on';
  let server: Server | undefined;
  const open = new Set<Socket>();
  const endTogether = (one: Socket, other?: Socket) => {
    open.add(one);
    one
      .on('error', () => {})
      .on('close', () => {
        open.delete(one);
        other?.destroy();
      });
  };
  function accept(near: Socket): void {
    if (mode === 'accepts and closes') return void near.end();
    if (mode === 'swallows') return endTogether(near.resume());
    const far = connect(socketIn(to.host));
    endTogether(near, far);
    endTogether(far, near);
    near.pipe(far).pipe(near);
  }
  async function become(next: Mode): Promise<void> {
    mode = next;
    for (const socket of open) socket.destroy();
    server?.close();
    rmSync(socketIn(folder), { force: true });
    if (next === 'refuses') return;
    server = createServer(accept);
    await new Promise<void>((resolve) => server?.listen(socketIn(folder), resolve));
  }
  await become(mode);
  return {
    // Longer than a busy machine needs, and shorter than an embedded database's.
    connection: { ...to, host: folder, connect_timeout: 20 },
    become,
    close: () => {
      for (const socket of open) socket.destroy();
      server?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let app: TestApp;
let address: Awaited<ReturnType<typeof openAddress>>;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp({}, { through: async (database) => (address = await openAddress(database)).connection });
  hanna = await homeowner(app, 'Hanna');
});
afterAll(async () => {
  await app.close();
  address.close();
});

const create = () =>
  app.rest('POST', '/v1/jobs', { token: hanna.token, body: { title: 'Sink', description: 'It drips.' } });
const readyz = async () => {
  const response = await fetch(`${app.url}/readyz`);
  return [response.status, ((await response.json()) as Json).status];
};
const isReady = async () => (await readyz())[0] === 200;
const jobs = async () => {
  const [{ count = 0 } = {}] = await app.sql<{ count: number }[]>`select count(*)::int from jobs`;
  return count;
};

it.each(['accepts and closes', 'swallows', 'refuses'] as const)(
  'an address that %s',
  { timeout: 120_000 },
  async (mode) => {
    const before = await jobs();
    await address.become(mode);
    const [written, read, ...probes] = await Promise.all([
      create(),
      app.rest('GET', '/v1/jobs', { token: hanna.token }),
      readyz(),
      readyz(),
    ]);
    expect(probes.every(([status]) => status === 200 || status === 503)).toBe(true);
    expect([written.status, read.status]).toEqual([503, 503]);
    expect(written.body.error).toBe('The database can’t be reached. Try again shortly.');
    await until(async () => !(await isReady()));
    expect(await readyz()).toEqual([503, 'the database cannot be reached']);
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
    expect((await metricsOf(app.url)).value('database_up')).toBe(0);

    await address.become('passes on');
    await until(isReady);
    expect((await create()).status).toBe(201);
    expect(await jobs()).toBe(before + 1);
  },
);

it('on a read-only database, reads work, and the server doesn’t call it unreachable', async () => {
  const before = await jobs();
  const [{ name = '' } = {}] = await app.sql<{ name: string }[]>`select current_database() as name`;
  await app.sql.unsafe(`alter database ${name} set default_transaction_read_only = on`);
  // A demoted primary ends its clients' sessions too.
  await address.become('passes on');
  await until(async () => !(await isReady()));
  expect(await readyz()).toEqual([503, 'the database is read-only']);
  const refused = await create();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(refused.body.error).toBe('The database is read-only at the moment. Try again shortly.');
  expect((await app.rest('GET', '/v1/jobs', { token: hanna.token })).status).toBe(200);
  const metrics = await metricsOf(app.url);
  expect(metrics.value('database_up')).toBe(1);
  expect(metrics.value('database_read_only_seconds')).toBeGreaterThan(0);
  expect(metrics.value('overloads_total', { cause: 'database_read_only' })).toBeGreaterThan(0);

  // Existing sessions stay read-only, as with a demoted primary.
  await app.sql.unsafe(`alter database ${name} reset default_transaction_read_only`);
  await until(isReady);
  expect((await create()).status).toBe(201);
  expect(await jobs()).toBe(before + 1);
  const messages = app.logged.map((line) => (JSON.parse(line) as Json).msg as string);
  expect(messages.filter((message) => message === 'database writable again')).toHaveLength(1);
});

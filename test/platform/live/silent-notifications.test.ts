/**
 * The connection that listens to the database goes silent without closing, as in a network that drops packets.
 * Everything else works, so only the missing notifications show it.
 */
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { homeowner } from '../../story/cast.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { metricsOf } from '../../setup/metrics.js';
import { until } from '../security/until.js';
import { connectAs, MY_EVENTS } from '../graphql/streams/clients.js';
import { temporaryFolder } from '../../setup/temporary-folder.js';
import type { FreshDatabase } from '../../setup/postgres.js';

let app: TestApp;
let twin: TestApp;
let wire: Wire;
beforeAll(async () => {
  app = await openTestApp({}, { through: async (straight) => (wire = await openWire(straight)).connection });
  twin = await openTestApp({}, { sameDatabaseAs: app });
});
afterAll(async () => {
  await twin.close();
  await app.close();
  wire.close();
});

interface Wire {
  readonly connection: FreshDatabase['connection'];
  /** Silences the connections that are listening now, without closing them. Returns their number. */
  silence(): number;
  close(): void;
}

async function openWire(to: FreshDatabase['connection']): Promise<Wire> {
  const folder = temporaryFolder('wire');
  const name = `.s.PGSQL.${to.port}`;
  const listening = new Set<Socket>();
  const silent = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(join(to.host, name));
    near.on('data', (sent) => {
      if (sent.includes('listen "')) listening.add(near);
      if (!silent.has(near)) far.write(sent);
    });
    far.on('data', (received) => !silent.has(near) && near.write(received));
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.on('close', () => listening.delete(near));
  });
  await new Promise<void>((resolve) => server.listen(join(folder.path, name), resolve));
  return {
    connection: { ...to, host: folder.path },
    silence: () => {
      for (const near of listening) silent.add(near);
      return silent.size;
    },
    close: () => {
      server.close();
      folder.remove();
    },
  };
}

const lastHeardAt = async () => (await metricsOf(app.url)).value('notifications_last_heard_timestamp_seconds');

async function listeners(): Promise<number[]> {
  const rows = await app.sql<{ pid: number }[]>`select pid from pg_stat_activity
    where datname = current_database() and query ilike 'listen %'`;
  return rows.map(({ pid }) => pid);
}

const logged = (message: string) => app.logged.filter((line) => line.includes(message));

it('is replaced, and a logout on another instance then closes a WebSocket here', async () => {
  const hanna = await homeowner(app, 'Hanna');
  await until(async () => (await lastHeardAt()) > 0);
  const before = await listeners();
  expect(wire.silence()).toBe(1);
  const silentAt = Date.now() / 1_000;

  await until(() => logged('notifications are arriving again').length > 0);
  expect(await lastHeardAt()).toBeGreaterThan(silentAt);
  expect(logged('notifications aren’t arriving; listening on a new connection').length).toBeGreaterThan(0);
  // The lost connection is closed, and a new one listens.
  await until(async () => {
    const now = await listeners();
    return now.length === 2 && now.some((pid) => !before.includes(pid));
  });
  expect((await metricsOf(app.url)).value('database_up')).toBe(1);

  const { connected, closed, subscribe } = connectAs(app.url, hanna);
  subscribe(MY_EVENTS);
  await connected;
  const ended = vi.spyOn(app.services.live.sessionEnds, 'announce');
  expect((await twin.rest('POST', '/v1/auth/logout', { token: hanna.token })).status).toBe(200);
  expect(await closed).toMatchObject({ code: 4401 });
  await until(() => ended.mock.calls.length > 0);
});

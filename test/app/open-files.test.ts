/** A server whose limit on open files is lower than its limit on connections. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openFilesMax, withinOpenFiles } from '../../src/platform/quotas/quota-table.js';
import { readConfig } from '../../src/app/config.js';
import { until } from '../platform/security/until.js';
import { readiness } from './callers.js';
import { clone, type Clone } from './clone.js';
import { start } from './processes.js';

let project: Clone;
beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

const FILES_MAX = 600;

it('warns at startup, keeps its database while all connections are in use, and recovers afterward', async () => {
  const command = `ulimit -n ${FILES_MAX}; exec "$0" dist/main.js`;
  const environment = {
    DATA_DIR: project.usedDataFolder(),
    SHARE_TURNS_TOTAL: '5',
    QUOTA_TURNS_TOTAL: '5',
    QUOTA_STREAMS_TOTAL: '',
  };
  const server = start(project, ['sh', '-c', command, process.execPath], environment);
  const url = await server.url;
  const line = server
    .output()
    .split('\n')
    .find((text) => text.includes('ulimit -n'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'warn', open_files_max: 600, connections_max: 300 });

  const withoutEffect = server
    .output()
    .split('\n')
    .filter((text) => text.includes('has no effect'));
  expect(withoutEffect.map((text) => JSON.parse(text).variable).sort()).toEqual([
    'QUOTA_TURNS_TOTAL',
    'SHARE_TURNS_TOTAL',
  ]);

  const opened: Socket[] = [];
  for (let at = 0; at < 2 * FILES_MAX; at += 1) {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: `127.0.4.${at % 250}` });
    // Only a socket that reads notices that the server closed it.
    opened.push(socket.on('error', () => {}).resume());
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  }
  // Clients notice a little later that their connections were closed.
  await until(() => opened.filter((socket) => !socket.closed).length <= 300);
  for (const socket of opened) socket.destroy();
  await until(async () => (await readiness(url)) === 200);
  expect(server.output()).not.toContain('EMFILE');
  expect((await server.stop()).code).toBe(0);
});

it.each([
  [Infinity, 10_000],
  [20_000, 10_000],
  [4_096, 2_896],
  [1_024, 512],
])('with a limit of %s files, it accepts %s connections', (filesMax, total) => {
  expect(withinOpenFiles(readConfig({}).quotas, filesMax).connections.total).toBe(total);
});

it('knows how many files this process can open', () => {
  expect(openFilesMax()).toBeGreaterThan(100);
});

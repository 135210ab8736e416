/** A failover makes the server a replica, and its connections stay open. */
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openRedis } from '../../src/platform/redis.js';
import { needs } from '../setup/needs.js';
import { temporaryFolder } from '../setup/temporary-folder.js';
import { createRedisServer } from './security/redis-server.js';
import { until } from './security/until.js';

needs('redis-server').it('a connection to a Redis that became a replica is replaced', async () => {
  const folder = temporaryFolder('redis');
  const [before, after] = [createRedisServer(), createRedisServer()];
  let primary = before;
  const proxy = createServer((near: Socket) => {
    const far = connect(primary.socket);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => near.destroy() && far.destroy());
  });
  await Promise.all([before.start(), after.start()]);
  await new Promise<void>((resolve) => proxy.listen(join(folder.path, 's'), resolve));
  const connection = openRedis(join(folder.path, 's'), { onLost: () => {}, onBack: () => {} }, 60_000);
  try {
    await until(() => connection.isReachable());
    const write = () => connection.attempt(() => connection.redis.set('name', 'value'));
    expect(await write()).toBe('OK');
    await before.command('replicaof', '127.0.0.1', '1');
    primary = after;
    await until(async () => (await write()) === 'OK');
    expect(await after.command('get', 'name')).toBe('value');
  } finally {
    connection.close();
    proxy.close();
    await Promise.all([before.remove(), after.remove()]);
    folder.remove();
  }
});

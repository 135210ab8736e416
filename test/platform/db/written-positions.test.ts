/** The positions that users' reads must reach, on two instances with the same Redis. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWrittenPositions, type WrittenPositions } from '../../../src/platform/db/written-positions.js';
import { openRedis, type RedisConnection } from '../../../src/platform/redis.js';
import { needs } from '../../setup/needs.js';
import { createRedisServer, type RedisServer } from '../security/redis-server.js';
import { until } from '../security/until.js';

needs('redis-server').describe('The position of a user’s last write', () => {
  let redis: RedisServer;
  let connections: RedisConnection[];
  let one: WrittenPositions;
  let two: WrittenPositions;
  beforeAll(async () => {
    redis = createRedisServer();
    await redis.start();
    const open = () => openRedis(redis.socket, { onLost: () => {}, onBack: () => {} }, 60_000);
    connections = [open(), open()];
    await until(() => connections.every((connection) => connection.isReachable()));
    [one, two] = connections.map(createWrittenPositions) as [WrittenPositions, WrittenPositions];
  });
  afterAll(async () => {
    for (const connection of connections) connection.close();
    await redis.remove();
  });

  it('is known to the other instance, and never goes back', async () => {
    expect(await one.keep(['hanna'], 200)).toBe(true);
    expect(await two.keep(['hanna'], 100)).toBe(true);
    expect([await one.of('hanna'), await two.of('hanna'), await two.of('carl')]).toEqual([200, 200, 0]);
  });

  it('if it’s unknown, keeps the user on the primary on both, for no longer because of later writes', async () => {
    const key = 'written:cora';
    const score = async () => Number(await redis.command('zscore', key, 'on primary until'));
    await one.keepOnPrimary(['cora']);
    expect([await one.of('cora'), await two.of('cora')]).toEqual([Infinity, Infinity]);
    const before = await score();
    for (const instance of [one, two]) await instance.keep(['cora'], 300);
    expect(await score()).toBe(before);
    await redis.command('zadd', key, String(Date.now() - 1), 'on primary until');
    expect(await two.of('cora')).toBe(300);
  });
});

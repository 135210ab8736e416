/** Two servers with one database and one Redis share their counts. */
import { expect, vi } from 'vitest';
import { homeowner } from '../../story/cast.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { metricsOf } from '../../setup/metrics.js';
import { needs } from '../../setup/needs.js';
import { createRedisServer } from '../security/redis-server.js';

/** How long a server waits for Redis before it counts in its own memory. A busy machine needs longer. */
vi.mock('../../../src/platform/service-limits.js', async (original) => {
  const limits = await original<typeof import('../../../src/platform/service-limits.js')>();
  return { ...limits, REDIS: { ...limits.REDIS, setupTimeoutMs: 60_000, waitMs: 60_000 } };
});

needs('redis-server').it(
  'At a limit of 5, exactly 5 of 200 calls at once pass two servers, through both APIs',
  async () => {
    const redis = createRedisServer();
    await redis.start();
    const counted = {
      RATE_LIMITS: 'on',
      RATE_LIMIT_WRITE: '5',
      RATE_LIMIT_LOG_IN_PER_ACCOUNT_AND_ADDRESS: '5',
      RATE_LIMIT_LOG_IN_PER_ADDRESS: '100000',
    };
    const settings = { REDIS_URL: redis.socket };
    const apps: TestApp[] = [];
    try {
      const one = await openTestApp(counted, { settings });
      apps.push(one);
      const two = await openTestApp(counted, { settings, sameDatabaseAs: one });
      apps.push(two);
      for (const { url } of apps) expect((await metricsOf(url)).value('rate_limits_in_redis')).toBe(1);
      const hanna = await homeowner(one, 'Hanna');

      const write = async (i: number): Promise<number> => {
        const at = i % 2 === 0 ? one : two;
        // With forty addresses, she stays below the limit on parallel requests. So each refusal comes from the rate
        // limit.
        const call = { token: hanna.token, from: i % 40 };
        if (i % 4 < 2) return (await at.rest('PUT', '/v1/me', { ...call, body: {} })).status;
        const { errors } = await at.graphql('mutation { updateProfile(input: {}) { viewer { referralCode } } }', call);
        return errors ? errors[0]?.extensions.status : 200;
      };
      const writes = await Promise.all(Array.from({ length: 200 }, (_, i) => write(i)));
      expect([
        writes.filter((status) => status === 200).length,
        // On a busy machine, some calls are refused before they're counted.
        writes.filter((status) => status === 429 || status === 503).length,
      ]).toEqual([5, 195]);

      const logIn = (i: number) =>
        (i % 2 === 0 ? one : two).rest('POST', '/v1/auth/login', { body: { email: hanna.email, password: 'wrong' } });
      const logIns = await Promise.all(Array.from({ length: 60 }, (_, i) => logIn(i)));
      expect([
        logIns.filter(({ status }) => status === 401).length,
        logIns.filter(({ status }) => status === 429).length,
      ]).toEqual([5, 55]);
    } finally {
      for (const app of apps.toReversed()) await app.close();
      await redis.remove();
    }
  },
);

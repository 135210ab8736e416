import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { rateLimitHeaders } from '../../../src/platform/http/rate-limit-headers.js';
import {
  createRateLimits,
  type RateBudget,
  type RateLimits,
  type RateLimitSettings,
} from '../../../src/platform/security/rate-limit.js';
import { needs } from '../../setup/needs.js';
import { createRedisServer, type RedisServer } from './redis-server.js';
import { until } from './until.js';

const FIVE: RateBudget = { name: 'five', max: 5, windowSeconds: 60 };
const FAILURES: RateBudget = { name: 'failures', max: 300, windowSeconds: 60 };

let opened: RateLimits[] = [];
const notices: string[] = [];

function open(settings: Partial<RateLimitSettings> = {}): RateLimits {
  const limits = createRateLimits({
    enabled: true,
    onRedisLost: () => void notices.push('lost'),
    onRedisBack: () => void notices.push('back'),
    ...settings,
  });
  opened.push(limits);
  return limits;
}

afterEach(async () => {
  await Promise.all(opened.map((limits) => limits.close()));
  opened = [];
  notices.length = 0;
});

async function passed(calls: readonly Promise<{ allowed: boolean }>[]): Promise<number> {
  return (await Promise.all(calls)).filter(({ allowed }) => allowed).length;
}

const times = <T>(count: number, call: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => call(i));

/** Sets all of this process's clocks to this many milliseconds after the test's start. */
function goTo(ms: number): void {
  vi.advanceTimersByTime(ms - performance.now());
}

const onFakeClocks = () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());
};

describe('rate limits in memory', () => {
  onFakeClocks();

  it('allow exactly 5 of 1,000 parallel calls at a limit of 5', async () => {
    const limits = open();
    expect(await passed(times(1_000, () => limits.consume(FIVE, 'ann')))).toBe(5);
    expect(limits.storeInUse()).toBe('memory');
  });

  it('report what remains, and when the window ends', async () => {
    const limits = open();
    const window = { limit: 5, windowSeconds: 60 };
    expect(await limits.consume(FIVE, 'ann')).toMatchObject({
      allowed: true,
      remaining: 4,
      resetSeconds: 60,
      retryAfterSeconds: 0,
      ...window,
    });
    goTo(20_000);
    await Promise.all(times(4, () => limits.consume(FIVE, 'ann')));
    goTo(20_001);
    expect(await limits.consume(FIVE, 'ann')).toMatchObject({
      allowed: false,
      remaining: 0,
      resetSeconds: 40,
      retryAfterSeconds: 40,
      ...window,
    });
    goTo(59_999);
    expect(await limits.consume(FIVE, 'ann')).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
  });

  it('start a window with the first call after the last one', async () => {
    const limits = open();
    for (const at of [0, 10_000, 20_000, 30_000, 40_000]) {
      goTo(at);
      await limits.consume(FIVE, 'ann');
    }
    goTo(59_999);
    expect(await passed(times(3, () => limits.consume(FIVE, 'ann')))).toBe(0);
    goTo(70_000);
    expect(await passed(times(9, () => limits.consume(FIVE, 'ann')))).toBe(5);
    goTo(129_999);
    expect(await passed(times(9, () => limits.consume(FIVE, 'ann')))).toBe(0);
  });

  it('allow five calls in each window, and never six, whenever the calls come', async () => {
    const limits = open();
    let [beganMs, count, seed, passedCount] = [-Infinity, 0, 11, 0];
    for (let i = 0; i < 5_000; i += 1) {
      seed = (seed * 48_271) % 2_147_483_647;
      goTo(performance.now() + (seed % 1_000) * (seed % 37 === 0 ? 60 : 3));
      const nowMs = performance.now();
      if (nowMs >= beganMs + 60_000) [beganMs, count] = [nowMs, 0];
      count += 1;
      const { allowed } = await limits.consume(FIVE, 'ann');
      expect(allowed).toBe(count <= 5);
      if (allowed) passedCount += 1;
    }
    expect(passedCount).toBeGreaterThan(100);
  });

  it("don't prolong a block because of calls refused in the meantime", async () => {
    const limits = open();
    await Promise.all(times(5, () => limits.consume(FIVE, 'ann')));
    for (let at = 1_000; at < 60_000; at += 1_000) {
      goTo(at);
      expect((await limits.consume(FIVE, 'ann')).allowed).toBe(false);
    }
    goTo(60_000);
    expect(await passed(times(9, () => limits.consume(FIVE, 'ann')))).toBe(5);
  });

  it('keep people and budgets separate, whatever the keys contain', async () => {
    const limits = open();
    const budgets = [FIVE, { ...FIVE, name: 'five:ann' }, { ...FIVE, windowSeconds: 61 }, { ...FIVE, name: 'five:60' }];
    const keys = [
      'ann',
      'ben',
      ':ann',
      'ann:',
      'five ann',
      '__proto__',
      'constructor',
      '',
      '\u0000',
      'x'.repeat(10_000),
      `${'x'.repeat(10_000)}y`,
    ];
    for (const budget of budgets) {
      for (const key of keys) expect(await passed(times(7, () => limits.consume(budget, key)))).toBe(5);
    }
  });

  it('allow nothing at a limit of 0, which differs from no limit', async () => {
    const limits = open();
    for (const max of [0, -1, Number.NaN])
      expect(await limits.consume({ ...FIVE, max }, 'ann')).toMatchObject({ allowed: false, retryAfterSeconds: 60 });
  });

  it('allow one call at a limit of 1, and 600 at a limit of 600', async () => {
    const limits = open();
    for (const max of [1, 2, 600, 1_200]) {
      expect(
        await passed(times(2_000, () => limits.consume({ name: `limit of ${max}`, max, windowSeconds: 60 }, 'ann'))),
      ).toBe(max);
    }
  });

  it('refund a call once, and nothing for a refused one', async () => {
    const limits = open();
    const [first] = await Promise.all(times(5, () => limits.consume(FIVE, 'ann')));
    const refused = await limits.consume(FIVE, 'ann');
    await refused.refund();
    expect((await limits.consume(FIVE, 'ann')).allowed).toBe(false);
    await first?.refund();
    await first?.refund();
    expect(await passed(times(9, () => limits.consume(FIVE, 'ann')))).toBe(1);
  });

  it('take nothing out of the next window', async () => {
    const limits = open();
    const calls = await Promise.all(times(1_000, () => limits.consume(FIVE, 'ann')));
    goTo(59_500);
    await calls[0]?.refund();
    goTo(60_000);
    await calls[1]?.refund();
    expect(await passed(times(9, () => limits.consume(FIVE, 'ann')))).toBe(5);
    await calls[2]?.refund();
    expect((await limits.consume(FIVE, 'ann')).allowed).toBe(false);
  });

  it('allow exactly 300 failures under 1,000 parallel wrong logins', async () => {
    const limits = open();
    expect(await failedLogIns(limits, 1_000, () => false)).toBe(300);
  });

  it("don't count successful logins among the failures", async () => {
    const limits = open();
    for (let i = 0; i < 1_000; i += 1) expect(await failedLogIns(limits, 1, () => true)).toBe(0);
    await failedLogIns(limits, 1_000, () => true);
    expect((await limits.consume(FAILURES, 'ann')).remaining).toBe(299);
  });
});

describe('rate limits that are off', () => {
  it('allow everything, even at a limit of 0, and never contact Redis', async () => {
    const limits = open({ enabled: false, redisUrl: '/nowhere/at/all' });
    expect(await passed(times(1_000, () => limits.consume({ ...FIVE, max: 0 }, 'ann')))).toBe(1_000);
    await (await limits.consume(FIVE, 'ann')).refund();
    await limits.ready();
    expect([notices, limits.storeInUse()]).toEqual([[], 'memory']);
  });
});

describe('the headers', () => {
  onFakeClocks();

  it('name each consumed budget, and when to retry if one is used up', async () => {
    const limits = open();
    const reads = { name: 'read', max: 600, windowSeconds: 60 };
    const taken = new Map([['read', await limits.consume(reads, 'ann')]]);
    expect(rateLimitHeaders(taken)).toEqual({
      'RateLimit-Policy': '"read";q=600;w=60',
      RateLimit: '"read";r=599;t=60',
    });
    await Promise.all(times(5, () => limits.consume(FIVE, 'ann')));
    goTo(17_500);
    taken.set('five', await limits.consume(FIVE, 'ann'));
    expect(rateLimitHeaders(taken)).toEqual({
      'RateLimit-Policy': '"read";q=600;w=60, "five";q=5;w=60',
      RateLimit: '"read";r=599;t=60, "five";r=0;t=43',
      'Retry-After': '43',
    });
  });

  it('are missing if nothing was consumed', () => {
    expect(rateLimitHeaders([])).toEqual({});
  });
});

describe('rate limits without a reachable Redis', () => {
  it('count in memory from the first call, and say so once', async () => {
    const limits = open({ redisUrl: '/nowhere/at/all' });
    expect(await passed(times(100, () => limits.consume(FIVE, 'ann')))).toBe(5);
    await limits.ready();
    expect([notices, limits.storeInUse()]).toEqual([['lost'], 'memory']);
  });
});

needs('redis-server').describe('rate limits in a real Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = createRedisServer();
    await server.start();
  });
  afterAll(() => server.remove());

  /**
   * Redis must count all thousand calls, however slow the machine is. A server that loses Redis would count in its own
   * memory.
   */
  const LONG_TIMEOUT = { redisTimeoutMs: 30_000 };

  async function openOnRedis(settings: Partial<RateLimitSettings> = {}): Promise<RateLimits> {
    const limits = open({ redisUrl: server.socket, ...settings });
    await limits.ready();
    // On a busy machine, the first connection may time out. The limiter then opens another.
    await until(() => limits.storeInUse() === 'redis');
    notices.length = 0;
    return limits;
  }

  it('allow exactly 5 of 1,000 parallel calls over two instances', async () => {
    const instances = [await openOnRedis(LONG_TIMEOUT), await openOnRedis(LONG_TIMEOUT)];
    const key = 'over two instances';
    const hourly = { ...FIVE, windowSeconds: 3_600 };
    expect(await passed(instances.flatMap((limits) => times(500, () => limits.consume(hourly, key))))).toBe(5);
    for (const limits of instances) {
      const { retryAfterSeconds, ...left } = await limits.consume(hourly, key);
      expect(left).toMatchObject({ allowed: false, remaining: 0 });
      expect(Math.ceil(retryAfterSeconds / 600)).toBe(6);
    }
    expect(notices).toEqual([]);
  });

  it('keep people and budgets separate, whatever the keys contain, and hide the keys in Redis', async () => {
    const limits = await openOnRedis(LONG_TIMEOUT);
    const budgets = [
      { ...FIVE, name: 'apart' },
      { ...FIVE, name: 'apart:60' },
      { ...FIVE, name: 'apart', windowSeconds: 61 },
    ];
    const keys = ['ann', ':ann', '60:ann', '', '\u0000', 'x'.repeat(100_000), 'é', 'ann@example.org'];
    for (const budget of budgets) {
      for (const key of keys) expect(await passed(times(7, () => limits.consume(budget, key)))).toBe(5);
    }
  });

  it('refund a call once, and nothing for a refused one', async () => {
    const limits = await openOnRedis(LONG_TIMEOUT);
    const key = 'given back';
    const calls = await Promise.all(times(6, () => limits.consume(FIVE, key)));
    await calls[5]?.refund();
    expect((await limits.consume(FIVE, key)).allowed).toBe(false);
    await calls[0]?.refund();
    await calls[0]?.refund();
    expect(await passed(times(9, () => limits.consume(FIVE, key)))).toBe(1);
  });

  it('allow exactly 300 failures under 1,000 parallel wrong logins over two instances', async () => {
    const instances = [await openOnRedis(LONG_TIMEOUT), await openOnRedis(LONG_TIMEOUT)];
    const failed = await Promise.all(instances.map((limits) => failedLogIns(limits, 500, () => false)));
    expect(failed.reduce((sum, count) => sum + count)).toBe(300);
  });

  it('continue in memory when Redis is killed, and return when it is back', async () => {
    const limits = await openOnRedis(LONG_TIMEOUT);
    await server.kill();
    await until(() => limits.storeInUse() === 'memory');
    expect(await passed(times(1_000, () => limits.consume(FIVE, 'fallen back')))).toBe(5);
    await server.start();
    await until(() => limits.storeInUse() === 'redis');
    expect(notices).toEqual(['lost', 'back']);
    // The new Redis has neither the script nor the counts. Both come back automatically.
    expect(await passed(times(1_000, () => limits.consume(FIVE, 'returned')))).toBe(5);
  });

  it("count in memory while a Redis doesn't respond", async () => {
    const limits = await openOnRedis({ redisTimeoutMs: 150 });
    server.freeze();
    expect(await passed(times(1_000, () => limits.consume(FIVE, 'frozen')))).toBe(5);
    expect([notices, limits.storeInUse()]).toEqual([['lost'], 'memory']);
    server.thaw();
    await until(() => limits.storeInUse() === 'redis');
    expect(notices).toEqual(['lost', 'back']);
  });

  it('leave a connection that swallows what is sent, for another Redis at the same address', async () => {
    const limits = await openOnRedis();
    server.freeze();
    await limits.consume(FIVE, 'swallowed');
    expect(limits.storeInUse()).toBe('memory');
    await server.start();
    await until(() => limits.storeInUse() === 'redis');
    expect(notices).toEqual(['lost', 'back']);
  });

  it("aren't lost because this process was busy for a while", async () => {
    const limits = await openOnRedis();
    const calls = times(100, () => limits.consume(FIVE, 'busy'));
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    // By now, Redis has answered.
    execFileSync('redis-cli', ['-s', server.socket, 'ping']);
    expect(await passed(calls)).toBe(5);
    expect([notices, limits.storeInUse()]).toEqual([[], 'redis']);
  });

  it('wait for a Redis that comes up later than the server', async () => {
    await server.kill();
    const limits = open({ redisUrl: server.socket });
    await limits.ready();
    expect([notices, limits.storeInUse()]).toEqual([['lost'], 'memory']);
    await server.start();
    await until(() => limits.storeInUse() === 'redis');
    expect(notices).toEqual(['lost', 'back']);
  });

  it('survive ten outages in a row, and log each once', async () => {
    const limits = await openOnRedis();
    for (let round = 1; round <= 10; round += 1) {
      const calls = times(50, () => limits.consume(FIVE, `round ${round}`));
      await server.kill();
      await Promise.all(calls);
      await until(() => limits.storeInUse() === 'memory');
      await server.start();
      await until(() => limits.storeInUse() === 'redis');
      expect(notices).toHaveLength(round * 2);
    }
  });

  it("don't return to a Redis that responds but can't count", async () => {
    const limits = await openOnRedis(LONG_TIMEOUT);
    // Simulates a failover: the former primary is now a replica, which rejects writes.
    await server.command('REPLICAOF', '127.0.0.1', '1');
    expect((await limits.consume(FIVE, 'read only')).allowed).toBe(true);
    expect([notices, limits.storeInUse()]).toEqual([['lost'], 'memory']);
    await Promise.all(times(50, () => limits.consume(FIVE, 'read only')));
    expect([notices, limits.storeInUse()]).toEqual([['lost'], 'memory']);
    await server.command('REPLICAOF', 'NO', 'ONE');
    await limits.consume(FIVE, 'writable');
    expect([notices, limits.storeInUse()]).toEqual([['lost', 'back'], 'redis']);
  });

  it('keep their counts in Redis for one window at most, under keys that name nobody', async () => {
    const limits = await openOnRedis(LONG_TIMEOUT);
    await limits.consume({ ...FIVE, name: 'hourly', windowSeconds: 3_600 }, 'ann@example.org');
    const keys = await server.command('KEYS', 'rates:hourly:*');
    expect(keys).toEqual([expect.stringMatching(/^rates:hourly:3600:[\w-]{22}$/)]);
    expect(JSON.stringify(keys)).not.toContain('ann');
    const ttlMs = Number(await server.command('PTTL', String(keys)));
    expect(ttlMs).toBeGreaterThan(0);
    expect(ttlMs).toBeLessThanOrEqual(3_600_000);
  });
});

/**
 * Attempts logins like the service: consumes the limit first and refunds it on success. Returns how many wrong
 * passwords were checked.
 */
async function failedLogIns(limits: RateLimits, attempts: number, isRight: () => boolean): Promise<number> {
  const outcomes = await Promise.all(
    times(attempts, async () => {
      const taken = await limits.consume(FAILURES, 'ann');
      if (!taken.allowed) return 0;
      await new Promise((resolve) => setImmediate(resolve));
      if (!isRight()) return 1;
      await taken.refund();
      return 0;
    }),
  );
  return outcomes.reduce<number>((sum, failed) => sum + failed, 0);
}

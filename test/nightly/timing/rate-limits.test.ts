/** How long a call waits for its rate limit, whatever happens to Redis, and how much memory the counts take. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createRateLimits, type RateBudget, type RateLimits } from '../../../src/platform/security/rate-limit.js';
import { createRedisServer, type RedisServer } from '../../platform/security/redis-server.js';
import { until } from '../../platform/security/until.js';

const FIVE: RateBudget = { name: 'five', max: 5, windowSeconds: 60 };

let server: RedisServer;
let limits: RateLimits | undefined;
beforeAll(async () => {
  server = createRedisServer();
  await server.start();
});
afterAll(() => server.remove());
afterEach(() => limits?.close());

async function openOn(redisUrl: string, redisTimeoutMs?: number): Promise<RateLimits> {
  const opened = createRateLimits({
    enabled: true,
    onRedisLost: () => {},
    onRedisBack: () => {},
    redisUrl,
    ...(redisTimeoutMs && { redisTimeoutMs }),
  });
  limits = opened;
  if (redisUrl !== server.socket) return opened;
  await opened.ready();
  await until(() => opened.storeInUse() === 'redis');
  return opened;
}

async function passed(count: number, take: () => Promise<{ allowed: boolean }>): Promise<number> {
  return (await Promise.all(Array.from({ length: count }, take))).filter(({ allowed }) => allowed).length;
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

it("no longer if Redis can't be reached from the start", async () => {
  const rates = await openOn('/nowhere/at/all');
  expect(await msOf(() => passed(100, () => rates.consume(FIVE, 'ann')))).toBeLessThan(100);
});

it("a window of a second lasts a second by Redis's clock, and refused calls don't prolong it", async () => {
  const rates = await openOn(server.socket);
  const brief = { name: 'brief', max: 3, windowSeconds: 1 };
  let refused = 0;
  const ms = await msOf(async () => {
    expect(await passed(10, () => rates.consume(brief, 'ann'))).toBe(3);
    while (!(await rates.consume(brief, 'ann')).allowed) refused += 1;
  });
  expect(ms).toBeGreaterThanOrEqual(990);
  expect(refused).toBeGreaterThan(0);
  expect(ms).toBeLessThan(1_500);
});

it('hardly longer while Redis is killed and restarted', async () => {
  const rates = await openOn(server.socket, 30_000);
  const waits = await watching(rates, async () => {
    await server.kill();
    await until(() => rates.storeInUse() === 'memory');
    await server.start();
    await until(() => rates.storeInUse() === 'redis');
  });
  expect(Math.max(...waits)).toBeLessThan(250);
});

it("until a timeout for a Redis that doesn't respond, and then not at all", async () => {
  const rates = await openOn(server.socket, 150);
  server.freeze();
  expect(await msOf(() => passed(1_000, () => rates.consume(FIVE, 'frozen')))).toBeLessThan(300);
  const waits = await watching(rates, () => sleep(2_500));
  expect(Math.max(...waits)).toBeLessThan(50);
  server.thaw();
});

it('a million identities in one minute fit into a heap of 512 MB', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=512',
    '--import=tsx',
    '--input-type=module',
    '--eval',
    MILLION_IDENTITIES,
  ]);
  expect(stdout).toBe('all passed');
});

/** The window is longer than a minute, so no count expires while the test runs. */
const MILLION_IDENTITIES = `
  import { createRateLimits } from './src/platform/security/rate-limit.ts';
  const rates = createRateLimits({ enabled: true, onRedisLost() {}, onRedisBack() {} });
  const budget = { name: 'five', max: 5, windowSeconds: 3600 };
  for (let i = 0; i < 1_000_000; i += 1) {
    const { allowed } = await rates.consume(budget, i + ' of some sixty characters, as an email and an address');
    if (!allowed) throw new Error('refused');
    if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  process.stdout.write('all passed');
`;

/** Keeps making calls while something happens, and returns how long each call waited, in milliseconds. */
async function watching(rates: RateLimits, happening: () => Promise<unknown>): Promise<number[]> {
  const waitsMs: number[] = [];
  let over = false;
  const caller = async (name: string) => {
    while (!over) {
      waitsMs.push(await msOf(() => rates.consume({ ...FIVE, name: 'watched' }, name)));
      await sleep(1);
    }
  };
  const callers = ['ann', 'ben', 'cid'].map(caller);
  await happening();
  over = true;
  await Promise.all(callers);
  expect(waitsMs.length).toBeGreaterThan(0);
  return waitsMs;
}

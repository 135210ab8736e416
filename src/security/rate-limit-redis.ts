/**
 * Counts calls in Redis, for many instances at once. One script looks and counts, so no two instances see the same free
 * place, and the time is Redis' own, so their clocks need not agree.
 *
 * No call waits for a lost Redis. After the first command that fails or is late the store is not `usable`, and the
 * limiter counts in memory, until the same script has run on a new connection. Needs Redis 5 or later.
 */
import { createHash, randomBytes } from 'node:crypto';
import { connectRedis, type Redis } from '../redis.js';
import { REDIS } from '../rules/limits.js';
import type { RateBudget, RateStore, BudgetState } from './rate-limit-store.js';

export interface RedisSettings {
  readonly url: string;
  /** How long one command may take before Redis counts as lost. */
  readonly timeoutMs: number;
  onLost(error: Error): void;
  onBack(): void;
}

export interface RedisStore extends RateStore {
  usable(): boolean;
  /** Settles when Redis has been reached for the first time, or has turned out not to be reachable. */
  firstTrial: Promise<void>;
  close(): void;
}

const TRIAL: RateBudget = { name: 'trial', max: 1_000_000, windowSeconds: 1 };

export function createRedisStore({ url, timeoutMs, onLost, onBack }: RedisSettings): RedisStore {
  const redis = connectRedis(url, timeoutMs);
  const instance = randomBytes(9).toString('base64url');
  let marks = 0;
  let state: 'starting' | 'usable' | 'lost' | 'closed' = 'starting';
  let nextTrial: NodeJS.Timeout | undefined;
  let settleFirstTrial = (): void => undefined;
  const firstTrial = new Promise<void>((resolve) => (settleFirstTrial = resolve));

  redis.on('error', setLost);
  redis.on('close', () => setLost(new Error('The connection to Redis was closed.')));
  redis.on('ready', () => void tryToUse());

  function setLost(error: Error): void {
    if (state === 'lost' || state === 'closed') return;
    state = 'lost';
    onLost(error);
    settleFirstTrial();
    reconnectIfLate(error);
    scheduleTrial();
  }

  // A dead connection may accept commands for a quarter of an hour before the operating system closes it.
  function reconnectIfLate(error: unknown): void {
    if (error instanceof RedisIsLate) redis.disconnect(true);
  }

  function scheduleTrial(): void {
    clearTimeout(nextTrial);
    nextTrial = setTimeout(() => void tryToUse(), REDIS.retryIntervalMsMax).unref();
  }

  // A connection alone is not enough: Redis may be out of memory, read-only or without the right to run scripts.
  async function tryToUse(): Promise<void> {
    if (redis.status !== 'ready' || state === 'usable' || state === 'closed') return;
    try {
      await within(timeoutMs, runCount(TRIAL, '', nextMark()));
      setUsable();
    } catch (error) {
      setLost(asError(error));
      reconnectIfLate(error);
      scheduleTrial();
    }
  }

  function setUsable(): void {
    if (state === 'usable' || state === 'closed') return;
    const wasLost = state === 'lost';
    state = 'usable';
    clearTimeout(nextTrial);
    settleFirstTrial();
    if (wasLost) onBack();
  }

  async function ask<T>(work: Promise<T>): Promise<T> {
    try {
      return await within(timeoutMs, work);
    } catch (error) {
      setLost(asError(error));
      throw error;
    }
  }

  function nextMark(): string {
    marks += 1;
    return `${instance}:${marks}`;
  }

  async function runCount(budget: RateBudget, key: string, mark: string): Promise<BudgetState> {
    const reply = await runScript(redis, [
      redisKey(budget, key),
      String(budget.windowSeconds * 1_000_000),
      String(budget.max),
      mark,
    ]);
    return stateIn(reply, budget, mark);
  }

  return {
    firstTrial,
    usable: () => state === 'usable',
    count: (budget, key) => ask(runCount(budget, key, nextMark())),
    look: (budget, key) => ask(runCount(budget, key, '')),
    uncount: async (budget, key, mark) => {
      const name = redisKey(budget, key);
      await ask<unknown>(typeof mark === 'string' ? redis.zrem(name, mark) : redis.zpopmax(name));
    },
    close: () => {
      state = 'closed';
      clearTimeout(nextTrial);
      settleFirstTrial();
      redis.disconnect();
    },
  };
}

/**
 * A key is a sorted set with a member for each counted call, whose score is its time in microseconds. A call made
 * exactly one window ago no longer counts. An empty mark reads without counting.
 */
const SCRIPT = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local window, max, mark = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local earlier = redis.call('ZCARD', KEYS[1])
if mark ~= '' and earlier < max then
  redis.call('ZADD', KEYS[1], now, mark)
  redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000))
end
local first = math.max(0, earlier - max)
local oldest = redis.call('ZRANGE', KEYS[1], first, first, 'WITHSCORES')
return { earlier, oldest[2] and oldest[2] + window - now or 0 }
`;
const SCRIPT_SHA = createHash('sha1').update(SCRIPT).digest('hex');

async function runScript(redis: Redis, [key, ...rest]: [string, ...string[]]): Promise<unknown> {
  try {
    return await redis.evalsha(SCRIPT_SHA, 1, key, ...rest);
  } catch (error) {
    // Redis loses its scripts when it restarts; EVAL with the text loads the script again.
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await redis.eval(SCRIPT, 1, key, ...rest);
  }
}

/** `Retry-After` is at most a window, even if the clock of Redis steps back. */
function stateIn(reply: unknown, budget: RateBudget, mark: string): BudgetState {
  const [earlier, freesInMicroseconds]: unknown[] = Array.isArray(reply) ? reply : [];
  if (typeof earlier !== 'number' || typeof freesInMicroseconds !== 'number')
    throw new Error('Redis answered in no known form.');
  return {
    earlier,
    freesInMs: Math.min(freesInMicroseconds / 1000, budget.windowSeconds * 1000),
    mark: mark !== '' && earlier < budget.max ? mark : undefined,
  };
}

/** The caller's part is hashed: it cannot name another budget, and no email is kept in Redis. */
function redisKey({ name, windowSeconds }: RateBudget, key: string): string {
  return `rate:${encodeURIComponent(name)}:${windowSeconds}:${createHash('sha256').update(key).digest('base64url')}`;
}

class RedisIsLate extends Error {}

/**
 * Rejects when the work takes too long. On a busy event loop every answer looks late: so once the time is up, the
 * sockets are read one last time (the immediate waits for that) before Redis counts as lost.
 */
function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new RedisIsLate(`Redis did not answer within ${timeoutMs} ms.`));
    const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

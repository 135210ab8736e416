/**
 * Rate limits that stay exact under parallel calls. graphql-rate-limit's own stores read first and write later. With a
 * limit of 5, a thousand parallel calls could pass. So its limiter gets a store that counts with rate-limiter-flexible.
 * A window starts with its first counted call.
 *
 * Without Redis, or while it's unreachable, memory holds the counts. Each identity stays until its window ends, after a
 * minute, or after an hour for emails. A million identities take about 400 MB.
 *
 * A limit on failures is consumed before the attempt and refunded after a success. Otherwise, every attempt that starts
 * before the first failure would pass.
 */
import { createHash } from 'node:crypto';
import { getGraphQLRateLimiter } from 'graphql-rate-limit';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { openRedis, type Redis } from '../redis.js';
import { UNCOUNT_UNTIL_MS_BEFORE_END } from '../service-limits.js';

export interface RateBudget {
  /** Always our own name, never a caller's text. */
  readonly name: string;
  /** The calls allowed per window. 0 allows none. */
  readonly max: number;
  readonly windowSeconds: number;
}

export interface RateLimitSettings {
  /** If false, every call passes and nothing is counted. */
  readonly enabled: boolean;
  readonly redisUrl?: string | undefined;
  /** How long a call waits for Redis when the connection is lost. Later calls don't wait. */
  readonly redisTimeoutMs?: number;
  /** Called once per lost connection, and if Redis can't be reached at startup. */
  onRedisLost(error: unknown): void;
  onRedisBack(): void;
}

export interface RateLimitResult {
  readonly allowed: boolean;
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** At least 1 for a refused call, or 0. */
  readonly retryAfterSeconds: number;
  /** Removes this call from the count, once. Has no effect for a refused call. */
  refund(): Promise<void>;
}

export type RateLimitResults = Iterable<readonly [name: string, result: RateLimitResult]>;

export interface RateLimits {
  /** Counts the call if there is room. Refused calls don't count. */
  consume(budget: RateBudget, key: string): Promise<RateLimitResult>;
  storeInUse(): 'memory' | 'redis';
  /** Resolves within a second or two, once it's known whether Redis is reachable. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

export function createRateLimits(settings: RateLimitSettings): RateLimits {
  return settings.enabled ? countingLimits(settings) : NO_LIMITS;
}

function countingLimits(settings: RateLimitSettings): RateLimits {
  const { redisUrl, redisTimeoutMs, onRedisLost, onRedisBack } = settings;
  const connection = redisUrl
    ? openRedis(redisUrl, { onLost: onRedisLost, onBack: onRedisBack }, redisTimeoutMs)
    : undefined;
  const counters = new Map<string, Counters>();

  async function consume(budget: RateBudget, key: string): Promise<RateLimitResult> {
    const call: { counted?: CountedCall } = {};
    const allowed = await isAllowed(budget, async () => {
      call.counted = await count(budget, shortKey(key));
      return call.counted.hasRoom;
    });
    if (call.counted && !allowed) await uncount(call.counted);
    return resultOf(budget, allowed, call.counted, uncount);
  }

  async function count(budget: RateBudget, key: string): Promise<CountedCall> {
    const { inMemory, inRedis } = countersOf(budget);
    return (inRedis && (await connection?.attempt(() => countIn(inRedis, key)))) ?? countIn(inMemory, key);
  }

  async function uncount({ counter, key, windowEndsMs }: CountedCall): Promise<void> {
    if (performance.now() > windowEndsMs - UNCOUNT_UNTIL_MS_BEFORE_END) return;
    if (counter instanceof RateLimiterRedis) await connection?.attempt(() => counter.reward(key));
    else await counter.reward(key);
  }

  function countersOf(budget: RateBudget): Counters {
    const label = `${budget.name}:${budget.windowSeconds}:${budget.max}`;
    let ofBudget = counters.get(label);
    if (!ofBudget) counters.set(label, (ofBudget = createCounters(budget, connection?.redis)));
    return ofBudget;
  }

  return {
    consume,
    storeInUse: () => (connection?.isReachable() ? 'redis' : 'memory'),
    ready: async () => connection?.ready(),
    close: async () => connection?.close(),
  };
}

interface Counters {
  readonly inMemory: RateLimiterMemory;
  readonly inRedis: RateLimiterRedis | undefined;
}

interface CountedCall {
  readonly counter: RateLimiterMemory | RateLimiterRedis;
  readonly key: string;
  readonly hasRoom: boolean;
  readonly remaining: number;
  /** When the window ends, on the clock of `performance.now()`, which never goes back. */
  readonly windowEndsMs: number;
}

function createCounters({ name, max, windowSeconds }: RateBudget, redis: Redis | undefined): Counters {
  const settings = { points: max, duration: windowSeconds };
  return {
    inMemory: new RateLimiterMemory({ ...settings, keyPrefix: '' }),
    inRedis:
      redis && new RateLimiterRedis({ ...settings, keyPrefix: `rates:${name}:${windowSeconds}`, storeClient: redis }),
  };
}

/** Counts a call. The counter also counts calls above the limit, and `uncount` removes them. */
async function countIn(counter: CountedCall['counter'], key: string): Promise<CountedCall> {
  try {
    return countedCall(counter, key, true, await counter.consume(key));
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return countedCall(counter, key, false, refusal);
  }
}

function countedCall(
  counter: CountedCall['counter'],
  key: string,
  hasRoom: boolean,
  { remainingPoints, msBeforeNext }: RateLimiterRes,
): CountedCall {
  return { counter, key, hasRoom, remaining: remainingPoints, windowEndsMs: performance.now() + msBeforeNext };
}

/** Keeps callers' text out of Redis, and keys short. No caller can find two keys with the same hash. */
function shortKey(key: string): string {
  return createHash('sha256').update(key).digest().toString('base64url', 0, 16);
}

/**
 * The used part of the limiter's type. As a method, `refusal` matches the library's type without a cast. The limiter
 * reads nothing else from a resolver's parameters.
 */
interface Limiter {
  refusal(
    field: { parent: undefined; args: Record<string, unknown>; context: undefined; info: { fieldName: string } },
    budget: { max: number; readOnly: true },
  ): Promise<string | undefined>;
}

/** Asks graphql-rate-limit's limiter. The store counts when the limiter reads, and ignores what it writes. */
async function isAllowed({ name, max }: RateBudget, countCall: () => Promise<boolean>): Promise<boolean> {
  // The limiter would read a limit of 0 as its default of 5.
  if (!(max >= 1)) return false;
  const limiter: Limiter = {
    refusal: getGraphQLRateLimiter({
      identifyContext: () => name,
      store: {
        // With a limit of 1, one earlier call means refused, and none means counted.
        getForIdentity: async () => ((await countCall()) ? [] : [Date.now()]),
        setForIdentity: () => undefined,
      },
    }),
  };
  const field = { parent: undefined, args: {}, context: undefined, info: { fieldName: name } };
  return (await limiter.refusal(field, { max: 1, readOnly: true })) === undefined;
}

function resultOf(
  { max, windowSeconds }: RateBudget,
  allowed: boolean,
  counted: CountedCall | undefined,
  uncount: (counted: CountedCall) => Promise<void>,
): RateLimitResult {
  const leftMs = counted ? counted.windowEndsMs - performance.now() : windowSeconds * 1_000;
  const resetSeconds = Math.min(windowSeconds, Math.max(1, Math.ceil(leftMs / 1_000)));
  let isCounted = allowed;
  return {
    allowed,
    limit: max,
    windowSeconds,
    remaining: counted?.remaining ?? 0,
    resetSeconds,
    retryAfterSeconds: allowed ? 0 : resetSeconds,
    refund: async () => {
      if (!isCounted || !counted) return;
      isCounted = false;
      await uncount(counted);
    },
  };
}

async function passEverything({ max, windowSeconds }: RateBudget): Promise<RateLimitResult> {
  return {
    allowed: true,
    limit: max,
    windowSeconds,
    remaining: max,
    resetSeconds: 0,
    retryAfterSeconds: 0,
    refund: async () => undefined,
  };
}

const NO_LIMITS: RateLimits = {
  consume: passEverything,
  storeInUse: () => 'memory',
  ready: async () => undefined,
  close: async () => undefined,
};

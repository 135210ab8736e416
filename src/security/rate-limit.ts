/**
 * Rate limits over a sliding window, exact under any number of parallel calls: graphql-rate-limit's limiter over a
 * store of our own, since its stores read first and write later, and let a thousand parallel calls through a limit of
 * 5. Counts are kept in Redis if there is one, and in memory if there is none or it is lost.
 *
 * A budget of failures is taken from before the attempt and given back after a success. Counting only after a failure
 * would let every attempt through that starts before the first has failed.
 */
import { getGraphQLRateLimiter } from 'graphql-rate-limit';
import { createMemoryStore } from './rate-limit-memory.js';
import { createRedisStore, type RedisStore } from './rate-limit-redis.js';
import type { Mark, RateBudget, RateStore, BudgetState } from './rate-limit-store.js';
import { REDIS } from '../rules/limits.js';

export type { RateBudget } from './rate-limit-store.js';

export interface RateLimitSettings {
  /** False lets every call pass and counts nothing. */
  readonly enabled: boolean;
  readonly redisUrl?: string | undefined;
  /** How long a call waits for Redis at the moment it is lost; after that, none waits. */
  readonly redisTimeoutMs?: number;
  /** How many identities a budget remembers in memory. */
  readonly identitiesMax?: number;
  /** Milliseconds on a clock that never steps back, for the counts in memory. */
  readonly now?: () => number;
  /** Called once for each loss, also when Redis cannot be reached at the start. */
  onRedisLost(error: Error): void;
  onRedisBack(): void;
}

export interface Taken {
  readonly allowed: boolean;
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** When the oldest counted call leaves the window; 0 if none counts. */
  readonly resetSeconds: number;
  /** At least 1 for a refused call, 0 for one that passes. */
  readonly retryAfterSeconds: number;
  /** What `giveBack` needs in order to return this very call. */
  readonly receipt?: Receipt | undefined;
}

export interface RateLimits {
  take(budget: RateBudget, key: string): Promise<Taken>;
  /** What `take` would answer, without counting. It is no reservation: other calls may take in between. */
  check(budget: RateBudget, key: string): Promise<Taken>;
  /**
   * Returns a call that `take` has counted; the same one twice, or a refused one, changes nothing. Without `taken`, the
   * newest goes.
   */
  giveBack(budget: RateBudget, key: string, taken?: Taken): Promise<void>;
  storeInUse(): 'memory' | 'redis';
  /** Settles once it is known whether Redis can be reached, within about a second or two. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

interface Receipt {
  readonly store: RateStore;
  readonly mark: Mark | undefined;
  isReturned: boolean;
}

export function createRateLimits(settings: RateLimitSettings): RateLimits {
  return settings.enabled ? countingLimits(settings) : NO_LIMITS;
}

function countingLimits(settings: RateLimitSettings): RateLimits {
  const memory = createMemoryStore({ identitiesMax: settings.identitiesMax, now: settings.now });
  const redis = redisIn(settings);
  const limit = createLimiter();
  const storeInUse = (): RateStore => (redis?.usable() ? redis : memory);

  async function ask(how: 'count' | 'look', budget: RateBudget, key: string): Promise<StoreReply> {
    const store = storeInUse();
    try {
      return { store, state: await store[how](budget, key) };
    } catch (error) {
      if (store === memory) throw error;
      // The Redis store has reported its loss by now; this call and all later ones count in memory.
      return { store: memory, state: memory[how](budget, key) };
    }
  }

  async function giveBack(budget: RateBudget, key: string, taken?: Taken): Promise<void> {
    const receipt = taken ? taken.receipt : { store: storeInUse(), mark: undefined, isReturned: false };
    if (!receipt || receipt.isReturned) return;
    receipt.isReturned = true;
    // A call that was counted in a Redis that is lost now leaves with its window.
    if (receipt.store === redis && !redis.usable()) return;
    try {
      await receipt.store.uncount(budget, key, receipt.mark);
    } catch (error) {
      if (receipt.store === memory) throw error;
    }
  }

  return {
    take: (budget, key) => limit(budget, false, () => ask('count', budget, key)),
    check: (budget, key) => limit(budget, true, () => ask('look', budget, key)),
    giveBack,
    storeInUse: () => (storeInUse() === memory ? 'memory' : 'redis'),
    ready: async () => redis?.firstTrial,
    close: async () => {
      memory.close();
      redis?.close();
    },
  };
}

function redisIn({
  redisUrl,
  redisTimeoutMs = REDIS.waitMs,
  onRedisLost,
  onRedisBack,
}: RateLimitSettings): RedisStore | undefined {
  return redisUrl
    ? createRedisStore({ url: redisUrl, timeoutMs: redisTimeoutMs, onLost: onRedisLost, onBack: onRedisBack })
    : undefined;
}

interface StoreReply {
  readonly store: RateStore;
  readonly state: BudgetState;
}

/**
 * A call while the limiter decides on it. The store finds it by a number, since the library passes only texts to a
 * store.
 */
interface Call {
  readonly ask: () => Promise<StoreReply>;
  reply?: StoreReply;
}

/** The limiter reads only the field's name of a resolver's `info`: here it is the name of the budget. */
interface Field {
  parent: undefined;
  args: Record<string, unknown>;
  context: string;
  info: { fieldName: string };
}

/** A method, so that the two types meet without a cast. */
interface Limiter {
  refusal(
    field: Field,
    budget: { max: number; window: string; readOnly: boolean; uncountRejected: true },
  ): Promise<string | undefined>;
}

/**
 * One limiter for all budgets of both APIs, over one store. The store looks up and counts in one step, so that parallel
 * calls cannot all see the same free place.
 */
function createLimiter(): (budget: RateBudget, readOnly: boolean, ask: Call['ask']) => Promise<Taken> {
  const calls = new Map<string, Call>();
  let callCount = 0;
  const limiter: Limiter = {
    refusal: getGraphQLRateLimiter({
      identifyContext: (number: string) => number,
      store: {
        getForIdentity: async ({ contextIdentity }) => {
          const call = calls.get(contextIdentity);
          if (!call) return [];
          call.reply = await call.ask();
          // The store has removed the calls that left the window, by its own clock; the others count as of now.
          return Array.from<number>({ length: call.reply.state.earlier }).fill(Date.now());
        },
        // The store has counted it already.
        setForIdentity: () => undefined,
      },
    }),
  };

  return async (budget, readOnly, ask) => {
    // The library reads a limit of 0 as its default of 5.
    if (!(budget.max >= 1)) return takenOf(budget, false);
    callCount += 1;
    const number = String(callCount);
    const call: Call = { ask };
    calls.set(number, call);
    try {
      const field = { parent: undefined, args: {}, context: number, info: { fieldName: budget.name } };
      const { max, windowSeconds } = budget;
      const refusal = await limiter.refusal(field, {
        max,
        window: `${windowSeconds}s`,
        readOnly,
        uncountRejected: true,
      });
      return takenOf(budget, refusal === undefined, call.reply);
    } finally {
      calls.delete(number);
    }
  };
}

function takenOf(budget: RateBudget, allowed: boolean, reply?: StoreReply): Taken {
  const { earlier, freesInMs, mark } = reply?.state ?? {
    earlier: 0,
    freesInMs: budget.windowSeconds * 1000,
    mark: undefined,
  };
  const resetSeconds = Math.ceil(freesInMs / 1000);
  return {
    allowed,
    limit: budget.max,
    windowSeconds: budget.windowSeconds,
    remaining: Math.max(0, budget.max - earlier - (mark === undefined ? 0 : 1)),
    resetSeconds,
    retryAfterSeconds: allowed ? 0 : Math.max(1, resetSeconds),
    receipt: reply && mark !== undefined ? { store: reply.store, mark, isReturned: false } : undefined,
  };
}

async function passEverything({ max, windowSeconds }: RateBudget): Promise<Taken> {
  return { allowed: true, limit: max, windowSeconds, remaining: max, resetSeconds: 0, retryAfterSeconds: 0 };
}

const NO_LIMITS: RateLimits = {
  take: passEverything,
  check: passEverything,
  giveBack: async () => undefined,
  storeInUse: () => 'memory',
  ready: async () => undefined,
  close: async () => undefined,
};

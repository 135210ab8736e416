/**
 * The WAL position that each user's reads must reach: the one after their last write, or after the last event that they
 * were sent. It applies to all of the user's sessions and API keys for 30 seconds. Instances share it in Redis.
 */
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '../redis.js';
import { REPLICA } from '../service-limits.js';
import type { WalPosition } from './stale-reads.js';

export interface WrittenPositions {
  /** Returns false if the other instances can't read it. */
  keep(users: readonly string[], position: WalPosition): Promise<boolean>;
  /**
   * 0 if the user has no position, so any state will do. Infinity if the user must read the primary. Undefined if Redis
   * can't be read.
   */
  of(user: string | undefined): Promise<WalPosition | undefined>;
  /** For the next 30 seconds, these users' reads use the primary. */
  keepOnPrimary(users: readonly string[]): Promise<void>;
}

export function createWrittenPositions(shared: RedisConnection | undefined): WrittenPositions {
  const limits = { max: REPLICA.usersMax, ttl: KEPT_MS };
  const own = new LRUCache<string, WalPosition>(limits);
  const onPrimary = new LRUCache<string, true>(limits);

  async function share({ redis }: RedisConnection, users: readonly string[], member: string, score: number) {
    const pipeline = redis.pipeline();
    for (const user of users) {
      // Another instance may have stored a later position, and this one may arrive late.
      pipeline.zadd(keyOf(user), 'GT', score, member).expire(keyOf(user), REPLICA.positionKeptSeconds);
    }
    const failures = ((await pipeline.exec()) ?? []).flatMap(([error]) => (error ? [error] : []));
    return failures[0] ? Promise.reject(failures[0]) : true;
  }

  return {
    keep: async (users, position) => {
      for (const user of users) own.set(user, Math.max(position, own.get(user) ?? 0));
      return shared === undefined || (await shared.attempt(() => share(shared, users, POSITION, position))) === true;
    },
    of: async (user) => {
      if (user === undefined) return shared === undefined || shared.isReachable() ? 0 : undefined;
      if (onPrimary.has(user)) return Infinity;
      const ownPosition = own.get(user) ?? 0;
      if (shared === undefined) return ownPosition;
      const scores = await shared.attempt(() => shared.redis.zmscore(keyOf(user), POSITION, ON_PRIMARY_UNTIL));
      if (!scores) return undefined;
      const [position = 0, onPrimaryUntil = 0] = scores.map(Number);
      return onPrimaryUntil > Date.now() ? Infinity : Math.max(ownPosition, position);
    },
    keepOnPrimary: async (users) => {
      for (const user of users) onPrimary.set(user, true);
      await shared?.attempt(() => share(shared, users, ON_PRIMARY_UNTIL, Date.now() + KEPT_MS));
    },
  };
}

const KEPT_MS = REPLICA.positionKeptSeconds * 1_000;

/** Members of a user's sorted set in Redis. */
const POSITION = 'position';
const ON_PRIMARY_UNTIL = 'on primary until';

const keyOf = (user: string) => `written:${user}`;

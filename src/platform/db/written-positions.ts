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
  /** 0 if the user has no position, so any state will do. Undefined if Redis can't be read. */
  of(user: string | undefined): Promise<WalPosition | undefined>;
  /** For the next 30 seconds, this instance reads the primary for these users. */
  keepOnPrimary(users: readonly string[]): void;
}

export function createWrittenPositions(shared: RedisConnection | undefined): WrittenPositions {
  const own = new LRUCache<string, WalPosition>({ max: REPLICA.usersMax, ttl: REPLICA.positionKeptSeconds * 1_000 });
  const raise = (users: readonly string[], position: WalPosition) => {
    for (const user of users) own.set(user, Math.max(position, own.get(user) ?? 0));
  };

  async function share({ redis }: RedisConnection, users: readonly string[], position: WalPosition): Promise<true> {
    const pipeline = redis.pipeline();
    for (const user of users) {
      // Another instance may have stored a later position, and this one may arrive late.
      pipeline.zadd(keyOf(user), 'GT', position, MEMBER).expire(keyOf(user), REPLICA.positionKeptSeconds);
    }
    const failures = ((await pipeline.exec()) ?? []).flatMap(([error]) => (error ? [error] : []));
    return failures[0] ? Promise.reject(failures[0]) : true;
  }

  return {
    keep: async (users, position) => {
      raise(users, position);
      return shared === undefined || (await shared.attempt(() => share(shared, users, position))) === true;
    },
    of: async (user) => {
      const ownPosition = user === undefined ? 0 : (own.get(user) ?? 0);
      if (shared === undefined || ownPosition === Infinity) return ownPosition;
      if (user === undefined) return shared.isReachable() ? 0 : undefined;
      const answer = await shared.attempt(async () => ({ position: await shared.redis.zscore(keyOf(user), MEMBER) }));
      return answer && Math.max(ownPosition, Number(answer.position ?? 0));
    },
    keepOnPrimary: (users) => raise(users, Infinity),
  };
}

const MEMBER = 'position';

const keyOf = (user: string) => `written:${user}`;

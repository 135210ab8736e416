/**
 * Caches the automatic persisted queries that clients registered, by SHA-256. Memory holds the most recently used ones.
 * Redis, if configured, shares them between servers. Clients register a missing document again, so losing one is
 * harmless.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { connectRedis, within, type Redis } from '../../redis.js';
import { PERSISTED_QUERIES } from '../../caller-limits.js';
import { REDIS } from '../../service-limits.js';

export interface DocumentCache {
  find(hash: string): Promise<string | undefined>;
  keep(hash: string, document: string): Promise<void>;
  close(): void;
}

export function createDocumentCache(redisUrl: string | undefined): DocumentCache {
  const memory = new LRUCache<string, string>({ max: PERSISTED_QUERIES.documentsMax });
  const redisCache = redisUrl === undefined ? undefined : documentsInRedis(redisUrl);
  return {
    find: async (hash) => {
      const cachedDocument = memory.get(hash);
      if (cachedDocument !== undefined || !redisCache) return cachedDocument;
      const document = await redisCache.find(hash);
      // Other programs may write to Redis, so a document's hash must match.
      if (document === undefined || sha256(document) !== hash) return undefined;
      memory.set(hash, document);
      return document;
    },
    keep: async (hash, document) => {
      if (document.length > PERSISTED_QUERIES.documentCharactersMax || memory.has(hash)) return;
      memory.set(hash, document);
      await redisCache?.keep(hash, document);
    },
    close: () => redisCache?.close(),
  };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const DOCUMENTS = '{persisted-queries}:documents';
const LAST_USES = '{persisted-queries}:used';

/** Stores a document, and drops the least recently used ones if there are too many. */
const KEEP = `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
local tooMany = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if tooMany > 0 then
  for _, hash in ipairs(redis.call('ZRANGE', KEYS[2], 0, tooMany - 1)) do
    redis.call('HDEL', KEYS[1], hash)
    redis.call('ZREM', KEYS[2], hash)
  end
end
`;

function documentsInRedis(url: string): DocumentCache {
  const redis = connectRedis(url);
  // The rate limits' own connection logs that Redis is unreachable.
  redis.on('error', () => undefined);
  let nextCallAtMs = -Infinity;

  async function ask<T>(work: (redis: Redis) => Promise<T>): Promise<T | undefined> {
    if (redis.status !== 'ready' || performance.now() < nextCallAtMs) return undefined;
    try {
      return await within(REDIS.waitMs, work(redis));
    } catch {
      nextCallAtMs = performance.now() + REDIS.documentPauseMs;
      return undefined;
    }
  }

  return {
    find: (hash) =>
      ask(async () => {
        const [document] = await Promise.all([
          redis.hget(DOCUMENTS, hash),
          redis.zadd(LAST_USES, 'XX', Date.now(), hash),
        ]);
        return document ?? undefined;
      }),
    keep: async (hash, document) => {
      const { documentsMax } = PERSISTED_QUERIES;
      await ask(() => redis.eval(KEEP, 2, DOCUMENTS, LAST_USES, hash, document, Date.now(), documentsMax));
    },
    close: () => redis.disconnect(),
  };
}

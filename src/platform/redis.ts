/** Connects to Redis. A server without Redis doesn't load the client. */
import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';
import { REDIS } from './service-limits.js';

export type { Redis } from 'ioredis';

/** Without a connection, commands fail immediately. Queuing them would count calls too late. */
export function connectRedis(url: string, timeoutMs: number = REDIS.setupTimeoutMs): Redis {
  const ioredis = createRequire(import.meta.url)('ioredis') as typeof import('ioredis');
  return new ioredis.Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: REDIS.setupTimeoutMs,
    commandTimeout: Math.max(REDIS.setupTimeoutMs, timeoutMs),
    disconnectTimeout: 100,
    disableClientInfo: true,
    retryStrategy: (attempt) => Math.min(50 * attempt, REDIS.retryIntervalMsMax),
  });
}

/** Limits the wait for `work`. A response that arrived while the event loop was busy still counts. */
export function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`Redis did not answer within ${timeoutMs} ms.`));
    const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Connections to Redis. A server without Redis does not even load the client. */
import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';

export type { Redis } from 'ioredis';

const SETUP_TIMEOUT_MS = 1_000;
export const REDIS_RETRY_INTERVAL_MS_MAX = 1_000;

/**
 * Commands fail at once while there is no connection, and are never queued and sent later: a late count is a wrong one.
 */
export function connectRedis(url: string, timeoutMs = SETUP_TIMEOUT_MS): Redis {
  const ioredis = createRequire(import.meta.url)('ioredis') as typeof import('ioredis');
  return new ioredis.Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: SETUP_TIMEOUT_MS,
    commandTimeout: Math.max(SETUP_TIMEOUT_MS, timeoutMs),
    disconnectTimeout: 100,
    disableClientInfo: true,
    retryStrategy: (attempt) => Math.min(50 * attempt, REDIS_RETRY_INTERVAL_MS_MAX),
  });
}

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

export interface RedisConnection {
  readonly redis: Redis;
  /**
   * Returns undefined if Redis fails. The rate limiter's `insuranceLimiter` would hide why, so a full or read-only
   * Redis would look healthy in the log and metrics.
   */
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
  isReachable(): boolean;
  /** Resolves within a second or two, once it's known whether Redis is reachable. */
  ready(): Promise<void>;
  close(): void;
}

export interface RedisEvents {
  /** Called once per lost connection, and if Redis can't be reached at startup. */
  onLost(error: unknown): void;
  onBack(): void;
}

/** Opens a connection whose calls never wait for a lost Redis. */
export function openRedis(
  url: string,
  { onLost, onBack }: RedisEvents,
  timeoutMs: number = REDIS.waitMs,
): RedisConnection {
  const redis = connectRedis(url, timeoutMs);
  let isLost = false;
  let isReconnecting = false;
  redis.on('error', noteLoss).on('close', noteClose).on('ready', noteReturn);

  function noteLoss(error: unknown): void {
    if (!isLost) onLost(error);
    isLost = true;
  }

  function noteClose(): void {
    isReconnecting = false;
    noteLoss(new Error('The connection to Redis was closed.'));
  }

  function noteReturn(): void {
    if (isLost) onBack();
    isLost = false;
  }

  /** A dead connection may accept commands for fifteen minutes before the operating system closes it. */
  function reconnect(): void {
    if (redis.status !== 'ready' || isReconnecting) return;
    isReconnecting = true;
    redis.disconnect(true);
  }

  return {
    redis,
    attempt: async (work) => {
      if (redis.status !== 'ready' || isReconnecting) return undefined;
      try {
        const result = await within(timeoutMs, work());
        noteReturn();
        return result;
      } catch (error) {
        noteLoss(error);
        if (!isReply(error)) reconnect();
        return undefined;
      }
    },
    isReachable: () => redis.status === 'ready' && !isLost,
    ready: async () => {
      if (redis.status !== 'ready' && !isLost)
        await new Promise((resolve) => redis.once('ready', resolve).once('close', resolve));
    },
    close: () => redis.off('close', noteClose).disconnect(),
  };
}

/** True for an error that Redis returned over a working connection. */
function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

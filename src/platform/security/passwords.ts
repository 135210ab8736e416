/**
 * Hashes passwords with bcrypt. A hash occupies a thread for a quarter of a second. A fair queue limits how many run at
 * once, and refuses calls that would wait too long. bcrypt ignores all bytes after the 72nd, so the input schemas
 * reject longer passwords.
 */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import { QUOTAS } from '../caller-limits.js';
import { HASHING } from '../service-limits.js';
import type { QuotaLimits } from '../quotas/quota-table.js';
import { createFairQueue, type FairQueue } from '../quotas/fair-queue.js';
import { NO_EVENTS, SERVER, type Client, type QuotaEvents } from '../quotas/quota.js';
import { hashingThreads } from './hashing-threads.js';

export interface PasswordSettings {
  readonly cost: number;
  readonly concurrent?: number;
  readonly limits?: QuotaLimits;
  readonly events?: QuotaEvents;
}

export interface Passwords {
  hash(plain: string, client?: Client): Promise<string>;
  /** Without a hash, as for an unknown account, returns false after the same time as a real comparison. */
  matches(plain: string, hash: string | undefined, client?: Client): Promise<boolean>;
  /** Refuses waiting calls, and later ones that would have to wait. */
  stop: FairQueue['stop'];
  readonly active: number;
  readonly waiting: number;
}

/** Runs two hashes at a time, or one on a small machine, to leave a core for everything else. */
const CONCURRENT = Math.max(1, Math.min(2, availableParallelism() - 1));

export function createPasswords({
  cost,
  concurrent = CONCURRENT,
  limits = QUOTAS.hashingQueue,
  events = NO_EVENTS,
}: PasswordSettings): Passwords {
  let lastMs = 0;
  const queue: FairQueue = createFairQueue({
    name: 'hashingQueue',
    limits,
    events,
    slots: concurrent,
    waitMs: HASHING.waitMs,
    // By then, a quarter of the queue has been served, so there is room again.
    retryAfterSeconds: () => Math.max(1, Math.ceil((queue.waiting * lastMs) / concurrent / 4 / 1_000)),
  });
  const dummyHash = hashOfNoPassword(cost);

  async function measure<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await work();
    lastMs = performance.now() - began;
    return result;
  }

  return {
    hash: (plain, client = SERVER) => queue.run(client, () => measure(() => hashingThreads.hash(plain, cost))),
    matches: async (plain, hash, client = SERVER) => {
      const isSame = await queue.run(client, () => measure(() => hashingThreads.compare(plain, hash ?? dummyHash)));
      return isSame && hash !== undefined;
    },
    stop: queue.stop,
    get active() {
      return queue.active;
    },
    get waiting() {
      return queue.waiting;
    },
  };
}

/**
 * A well-formed hash of the same cost, which no password matches. bcrypt rejects a malformed hash in a millisecond,
 * which would reveal which emails have accounts. It's a constant, because computing one would delay startup. Its last
 * character sets bits that no real hash has.
 */
function hashOfNoPassword(cost: number): string {
  const digits = randomBytes(24).toString('base64').replaceAll('+', '.').slice(0, 30);
  return `${bcrypt.genSaltSync(cost)}${digits}9`;
}

/**
 * Passwords: bcrypt, a few at a time. A hash holds a thread for a quarter of a second; the gate bounds how many there
 * are, and sheds what could not be answered in time.
 * bcrypt reads 72 bytes and no further, so the schema of every caller refuses longer passwords.
 */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import { createGate, type Gate } from '../gate.js';
import { hashingThreads } from './hashing-threads.js';

export interface PasswordSettings {
  readonly cost: number;
  readonly concurrent?: number;
  readonly waiting?: number;
  readonly waitMs?: number;
  /** Makes the refusal for a call that finds the queue full, with when it is worth coming again. */
  overloaded(retryAfterSeconds: number): Error;
}

export interface Passwords {
  hash(plain: string): Promise<string>;
  /** False for an account that does not exist (no hash), after the time that a real comparison takes. */
  matches(plain: string, hash: string | undefined): Promise<boolean>;
  readonly active: number;
  readonly queued: number;
}

/** Two at once, and on a small machine one: a core is left for everything else. */
const CONCURRENT = Math.max(1, Math.min(2, availableParallelism() - 1));

// The last of a full queue waits 256 hashes, a minute at cost 12 where there is one at a time: the time-out must not shed those early.
const DEFAULTS = { concurrent: CONCURRENT, waiting: 256, waitMs: 120_000 };

export function createPasswords({ cost, overloaded, ...chosen }: PasswordSettings): Passwords {
  const settings = { ...DEFAULTS, ...chosen };
  let lastMs = 0;
  // When a quarter of the queue has been served there is room again.
  const secondsToWait = () => Math.max(1, Math.ceil((gate.queued * lastMs) / settings.concurrent / 4 / 1_000));
  const gate: Gate = createGate({ ...settings, onFull: () => overloaded(secondsToWait()) });
  const nobodysHash = hashOfNoPassword(cost);

  async function timed<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const done = await work();
    lastMs = performance.now() - began;
    return done;
  }

  return {
    hash: (plain) => gate.run(() => timed(() => hashingThreads.hash(plain, cost))),
    matches: async (plain, hash) => {
      const same = await gate.run(() => timed(() => hashingThreads.compare(plain, hash ?? nobodysHash)));
      return same && hash !== undefined;
    },
    get active() {
      return gate.active;
    },
    get queued() {
      return gate.queued;
    },
  };
}

/**
 * A well-formed hash of the same cost: bcrypt answers a malformed one in a millisecond, which would tell strangers which
 * emails have accounts. It is put together rather than computed, which would delay the start by a whole hash. Its last
 * character sets bits that no real hash has, so it is the hash of nothing.
 */
function hashOfNoPassword(cost: number): string {
  const digits = randomBytes(24).toString('base64').replaceAll('+', '.').slice(0, 30);
  return `${bcrypt.genSaltSync(cost)}${digits}9`;
}

/** Reproducible randomness. Every stream of choices follows from the run's seed and a name. */
import { createHash } from 'node:crypto';

export interface Chance {
  /** From 0 up to, but not including, 1. */
  next(): number;
  /** An integer from 0 up to, but not including, `below`. */
  below(below: number): number;
  happens(probability: number): boolean;
  of<T>(choices: readonly T[]): T;
}

export function chance(seed: string, name: string): Chance {
  const digest = createHash('sha256').update(`${seed} ${name}`).digest();
  let state = digest.readUInt32LE(0);
  // Mulberry32: small, fast, and random enough for choices.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    happens: (probability) => next() < probability,
    of: (choices) => {
      const chosen = choices[below(choices.length)];
      if (chosen === undefined) throw new Error('There is nothing to choose from.');
      return chosen;
    },
  };
}

/** The seed of random tests. It's fixed by default, and `random` chooses a new one. */
const FIXED = 12;

export function seedFrom(given: string | undefined): number {
  return given === 'random' ? Math.trunc(Math.random() * 2 ** 31) : Number(given ?? FIXED);
}

/** Numbers from 0 to 1, like Math.random. The same seed gives the same numbers (mulberry32). */
export function chanceFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What tests leave to chance: the same at every run, unless a seed is given, or `random` makes one up. */
const FIXED = 12;

export function seedFrom(given: string | undefined): number {
  return given === 'random' ? Math.trunc(Math.random() * 2 ** 31) : Number(given ?? FIXED);
}

/** Numbers from 0 to 1, as Math.random gives them, and the same ones for the same seed (mulberry32). */
export function chanceFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

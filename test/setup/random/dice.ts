/** Random choices that depend only on a seed, so a run can be repeated. */
import fc from './property.js';

export interface Dice {
  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number;
  /** True with this probability, in percent. */
  percent(share: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Chooses an entry in proportion to its weight. */
  weighted<Item>(items: readonly (readonly [weight: number, item: Item])[]): Item;
  /** Includes each item with this probability, in percent. Keeps the order. */
  some<Item>(items: readonly Item[], share: number): Item[];
}

/** Mulberry32: small, fast, and random enough for tests. */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const percent = (share: number) => next() * 100 < share;
  const pick = <Item>(items: readonly Item[]): Item => {
    if (items.length === 0) throw new Error('There is nothing to pick from.');
    return items[int(0, items.length - 1)] as Item;
  };
  return {
    int,
    percent,
    pick,
    weighted: (items) => {
      let left = next() * items.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, item] of items) if ((left -= weight) < 0) return item;
      return pick(items)[1];
    },
    some: (items, share) => items.filter(() => percent(share)),
  };
}

/** The values that a run picks from. fast-check generates them from the same seed. */
export function samples<Value>(arbitrary: fc.Arbitrary<Value>, seed: number, count = 1_000): readonly Value[] {
  return fc.sample(arbitrary, { seed, numRuns: count });
}

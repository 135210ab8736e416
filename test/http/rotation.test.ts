import { describe, expect, it } from 'vitest';
import { Rotation } from '../../src/http/rotation.js';

const one = (address: string, name: string) => ({ address, name });
const names = (some: readonly { name: string }[]) => some.map(({ name }) => name).join(' ');

describe('a rotation', () => {
  const a1 = one('a', 'a1');
  const a2 = one('a', 'a2');
  const a3 = one('a', 'a3');
  const b1 = one('b', 'b1');
  const c1 = one('c', 'c1');

  it('serves addresses in turn, however many wait of one', () => {
    const rotation = new Rotation<typeof a1>();
    for (const each of [a1, a2, a3, b1, c1]) rotation.enter(each);
    expect(names(rotation.next(3, 2))).toBe('a1 a2 b1');
    rotation.leave(a1);
    expect(names(rotation.next(9, 1))).toBe('b1 c1 a2');
    rotation.leave(b1);
    expect(names(rotation.next(9, 9))).toBe('c1 a2 a3');
  });

  it('sends to the end whom it passes over, and their address with them', () => {
    const rotation = new Rotation<typeof a1>();
    for (const each of [a1, a2, b1]) rotation.enter(each);
    rotation.toEnd(a1);
    expect(names(rotation.next(9, 9))).toBe('b1 a2 a1');
    expect([rotation.countOf('a'), rotation.countOf('b'), rotation.countOf('c')]).toEqual([2, 1, 0]);
  });

  it('keeps the place of an entry until it leaves, and forgets those that have left', () => {
    const rotation = new Rotation<typeof a1>();
    for (const each of [a1, b1, a1]) rotation.enter(each);
    expect(names(rotation.next(9, 9))).toBe('a1 b1');
    expect(names(rotation.next(9, 9))).toBe('a1 b1');
    expect(rotation.size).toBe(2);
    for (const each of [a1, a2]) rotation.leave(each);
    expect([rotation.has(a1), rotation.has(b1), rotation.isEmpty]).toEqual([false, true, false]);
    rotation.leave(b1);
    expect(rotation.isEmpty).toBe(true);
  });
});

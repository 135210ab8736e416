import { expect, test } from 'vitest';
import { changedReadOnly } from '../../../src/platform/fields/read-only.js';

const stored = { place: { street: '1 Elm Street', city: 'Austin', floor: 2 }, areas: ['Austin', 'Dallas'], note: null };

test.each<[what: string, sent: object, changed: string[]]>([
  ['an object in another order', { place: { city: 'Austin', floor: 2, street: '1 Elm Street' } }, []],
  ['an object in reverse', { place: { floor: 2, city: 'Austin', street: '1 Elm Street' } }, []],
  ['an object as it is stored', { place: stored.place }, []],
  ['an object of which one part differs', { place: { ...stored.place, floor: 3 } }, ['place']],
  ['a list as it is stored', { areas: ['Austin', 'Dallas'] }, []],
  ['a list in another order', { areas: ['Dallas', 'Austin'] }, ['areas']],
  ['a number too large to be read, where there is nothing', { note: Number.POSITIVE_INFINITY }, ['note']],
  ['what changes by itself', { version: 5, updatedAt: 'yesterday' }, []],
])('Hannah sends back %s: %2$j has changed', (_what, sent, changed) => {
  expect(changedReadOnly(['place', 'areas', 'note', 'version', 'updatedAt'], sent, stored)).toEqual(changed);
});

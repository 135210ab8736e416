import fc from '../../setup/random/property.js';
import { expect, it } from 'vitest';
import { shapeOfJson } from '../../../src/platform/http/body.js';

it.each([
  ['{"a":1,"a":2}', 'a'],
  ['{"a":{"b":1},"c":[{"d":1,"d":2}]}', 'd'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['{ "a" : 1 , "a"\n:\t2 }', 'a'],
  ['{"a\\"b":1,"a\\"b":2}', 'a"b'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
])('finds a repeated name in %s', (text, name) => {
  expect(shapeOfJson(text).repeatedName).toBe(name);
});

it.each([
  '{"a":"a","b":"a"}',
  '[{"a":1},{"a":1}]',
  '{"a":{"a":{"a":1}}}',
  '{"a":"\\"b\\":","b":1}',
  '["a","a"]',
  '"a"',
  '1',
  '{"a":"\\\\","b":1}',
])('finds no repeated name in %s', (text) => {
  expect(shapeOfJson(text).repeatedName).toBeUndefined();
});

it("finds any value's depth, the most names in an object, and no repeated name in generated JSON", () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
  const namesOf = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    return Math.max(Array.isArray(value) ? 0 : Object.keys(value).length, ...Object.values(value).map(namesOf));
  };
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const parsed: unknown = JSON.parse(text);
      const shape = { depth: depthOf(parsed), names: namesOf(parsed), repeatedName: undefined };
      expect(shapeOfJson(text)).toEqual(shape);
    }),
    { numRuns: 500 },
  );
});

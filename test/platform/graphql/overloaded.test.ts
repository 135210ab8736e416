import { expect, it } from 'vitest';
import { retryAfterIfOverloaded } from '../../../src/platform/graphql/errors.js';

const overloaded = (...path: string[]) => ({
  message: 'The service is at capacity.',
  path,
  extensions: { code: 'OVERLOADED', retryAfter: 2 },
});
const forbidden = (...path: string[]) => ({ message: 'No.', path, extensions: { code: 'FORBIDDEN' } });

it.each([
  ['every root field', { data: { a: null, b: null }, errors: [overloaded('a'), overloaded('b')] }, 2],
  ['a field within each', { data: { a: null }, errors: [overloaded('a', 'tokens')] }, 2],
  ['a mutation, which may not be null', { data: null, errors: [overloaded('awardJob')] }, 2],
  ['one of two root fields', { data: { a: null, b: { id: 1 } }, errors: [overloaded('a')] }, undefined],
  [
    'one, and the other is refused',
    { data: { a: null, b: null }, errors: [overloaded('a'), forbidden('b')] },
    undefined,
  ],
  [
    'a nested field, among others',
    { data: { a: { id: 1, tokens: null } }, errors: [overloaded('a', 'tokens')] },
    undefined,
  ],
  ['one mutation, and another is refused', { data: null, errors: [overloaded('a'), forbidden('b')] }, undefined],
  ['nothing', { data: { a: null }, errors: [forbidden('a')] }, undefined],
  ['nothing, without errors', { data: { a: null } }, undefined],
])('if %s is OVERLOADED', (_, result, retryAfter) => {
  expect(retryAfterIfOverloaded(result)).toBe(retryAfter);
});

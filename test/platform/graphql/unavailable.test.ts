import { expect, it } from 'vitest';
import { retryAfterIfUnavailable } from '../../../src/platform/graphql/errors.js';

const overloaded = (...path: string[]) => ({
  message: 'The service is at capacity.',
  path,
  extensions: { code: 'OVERLOADED', status: 503, retryAfter: 2 },
});
const paymentsUnavailable = (...path: string[]) => ({
  message: 'The payment provider can’t be reached.',
  path,
  extensions: { code: 'PAYMENTS_UNAVAILABLE', status: 503, retryAfter: 5 },
});
const forbidden = (...path: string[]) => ({ message: 'No.', path, extensions: { code: 'FORBIDDEN', status: 403 } });

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
  ['a purchase', { data: { buyTokens: null }, errors: [paymentsUnavailable('buyTokens')] }, 5],
  [
    'one field, and another needs the payment provider',
    { data: { a: null, b: null }, errors: [overloaded('a'), paymentsUnavailable('b')] },
    5,
  ],
  [
    'a purchase, and another mutation succeeds',
    { data: { buyTokens: null, b: { id: 1 } }, errors: [paymentsUnavailable('buyTokens')] },
    undefined,
  ],
  ['one mutation, and another is refused', { data: null, errors: [overloaded('a'), forbidden('b')] }, undefined],
  ['nothing', { data: { a: null }, errors: [forbidden('a')] }, undefined],
  ['nothing, without errors', { data: { a: null } }, undefined],
])('if %s is unavailable', (_, result, retryAfter) => {
  expect(retryAfterIfUnavailable(result)).toBe(retryAfter);
});

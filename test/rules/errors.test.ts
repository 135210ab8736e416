import { describe, expect, test } from 'vitest';
import { ERROR_CODES, Refusal, REFUSALS, refuse, REST_ERROR_CODES } from '../../src/rules/errors.js';
import type { ErrorCode } from '../../src/rules/errors.js';

/** The closed list, with its statuses: copied by hand from the specification and decisions 4 and 9. */
const STATUSES: [status: number, codes: ErrorCode[]][] = [
  [200, ['PERSISTED_QUERY_NOT_FOUND']],
  [
    400,
    [
      'VALIDATION_FAILED',
      'MALFORMED_REQUEST',
      'MISSING_FIELDS',
      'INVALID_TRANSITION',
      'FIELD_NOT_EDITABLE',
      'BUDGET_DECREASE_TOO_LARGE',
      'URGENCY_LOCKED',
      'COMPLETION_DATE_SHIFT_TOO_LARGE',
      'INSUFFICIENT_TOKENS',
      'UNKNOWN_BID',
      'DUPLICATE_BID',
      'EMAIL_TAKEN',
      'UNKNOWN_REFERRAL_CODE',
      'INVALID_LINK',
    ],
  ],
  [401, ['UNAUTHENTICATED', 'INVALID_CREDENTIALS', 'INVALID_REFRESH_TOKEN']],
  [403, ['FORBIDDEN']],
  [404, ['NOT_FOUND']],
  [405, ['METHOD_NOT_ALLOWED']],
  [409, ['IDEMPOTENCY_KEY_IN_USE']],
  [412, ['STALE_VERSION']],
  [413, ['PAYLOAD_TOO_LARGE']],
  [415, ['UNSUPPORTED_MEDIA_TYPE']],
  [422, ['IDEMPOTENCY_KEY_REUSED']],
  [429, ['RATE_LIMITED']],
  [500, ['INTERNAL']],
  [501, ['NOT_CONFIGURED']],
  [503, ['OVERLOADED']],
];

test('the list is closed: these codes and no others', () => {
  expect([...ERROR_CODES].sort()).toEqual(STATUSES.flatMap(([, codes]) => codes).sort());
});

describe.each(STATUSES)('%d', (status, codes) => {
  test.each(codes)('%s', (code) => {
    expect(new Refusal(code).status).toBe(status);
  });
});

test.each(REST_ERROR_CODES)('%s is said to a person in a sentence of its own', (code) => {
  const { message } = new Refusal(code);
  expect(message).toMatch(/^[A-Z].{15,}\.$/);
  expect(ERROR_CODES.filter((other) => REFUSALS[other][1] === message)).toEqual([code]);
});

test('a bare refusal carries its code and nothing else', () => {
  const refusal = refuse('UNKNOWN_BID');
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toMatchObject({
    name: 'Refusal',
    code: 'UNKNOWN_BID',
    fields: undefined,
    blockedFields: [],
    details: {},
  });
});

test('a refusal carries what it is given, and says what it is told to say', () => {
  const facts = {
    message: 'Carla has bid already.',
    fields: { amount: 'is too low' },
    blockedFields: ['amount'],
    details: { required: 5 },
  };
  expect(refuse('DUPLICATE_BID', facts)).toMatchObject({ ...facts, code: 'DUPLICATE_BID', status: 400 });
});

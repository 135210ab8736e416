import { describe, expect, test } from 'vitest';
import {
  ERROR_CODES,
  REFUSALS,
  refuse,
  REST_ERROR_CODES,
  unauthorized,
  UNAUTHORIZED_MESSAGES,
  UNAUTHORIZED_REASONS,
  REASONS,
  reasonsOf,
} from '../../../src/market/rules/errors.js';
import { cut, Overload, OVERLOAD_CAUSES, Refusal } from '../../../src/platform/errors.js';
import type { ErrorCode } from '../../../src/market/rules/errors.js';

/** The complete list of codes with their statuses, copied by hand from the specification and decisions 4 and 9. */
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
  [503, ['OVERLOADED', 'PAYMENTS_UNAVAILABLE']],
];

test('the list is closed: these codes and no others', () => {
  expect([...ERROR_CODES].sort()).toEqual(STATUSES.flatMap(([, codes]) => codes).sort());
});

describe.each(STATUSES)('%d', (status, codes) => {
  test.each(codes)('%s', (code) => {
    expect(new Refusal(code, REFUSALS[code]).status).toBe(status);
  });
});

test('REST can return all of them except the one for a persisted query', () => {
  expect(ERROR_CODES.filter((code) => !REST_ERROR_CODES.includes(code))).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
});

test.each(REST_ERROR_CODES)('%s has its own message for people', (code) => {
  const { message } = new Refusal(code, REFUSALS[code]);
  expect(message).toMatch(/^[A-Z].{8,}\.$/);
  expect(ERROR_CODES.filter((other) => REFUSALS[other][1] === message)).toEqual([code]);
});

test('a bare refusal has its code and nothing else', () => {
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

test('a refusal has the details and the message it is given', () => {
  const details = {
    message: 'Carla has bid already.',
    fields: { amount: 'is too low' },
    blockedFields: ['amount'],
    details: { required: 5 },
  };
  expect(refuse('DUPLICATE_BID', details)).toMatchObject({ ...details, code: 'DUPLICATE_BID', status: 400 });
});

describe('a refusal is limited to what a program reads', () => {
  const names = Array.from({ length: 60 }, (_, index) => `field${index}`);

  test('60 fields are cut to 50, and the rest are counted', () => {
    const fields = Object.fromEntries(names.map((name) => [name, 'is wrong']));
    const refusal = refuse('VALIDATION_FAILED', { fields, blockedFields: names, details: { reason: 'many' } });
    expect(Object.keys(refusal.fields ?? {})).toEqual(names.slice(0, 50));
    expect(refusal.blockedFields).toEqual(names.slice(0, 50));
    expect(refusal.details).toEqual({ reason: 'many', fieldsLeftOut: 10 });
  });

  test('with 50 fields, none is omitted and nothing is counted', () => {
    const fields = Object.fromEntries(names.slice(10).map((name) => [name, 'is wrong']));
    expect(refuse('VALIDATION_FAILED', { fields })).toMatchObject({ fields });
    expect(refuse('VALIDATION_FAILED', { fields }).details).toEqual({});
  });

  test('a name is cut to 100 characters, a message to 500', () => {
    const refusal = refuse('FORBIDDEN', {
      message: 'm'.repeat(501),
      fields: { ['n'.repeat(101)]: 'p'.repeat(501) },
      blockedFields: ['b'.repeat(101)],
    });
    expect(refusal.message).toBe(`${'m'.repeat(497)}...`);
    expect(refusal.fields).toEqual({ [`${'n'.repeat(97)}...`]: `${'p'.repeat(497)}...` });
    expect(refusal.blockedFields).toEqual([`${'b'.repeat(97)}...`]);
  });

  test.each<[text: string, short: string]>([
    ['ten of them', 'ten of ...'],
    ['ten of the', 'ten of the'],
    ['sixsix😀 and more', 'sixsix...'],
    ['😀 and more', '😀 and ...'],
  ])('%j is cut to 10 characters as %j, and never within one', (text, short) => {
    expect(cut(text, 10)).toBe(short);
  });
});

test("an overload asks for a retry after a second, and keeps PostgreSQL's message private", () => {
  const cause = new Error('terminating connection');
  const overload = new Overload('database_away', 'The database is away.', cause, '57P01');
  expect(overload).toMatchObject({
    code: 'OVERLOADED',
    status: 503,
    message: 'The database is away.',
    overloadCause: 'database_away',
    cause,
    sqlstate: '57P01',
  });
  expect(overload.details).toEqual({ retryAfter: 1 });
  expect(OVERLOAD_CAUSES).toContain('database_away');
});

test("a caller who isn't let in gets the reason, as a word for programs and a message for people", () => {
  const { message, details } = unauthorized('UNAUTHENTICATED', 'expired');
  expect(message).toMatch(/access token has expired/);
  expect(details).toEqual({ reason: 'expired' });
  expect(unauthorized('UNAUTHENTICATED', 'invalid', 'This key was revoked.').message).toBe('This key was revoked.');
});

test('every reason is explained, and belongs to a code', () => {
  const reasons = Object.values(UNAUTHORIZED_MESSAGES).flatMap((messages) => Object.keys(messages));
  expect(Object.keys(UNAUTHORIZED_REASONS).sort()).toEqual([...new Set(reasons)].sort());
});

test("a link and a confirmed email also have reasons; most codes don't", () => {
  expect(Object.keys(reasonsOf('INVALID_LINK'))).toEqual(['unknown', 'used', 'expired']);
  expect(Object.keys(reasonsOf('FORBIDDEN'))).toEqual(['email_unverified', 'email_disputed']);
  expect(Object.keys(reasonsOf('INVALID_CREDENTIALS'))).toContain('wrong_credentials');
  expect(reasonsOf('NOT_FOUND')).toEqual({});
  expect(REASONS).toEqual(expect.arrayContaining([...Object.keys(UNAUTHORIZED_REASONS), 'used', 'email_unverified']));
});

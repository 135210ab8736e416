/**
 * Values, strings, names, and headers that nobody should send. Some come from fast-check, and some are known to have
 * broken other servers.
 */
import fc from '../../../setup/random/property.js';
import { samples, type Dice } from '../../../setup/random/dice.js';

export interface Oddities {
  /** Any string, including lone surrogates and NUL. */
  text(dice: Dice): string;
  /** Any value as JSON, including forms that JSON.stringify would never write. */
  json(dice: Dice): string;
  /** A field name that no object has. */
  name(dice: Dice): string;
  /** Characters that are allowed inside a header. */
  header(dice: Dice): string;
}

export function oddities(seed: number): Oddities {
  const strings = samples(
    fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.mixedCase(fc.constant('open')),
    ),
    seed,
  );
  const values = samples(
    fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.double(),
      fc.maxSafeInteger(),
      fc.bigInt(),
      fc.date({ noInvalidDate: true }),
    ),
    seed + 1,
  );
  const headers = samples(
    fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 80 }),
    seed + 2,
  );
  return {
    text: (dice) => (dice.percent(60) ? dice.pick(strings) : dice.pick(TEXTS)),
    json: (dice) =>
      dice.percent(50)
        ? jsonOf(dice.pick(values))
        : dice.percent(50)
          ? dice.pick(JSON_TEXTS)
          : JSON.stringify(dice.pick(TEXTS)),
    name: (dice) => (dice.percent(70) ? dice.pick(NAMES) : dice.pick(strings)),
    header: (dice) => (dice.percent(50) ? dice.pick(headers).trim() : dice.pick(HEADERS)),
  };
}

function jsonOf(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  return JSON.stringify(value) ?? 'null';
}

const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  '\u202e',
  '￿',
  '🏚️'.repeat(50),
  'ß'.repeat(72),
  'x'.repeat(201),
  'x'.repeat(5_001),
  'x'.repeat(10_001),
  `' or '1'='1`,
  `'; drop table x; --`,
  '%',
  '_',
  '%%%%%%%%',
  '\\',
  '\\\\%',
  '$1',
  '#{7*7}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  'null',
  'undefined',
  'NaN',
  '1e999',
  '-0',
  '0x10',
  '２０３０',
  '2026-02-30',
  '0000-00-00',
  '9999-12-31',
  '99999-01-01',
  '-0001-01-01',
  '2026-1-1',
  '2026-01-01T00:00:00Z',
  'İ',
  'ı',
  '\r\nX-Odd: 1',
  'job_',
  'job_000000000000000000000000000',
  'job_zzzzzzzzzzzzzzzzzzzzzzzzzzz',
  'bid_aWgEPTl1tmebfsQzFP4bxwgy80V',
  'usr_!',
  '__proto__',
  'constructor',
  'a'.repeat(64),
  'a'.repeat(65),
  'javascript:alert(1)',
  'http://[::1',
  'ftp://x',
  'a@b',
  'a@b.c',
  `${'a'.repeat(250)}@b.cc`,
  'Ⅷ',
  '(?:(a+)+)+$',
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!',
  '00000',
  '99999',
  '78701-0000',
];

export const JSON_TEXTS = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1e999',
  '-1e999',
  '1e-999',
  '0.1',
  '0.001',
  '1.005',
  '9999999999.99',
  '10000000000',
  '9007199254740993',
  '2147483648',
  '-2147483649',
  '1E400',
  '123456789012345678901234567890',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '{"a":1}',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{}}}',
  '{"toString":1}',
  '{"length":-1}',
  '["a","b"]',
  '{"$ne":null}',
  '{"then":1}',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '{"toJSON":1}',
  '[[[[[[[[[[]]]]]]]]]]',
  `"${'y'.repeat(20_000)}"`,
];

export const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  'id',
  'status',
  'version',
  'role',
  'user_type',
  'admin',
  'Title',
  'TITLE',
  'budgetMin',
  'budget__min',
  '_',
  '',
  ' title',
  'title ',
  'title\0',
  'latitude',
  'homeowner_id',
  'trade',
  'priority',
  'expected_version',
  'job_id',
  'length',
  '$where',
  'a.b',
  'a[b]',
  'x'.repeat(1_000),
  '\ud800',
  'İd',
];

const HEADERS = [
  '',
  '*',
  '"0"',
  '"1"',
  '"999999999"',
  '"99999999999999999999"',
  'W/"1"',
  '"1", "2"',
  '1',
  'true',
  'false',
  'TRUE',
  'yes',
  '1, true',
  'null',
  'k'.repeat(255),
  'k'.repeat(256),
  'é',
  '\t',
  '()',
  '"',
  '\\',
];

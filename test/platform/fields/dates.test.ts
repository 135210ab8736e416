import { expect, test } from 'vitest';
import fc from '../../setup/random/property.js';
import { daysBetween, isRealDate, nullableDay } from '../../../src/platform/fields/values.js';

test.each<[text: string, real: boolean]>([
  ['2026-02-28', true],
  ['2026-02-29', false],
  ['2026-02-30', false],
  ['2024-02-29', true],
  ['2000-02-29', true],
  ['1900-02-29', false],
  ['2026-04-31', false],
  ['2026-12-31', true],
  ['2026-13-01', false],
  ['2026-00-10', false],
  ['2026-01-00', false],
  ['2026-01-32', false],
  ['0001-01-01', true],
  ['0099-12-31', true],
  ['0000-01-01', false],
  ['9999-12-31', true],
  ['2026-1-1', false],
  ['20260101', false],
  ['+2026-01-01', false],
  ['+012026-01-01', false],
  ['2026-01-01T00:00:00Z', false],
  [' 2026-01-01', false],
  ['2026-01-01\n', false],
  ['', false],
  ['٢٠٢٦-٠١-٠١', false],
])('%j is a real date: %j', (text, real) => {
  expect(isRealDate(text)).toBe(real);
});

test.each<[from: string, to: string, days: number]>([
  ['2026-06-15', '2026-06-15', 0],
  ['2026-06-15', '2026-07-15', 30],
  ['2026-06-15', '2026-05-16', -30],
  ['2026-02-28', '2026-03-01', 1],
  ['2024-02-28', '2024-03-01', 2],
  ['2024-02-29', '2025-02-28', 365],
  ['2026-03-07', '2026-03-09', 2], // Austin changes its clocks in between.
  ['2025-12-31', '2026-01-01', 1],
])('from %s to %s it is %d days', (from, to, days) => {
  expect(daysBetween(from, to)).toBe(days);
});

test('every day in the calendar is real, and days add up', () => {
  const day = fc
    .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true })
    .map((moment) => moment.toISOString().slice(0, 10));
  fc.assert(
    fc.property(day, day, day, (a, b, c) => {
      expect(isRealDate(a)).toBe(true);
      expect(daysBetween(a, b) + daysBetween(b, c)).toBe(daysBetween(a, c));
      expect(Number.isInteger(daysBetween(a, b))).toBe(true);
    }),
  );
});

test('a date that nobody has filled in is null', () => {
  expect(['', null, '2026-02-28'].map((day) => nullableDay.parse(day))).toEqual([null, null, '2026-02-28']);
  expect(nullableDay.safeParse('2026-02-30').success).toBe(false);
});

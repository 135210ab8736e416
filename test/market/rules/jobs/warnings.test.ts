import { describe, expect, test } from 'vitest';
import { CATALOG } from '../../../../src/market/rules/jobs/catalog.js';
import { JOB_WARNING } from '../../../../src/market/rules/entities/job.js';
import { JOB_STATES } from '../../../../src/market/rules/states.js';
import { metaOf } from '../../../../src/platform/fields/shapes.js';
import { canHaveWarnings, warningsOf, type KnownPlaces } from '../../../../src/market/rules/jobs/warnings.js';

const NOON = new Date('2026-03-02T12:30:00Z');

const JOB = {
  category: 'plumbing',
  zipCode: '78704',
  city: 'Austin',
  state: 'TX',
  desiredStartDate: '2026-03-09',
  desiredCompletionDate: '2026-03-20',
};
const AUSTIN: KnownPlaces = { byZip: { city: 'Austin', state: 'TX' }, byCity: {}, milesApart: null };

const warned = (fields: Partial<Record<keyof typeof JOB, string | null>>, places: Partial<KnownPlaces> = {}) =>
  warningsOf({ ...JOB, ...fields }, { ...AUSTIN, ...places }, NOON);

test('a job with a known category and place that starts next week has no warnings', () => {
  expect(warned({})).toEqual([]);
});

test('an empty draft has no warnings: missing fields are reported when it is published', () => {
  const empty = { category: null, zipCode: null, city: null, state: null };
  const nothing = { byZip: undefined, byCity: undefined };
  expect(warned({ ...empty, desiredStartDate: null, desiredCompletionDate: null }, nothing)).toEqual([]);
  expect(warned({ zipCode: null, state: null }, nothing)).toEqual([]);
});

describe('a category', () => {
  test.each([
    ['plumming', 'plumbing'],
    ['Plumbing', 'plumbing'],
    ['Windows and doors', 'windows_and_doors'],
    ['land-scaping', 'landscaping'],
    ['electrcal', 'electrical'],
    ['elektrikal', 'electrical'],
    ['hvak', 'hvac'],
  ])('%s is probably %s', (category, nearest) => {
    const message = `“${category}” is not a category in the catalog. Did you mean “${nearest}”?`;
    expect(warned({ category })).toEqual([{ code: 'UNKNOWN_CATEGORY', field: 'category', message }]);
  });

  test.each(['chimney sweep', 'superbroofing', 'x', '🛠️', 'kitchen'])('%s resembles no known category', (category) => {
    expect(warned({ category })).toMatchObject([
      { code: 'UNKNOWN_CATEGORY', message: expect.stringMatching(/Contractors who search by category/) },
    ]);
  });

  test.each(CATALOG.categories)('%s is known', (category) => {
    expect(warned({ category })).toEqual([]);
  });
});

describe('a place', () => {
  test('that is unknown gets a warning for the ZIP code and for the city', () => {
    expect(warned({ zipCode: '1', city: 'Austinn' }, { byZip: undefined, byCity: undefined })).toEqual([
      { code: 'UNKNOWN_PLACE', field: 'zipCode', message: 'We don’t know the US ZIP code “1”. Check it.' },
      {
        code: 'UNKNOWN_PLACE',
        field: 'city',
        message: 'We don’t know a US city “Austinn” in “TX”. Contractors who search near a place won’t find the job.',
      },
    ]);
  });

  test('whose ZIP code and city are far apart is located in the city', () => {
    const byZip = { city: 'New York', state: 'NY' };
    expect(warned({ zipCode: '10001' }, { byZip, milesApart: 1511 })).toEqual([
      {
        code: 'PLACE_MISMATCH',
        field: 'zipCode',
        message:
          'ZIP code 10001 is in New York, NY, 1511 miles from Austin, TX. We use the city. Correct whichever is wrong.',
      },
    ]);
  });
});

describe('a date', () => {
  test('in the distant past gets a warning, and so does each of two such dates', () => {
    expect(warned({ desiredStartDate: '2001-01-01', desiredCompletionDate: '2001-02-01' })).toEqual([
      { code: 'DATE_IN_PAST', field: 'desiredStartDate', message: 'The start date (2001-01-01) is in the past.' },
      {
        code: 'DATE_IN_PAST',
        field: 'desiredCompletionDate',
        message: 'The completion date (2001-02-01) is in the past.',
      },
    ]);
  });

  test.each([
    ['2026-03-02T11:59:59Z', '2026-03-01', 0],
    ['2026-03-02T12:00:00Z', '2026-03-01', 1],
    ['2026-03-02T12:00:00Z', '2026-03-02', 0],
  ])('is past only once it is past everywhere: at %s, the date %s', (now, desiredStartDate, count) => {
    expect(warningsOf({ ...JOB, desiredStartDate }, AUSTIN, new Date(now))).toHaveLength(count);
  });
});

test('only drafts and open jobs have warnings: later, nobody needs to find the job', () => {
  expect(JOB_STATES.filter(canHaveWarnings)).toEqual(['draft', 'open']);
});

test('the longest message fits the maximum length', () => {
  const long = (length: number) => '🛠'.repeat(length);
  const worst = [
    ...warned(
      { category: long(64), zipCode: long(200), city: long(200), state: long(200) },
      { byZip: undefined, byCity: undefined },
    ),
    ...warned(
      { zipCode: '78704-1234', city: long(200), state: long(200) },
      { byZip: { city: long(40), state: 'TX' }, milesApart: 12_345 },
    ),
  ];
  const { maxLength = 0 } = metaOf(JOB_WARNING.fields.message.type);
  for (const { message } of worst) expect([...message].length).toBeLessThanOrEqual(maxLength);
});

import fc from '../../setup/random/property.js';
import { describe, expect, it } from 'vitest';
import { cursorOf, pageRequest, type PositionShape } from '../../../src/platform/call/paging.js';
import { Refusal } from '../../../src/platform/errors.js';

const SHAPE: PositionShape = ['boolean', 'number', 'time', 'text'];
const position = fc.tuple(
  fc.boolean(),
  fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 }),
  fc.date({ min: new Date(0), max: new Date(Date.UTC(9998, 0)), noInvalidDate: true }),
  fc.stringMatching(/^\w{1,64}$/),
);

describe('a cursor', () => {
  it('leads back to exactly the position it was created from', () => {
    fc.assert(
      fc.property(
        position,
        (there) => void expect(pageRequest({ after: cursorOf(there) }, SHAPE, {})).toEqual({ size: 20, after: there }),
      ),
    );
  });

  it('from another list, or made up, is always refused by name', () => {
    const decoded = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.anything()).map((values) => JSON.stringify(values) ?? ''),
    );
    const cursor = fc.oneof(
      fc.string(),
      decoded.map((text) => Buffer.from(text).toString('base64url')),
    );
    fc.assert(
      fc.property(cursor, (after) => {
        try {
          expect(pageRequest({ after }, SHAPE, {}).after).toHaveLength(SHAPE.length);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          expect(Object.keys(error.fields ?? {})).toEqual(['after']);
        }
      }),
      { numRuns: 5_000 },
    );
  });
});

it('a page by number skips all pages before it', () => {
  expect(pageRequest({}, SHAPE, {})).toEqual({ size: 20, offset: 0 });
  expect(pageRequest({ page: 3, perPage: 7 }, SHAPE, {})).toEqual({ size: 7, offset: 14 });
  expect(pageRequest({ first: 5 }, SHAPE, {}, 100)).toEqual({ size: 5, offset: 0 });
  expect(pageRequest({ page: null, perPage: null }, SHAPE, {}, 100)).toEqual({ size: 100, offset: 0 });
});

import fc from '../../setup/random/property.js';
import { expect, it } from 'vitest';
import { fieldName, fromWire, toWire, wireName } from '../../../src/platform/openapi/wire.js';

it("REST's spelling of a field, converted back, is the field", () => {
  for (const [wire, field] of [
    ['first_name', 'firstName'],
    ['address_line1', 'addressLine1'],
    ['id', 'id'],
    ['insurance_policy_number', 'insurancePolicyNumber'],
  ]) {
    expect(fieldName(wire as string)).toBe(field);
    expect(wireName(field as string)).toBe(wire);
  }
});

it('a header keeps its spelling', () => {
  for (const header of ['Idempotency-Key', 'Dry-Run', 'If-Match']) expect(wireName(header)).toBe(header);
});

it("a name in any other spelling isn't a field, and is reported as it was sent", () => {
  const odd = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'firstName',
      'first__name',
      '_a',
      'a_',
      'A',
      'a_B',
      '!',
      '!a',
      'a!b',
      'a.b',
      'a.B',
      '__proto__',
      'constructor',
      'é_é',
    ),
  );
  fc.assert(
    fc.property(odd, (name) => void expect(wireName(fieldName(name))).toBe(name)),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(odd, (name) => void expect(wireName(`user.${fieldName(name)}`)).toBe(`user.${name}`)),
    { numRuns: 2_000 },
  );
  for (const camel of ['firstName', 'First_name', 'first_Name']) expect(fieldName(camel)).not.toBe('firstName');
});

it('a value is converted at every depth, and times become strings', () => {
  const sent = { first_name: 'Ann', jobs: [{ desired_start_date: '2026-01-01', tags: ['a_b', null] }], budget_min: 0 };
  expect(fromWire(sent)).toEqual({
    firstName: 'Ann',
    jobs: [{ desiredStartDate: '2026-01-01', tags: ['a_b', null] }],
    budgetMin: 0,
  });
  expect(toWire(fromWire(sent))).toEqual(sent);
  expect(toWire({ createdAt: new Date(0), left: undefined })).toEqual({ created_at: '1970-01-01T00:00:00.000Z' });
});

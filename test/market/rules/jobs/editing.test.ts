import { describe, expect, test } from 'vitest';
import fc from '../../../setup/random/property.js';
import type { ErrorCode } from '../../../../src/market/rules/errors.js';
import { Refusal } from '../../../../src/platform/errors.js';
import {
  changesPublicFields,
  checkEdit,
  CODES_OF_LIMITS,
  contradictionsIn,
  editableFields,
  JOB_FIELDS,
  limitsCompletionDate,
  REQUIRED_FIELDS,
} from '../../../../src/market/rules/jobs/editing.js';
import type {
  EditBases,
  JobBeforeEdit,
  JobEdit,
  JobField,
  JobFields,
  JobPatch,
} from '../../../../src/market/rules/jobs/editing.js';
import { JOB_STATES } from '../../../../src/market/rules/states.js';
import type { JobState } from '../../../../src/market/rules/states.js';
import { publishCost, URGENCIES, type Urgency } from '../../../../src/market/rules/jobs/publishing.js';
import { EDITABLE, isIn, NOT_EDITABLE_AFTER_CHANGES, STATES } from '../../../story/specified.js';
import { kitchen } from '../people.js';

/** A new value for every field of the kitchen job that breaks no rule, if the field is editable. */
const ANOTHER: JobFields = {
  title: 'Newer kitchen',
  description: 'Cabinets',
  category: 'bathroom',
  budgetMin: 1001,
  budgetMax: 2001,
  urgency: 'urgent',
  addressLine1: '2 Elm Street',
  addressLine2: 'Flat 3',
  city: 'Dallas',
  state: 'OK',
  zipCode: '75001',
  country: 'CA',
  desiredStartDate: '2026-03-02',
  desiredCompletionDate: '2026-06-16',
  requirements: 'Insured',
};

/** The edit, or the refusal. The tests continue from there. */
function checked(job: JobBeforeEdit, patch: JobPatch): JobEdit | Refusal {
  try {
    return checkEdit(job, patch);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function codeOf(outcome: JobEdit | Refusal): ErrorCode | 'accepted' {
  return outcome instanceof Refusal ? (outcome.code as ErrorCode) : 'accepted';
}

describe('the fields that may change, by state', () => {
  const editableIn = (state: JobState): readonly JobField[] => {
    const editable = EDITABLE[state] ?? [];
    return editable === 'all' ? (Object.keys(ANOTHER) as JobField[]) : editable;
  };

  test('the list of fields is complete', () => {
    expect([...JOB_FIELDS].sort()).toEqual(Object.keys(ANOTHER).sort());
  });

  test('creation requires only a title and a description', () => {
    expect(REQUIRED_FIELDS).toEqual(['title', 'description']);
  });

  describe.each(JOB_STATES)('%s', (status) => {
    test.each(JOB_FIELDS)('%s', (field) => {
      const outcome = checked(kitchen(status), { [field]: ANOTHER[field] });
      if (editableIn(status)?.includes(field)) {
        expect(outcome).toMatchObject({ changes: { [field]: ANOTHER[field] } });
      } else {
        expect(outcome).toMatchObject({ code: 'FIELD_NOT_EDITABLE', blockedFields: [field] });
      }
    });

    test('sending back the current values changes nothing and is always accepted', () => {
      const { awardedContractorId: _, ...whole } = kitchen(status);
      const asRead = {
        ...whole,
        createdAt: whole.createdAt.toISOString(),
        statusChangedAt: whole.statusChangedAt.toISOString(),
        updatedAt: '1999-01-01T00:00:00.000Z',
        version: 0,
      };
      expect(checked(kitchen(status), asRead)).toMatchObject({ changes: {}, charge: 0 });
      expect(checked(kitchen(status), {})).toMatchObject({ changes: {}, charge: 0 });
    });
  });

  test('Hannah sends a lot at once: nothing happens, and every refused field is named', () => {
    const outcome = checked(kitchen('in_progress'), {
      title: 'Newer',
      city: 'Austin',
      budgetMin: 1,
      requirements: 'Insured',
      category: null,
    });
    expect(outcome).toMatchObject({ code: 'FIELD_NOT_EDITABLE', blockedFields: ['title', 'category', 'budgetMin'] });
  });

  test.each(JOB_STATES)("a job's requirements can't change after Hannah has requested changes: %s", (status) => {
    const job = kitchen(status, { changeRequestCount: 1 });
    for (const field of NOT_EDITABLE_AFTER_CHANGES)
      expect(checked(job, { [field]: ANOTHER[field] })).toMatchObject({
        code: 'FIELD_NOT_EDITABLE',
        blockedFields: [field],
      });
    const others = editableIn(status).filter((field) => !NOT_EDITABLE_AFTER_CHANGES.includes(field));
    for (const field of others)
      expect(checked(job, { [field]: ANOTHER[field] })).toMatchObject({ changes: { [field]: ANOTHER[field] } });
  });

  test('a bid is outdated by an edit that contractors can see, and not by one of the private address', () => {
    const isPrivate = (field: JobField) => ['addressLine1', 'addressLine2', 'zipCode'].includes(field);
    for (const field of JOB_FIELDS)
      expect([field, changesPublicFields({ [field]: ANOTHER[field] })]).toEqual([field, !isPrivate(field)]);
    expect(changesPublicFields({ zipCode: '75001', title: 'Newer kitchen' })).toBe(true);
    expect(changesPublicFields({})).toBe(false);
  });

  test('Hannah clears an optional field', () => {
    expect(checked(kitchen('open'), { requirements: null })).toMatchObject({ changes: { requirements: null } });
  });

  test('editable fields are a table without repetitions', () => {
    for (const status of JOB_STATES) {
      const fields = editableFields({ status, changeRequestCount: 0 });
      expect(new Set(fields).size).toBe(fields.length);
    }
  });
});

describe('fields that the service sets', () => {
  test.each<[field: string, patch: JobPatch]>([
    ['id', { id: 'job_other' }],
    ['status', { status: 'completed' }],
    ['latitude', { latitude: 0 }],
    ['longitude', { longitude: null }],
    ['homeownerId', { homeownerId: 'hmw_hugo' }],
    ['awardedBidId', { awardedBidId: 'bid_1' }],
    ['awardedBidId', { awardedBidId: Number.POSITIVE_INFINITY }],
    ['rating', { rating: 5 }],
    ['review', { review: 'Well done.' }],
    ['createdAt', { createdAt: '2026-01-02T03:04:05.679Z' }],
    ['statusChangedAt', { statusChangedAt: '2026-01-02T03:04:05.679Z' }],
  ])('a changed %s is refused by name', (field, patch) => {
    const fields = { [field]: expect.stringContaining('set by the service') };
    expect(checked(kitchen('open'), patch)).toMatchObject({ code: 'VALIDATION_FAILED', fields, blockedFields: [] });
  });

  test('the same time in another notation is the same time', () => {
    expect(codeOf(checked(kitchen('open'), { createdAt: '2026-01-02T04:04:05.678+01:00' }))).toBe('accepted');
  });

  test('nonsense instead of a time is a change', () => {
    expect(codeOf(checked(kitchen('open'), { createdAt: 'yesterday' }))).toBe('VALIDATION_FAILED');
    expect(codeOf(checked(kitchen('open'), { createdAt: null }))).toBe('VALIDATION_FAILED');
    expect(codeOf(checked(kitchen('open'), { createdAt: kitchen('open').createdAt.getTime() }))).toBe(
      'VALIDATION_FAILED',
    );
  });
});

describe('the budgets of an open job', () => {
  test.each<[highest: number, sent: number | null, outcome: ErrorCode | 'accepted']>([
    [2000, 1800, 'accepted'],
    [2000, 1799.99, 'BUDGET_DECREASE_TOO_LARGE'],
    [2000, 2000.01, 'accepted'],
    [2000, null, 'BUDGET_DECREASE_TOO_LARGE'],
    [0.7, 0.63, 'accepted'],
    [0.7, 0.62, 'BUDGET_DECREASE_TOO_LARGE'], // In floating point, 0.7 * 0.9 is slightly more than 0.63.
    [1.1, 0.99, 'accepted'],
    [1.1, 0.98, 'BUDGET_DECREASE_TOO_LARGE'],
    [0, null, 'BUDGET_DECREASE_TOO_LARGE'], // Zero is a budget too, and can't be removed.
    [0.01, 0, 'BUDGET_DECREASE_TOO_LARGE'], // Ten percent of a cent is less than a whole cent.
    [0.19, 0.18, 'accepted'],
    [0.19, 0.17, 'BUDGET_DECREASE_TOO_LARGE'], // The limit is 17.1 cents.
    [9_999_999_999.99, 9_000_000_000, 'accepted'],
    [9_999_999_999.99, 8_999_999_999.99, 'BUDGET_DECREASE_TOO_LARGE'],
  ])('the highest was %d: %j is %s', (highest, sent, outcome) => {
    const upper = kitchen('open', {
      budgetMin: null,
      highestBudgetMin: null,
      budgetMax: highest,
      highestBudgetMax: highest,
    });
    const lower = kitchen('open', {
      budgetMax: null,
      highestBudgetMax: null,
      budgetMin: highest,
      highestBudgetMin: highest,
    });
    expect(codeOf(checked(upper, { budgetMax: sent }))).toBe(outcome);
    expect(codeOf(checked(lower, { budgetMin: sent }))).toBe(outcome);
  });

  test('Hannah lowers in two steps: the second is compared with the highest value, not the last', () => {
    const lowered = kitchen('open', { budgetMax: 1900, highestBudgetMax: 2000 });
    expect(codeOf(checked(lowered, { budgetMax: 1800 }))).toBe('accepted');
    expect(checked(lowered, { budgetMax: 1799.99 })).toMatchObject({
      code: 'BUDGET_DECREASE_TOO_LARGE',
      fields: { budgetMax: 'must be at least 1800' },
    });
  });

  test('Hannah raises: the raised value is the new highest', () => {
    expect(checked(kitchen('open'), { budgetMax: 3000 })).toMatchObject({
      bases: { highestBudgetMin: 1000, highestBudgetMax: 3000 },
    });
  });

  test('a budget set for the first time is free, and becomes the base', () => {
    const without = kitchen('open', { budgetMin: null, highestBudgetMin: null });
    expect(checked(without, { budgetMin: 10 })).toMatchObject({
      changes: { budgetMin: 10 },
      bases: { highestBudgetMin: 10 },
    });
    expect(codeOf(checked(without, { budgetMin: null }))).toBe('accepted');
  });

  test('a job without budgets has no base, however else it is edited', () => {
    const without = published({ budgetMin: null, budgetMax: null });
    expect(checked(without, { title: 'Newer kitchen' })).toMatchObject({
      bases: { highestBudgetMin: null, highestBudgetMax: null },
    });
  });

  test('if both budgets are too low, both are named', () => {
    const outcome = checked(kitchen('open'), { budgetMin: 1, budgetMax: null });
    expect(outcome).toMatchObject({
      fields: { budgetMin: 'must be at least 900', budgetMax: 'must be at least 1800' },
    });
  });

  test('in a draft, Hannah sets, lowers, and removes them freely, and no base is kept', () => {
    expect(checked(kitchen('draft'), { budgetMin: 1, budgetMax: null })).toEqual({
      changes: { budgetMin: 1, budgetMax: null },
      bases: {},
      charge: 0,
    });
  });

  test('no sequence of accepted edits brings a budget more than 10 percent below its highest value', () => {
    const cents = fc.integer({ min: 0, max: 1_000_000 }).map((amount) => amount / 100);
    const nearby = fc.double({ min: 0.85, max: 1.1, noNaN: true });
    const edit = fc.record({
      budgetMin: fc.option(nearby, { nil: undefined }),
      budgetMax: fc.option(fc.option(nearby), { nil: undefined }),
    });
    fc.assert(
      fc.property(cents, cents, fc.array(edit, { maxLength: 30 }), (one, other, edits) => {
        let job: JobBeforeEdit = published({ budgetMin: Math.min(one, other), budgetMax: Math.max(one, other) });
        const highest = { min: inCents(job.budgetMin), max: inCents(job.budgetMax) };
        for (const { budgetMin, budgetMax } of edits) {
          const outcome = checked(job, {
            budgetMin: scaled(job.budgetMin, budgetMin),
            budgetMax: scaled(job.budgetMax, budgetMax),
          });
          if (outcome instanceof Refusal) continue;
          job = { ...job, ...outcome.changes, ...outcome.bases };
          highest.min = Math.max(highest.min, inCents(job.budgetMin));
          highest.max = Math.max(highest.max, inCents(job.budgetMax));
          expect(inCents(job.budgetMin) * 10).toBeGreaterThanOrEqual(highest.min * 9);
          expect(inCents(job.budgetMax) * 10).toBeGreaterThanOrEqual(highest.max * 9);
          expect(inCents(job.budgetMin)).toBeLessThanOrEqual(inCents(job.budgetMax));
        }
      }),
      { numRuns: 500 },
    );
  });

  test('everything within 10 percent of the highest is accepted, and everything else is refused', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 12 - 1 }), fc.integer({ min: -2, max: 2 }), (base, off) => {
        const sent = Math.max(0, Math.floor((base * 9) / 10) + off);
        const job = kitchen('open', {
          budgetMin: null,
          highestBudgetMin: null,
          budgetMax: base / 100,
          highestBudgetMax: base / 100,
        });
        const mayGo = BigInt(sent) * 10n >= BigInt(base) * 9n;
        expect(codeOf(checked(job, { budgetMax: sent / 100 }))).toBe(mayGo ? 'accepted' : 'BUDGET_DECREASE_TOO_LARGE');
      }),
      { numRuns: 500 },
    );
  });
});

describe('the urgency of an open job', () => {
  test.each<[from: Urgency, to: Urgency, bids: number, outcome: ErrorCode | 'accepted', charge: number]>([
    ['standard', 'priority', 0, 'accepted', 10],
    ['standard', 'urgent', 1, 'accepted', 25],
    ['priority', 'urgent', 1, 'accepted', 15],
    ['urgent', 'priority', 0, 'accepted', 0],
    ['urgent', 'standard', 0, 'accepted', 0],
    ['urgent', 'priority', 1, 'URGENCY_LOCKED', 0],
    ['priority', 'standard', 1, 'URGENCY_LOCKED', 0],
    ['urgent', 'urgent', 1, 'accepted', 0],
  ])('from %s to %s with %d bids: %s for %d tokens', (urgency, to, bidsLimitingEdits, outcome, charge) => {
    const found = checked(published({ urgency, bidsLimitingEdits }), { urgency: to });
    expect(codeOf(found)).toBe(outcome);
    if (!(found instanceof Refusal))
      expect(found).toMatchObject({ charge, bases: { mostTokensPaid: publishCost(urgency) + charge } });
  });

  test('Hannah is told the lowest allowed urgency', () => {
    const outcome = checked(published({ urgency: 'urgent', bidsLimitingEdits: 1 }), { urgency: 'standard' });
    expect(outcome).toMatchObject({ fields: { urgency: 'must not be lower than urgent' } });
  });

  test("Hannah lowers and raises again: she doesn't pay twice", () => {
    const lowered = kitchen('open', { urgency: 'standard', mostTokensPaid: 15 });
    expect(checked(lowered, { urgency: 'priority' })).toMatchObject({ charge: 0, bases: { mostTokensPaid: 15 } });
    expect(checked(lowered, { urgency: 'urgent' })).toMatchObject({ charge: 15, bases: { mostTokensPaid: 30 } });
  });

  test('removing it is refused as a cleared field, with or without bids', () => {
    for (const bidsLimitingEdits of [1, 0]) {
      expect(checked(kitchen('open', { bidsLimitingEdits }), { urgency: null })).toMatchObject({
        code: 'VALIDATION_FAILED',
        fields: { urgency: 'must not be blank' },
      });
    }
  });

  test('in a draft, it costs nothing yet and may be removed', () => {
    expect(checked(kitchen('draft'), { urgency: 'urgent' })).toMatchObject({ charge: 0, bases: {} });
    expect(checked(kitchen('draft'), { urgency: null })).toMatchObject({ changes: { urgency: null } });
  });

  test('however often Hannah changes her mind, she pays only for the most urgent she chose', () => {
    fc.assert(
      fc.property(fc.constantFrom(...URGENCIES), fc.array(fc.constantFrom(...URGENCIES)), (first, later) => {
        let job: JobBeforeEdit = published({ urgency: first });
        let paid = publishCost(first);
        for (const urgency of later) {
          const { changes, bases, charge } = checkEdit(job, { urgency });
          paid += charge;
          job = { ...job, ...changes, ...bases };
        }
        expect(paid).toBe(Math.max(...[first, ...later].map(publishCost)));
        expect(job.mostTokensPaid).toBe(paid);
      }),
    );
  });
});

describe('the completion date while work is in progress', () => {
  test.each<[base: string, sent: string | null, outcome: ErrorCode | 'accepted']>([
    ['2026-06-15', '2026-07-15', 'accepted'],
    ['2026-06-15', '2026-07-16', 'COMPLETION_DATE_SHIFT_TOO_LARGE'],
    ['2026-06-15', '2026-05-16', 'accepted'],
    ['2026-06-15', '2026-05-15', 'COMPLETION_DATE_SHIFT_TOO_LARGE'],
    ['2028-02-15', '2028-03-16', 'accepted'],
    ['2028-02-15', '2028-03-17', 'COMPLETION_DATE_SHIFT_TOO_LARGE'], // A leap year.
    ['2027-02-15', '2027-03-17', 'accepted'],
    ['2027-02-15', '2027-03-18', 'COMPLETION_DATE_SHIFT_TOO_LARGE'],
    ['2026-12-15', '2027-01-14', 'accepted'],
    ['2026-12-15', '2027-01-15', 'COMPLETION_DATE_SHIFT_TOO_LARGE'],
    ['2026-06-15', null, 'COMPLETION_DATE_SHIFT_TOO_LARGE'],
  ])('it was %s at check-in: %s is %s', (base, sent, outcome) => {
    const job = kitchen('in_progress', { desiredCompletionDate: base, completionDateAtCheckIn: base });
    expect(codeOf(checked(job, { desiredCompletionDate: sent }))).toBe(outcome);
  });

  test('Hannah moves it in two steps: the second is also compared with check-in', () => {
    const moved = kitchen('in_progress', { desiredCompletionDate: '2026-07-15' });
    const fields = { desiredCompletionDate: 'must be within 30 days of 2026-06-15' };
    expect(checked(moved, { desiredCompletionDate: '2026-07-16' })).toMatchObject({
      code: 'COMPLETION_DATE_SHIFT_TOO_LARGE',
      fields,
    });
    expect(codeOf(checked(moved, { desiredCompletionDate: '2026-05-16' }))).toBe('accepted');
  });

  test('if there was none at check-in, the first one set afterward is free and becomes the base', () => {
    const without = kitchen('in_progress', { desiredCompletionDate: null, completionDateAtCheckIn: null });
    const first = checked(without, { desiredCompletionDate: '2031-01-31' });
    expect(first).toMatchObject({ bases: { completionDateAtCheckIn: '2031-01-31' } });
    const given = { ...without, desiredCompletionDate: '2031-01-31', completionDateAtCheckIn: '2031-01-31' };
    expect(codeOf(checked(given, { desiredCompletionDate: '2031-03-02' }))).toBe('accepted');
    expect(codeOf(checked(given, { desiredCompletionDate: '2031-03-03' }))).toBe('COMPLETION_DATE_SHIFT_TOO_LARGE');
    expect(codeOf(checked(given, { desiredCompletionDate: null }))).toBe('COMPLETION_DATE_SHIFT_TOO_LARGE');
  });

  test('however often it moves, it stays within 30 days of check-in', () => {
    const shifts = fc.array(fc.integer({ min: -45, max: 45 }), { maxLength: 20 });
    fc.assert(
      fc.property(shifts, (days) => {
        let job: JobBeforeEdit = kitchen('in_progress');
        for (const shift of days) {
          const sent = later(job.desiredCompletionDate ?? '', shift);
          const outcome = checked(job, { desiredCompletionDate: sent });
          const mayGo = sent >= '2026-05-16' && sent <= '2026-07-15';
          expect(codeOf(outcome)).toBe(mayGo ? 'accepted' : 'COMPLETION_DATE_SHIFT_TOO_LARGE');
          if (!(outcome instanceof Refusal)) job = { ...job, ...outcome.changes, ...outcome.bases };
        }
      }),
    );
  });

  test('an edit of something else keeps the base', () => {
    expect(checked(kitchen('in_progress'), { requirements: 'Insured' })).toMatchObject({
      bases: { completionDateAtCheckIn: '2026-06-15' },
    });
  });

  test.each(STATES)('whether a job that is %s has this limit depends on its phase', (state) => {
    expect(limitsCompletionDate(state)).toBe(isIn('work', state));
  });

  test('before check-in, Hannah moves or removes it freely', () => {
    for (const status of ['draft', 'open', 'awarded'] as const) {
      expect(codeOf(checked(kitchen(status), { desiredCompletionDate: '2030-01-01' }))).toBe('accepted');
      expect(codeOf(checked(kitchen(status), { desiredCompletionDate: null }))).toBe('accepted');
    }
  });
});

describe('conditions on the result', () => {
  test.each<[status: JobState, patch: JobPatch, fields: JobField[]]>([
    ['draft', { budgetMin: 2000.01 }, ['budgetMin']],
    ['draft', { budgetMax: 999.99 }, ['budgetMax']],
    ['draft', { budgetMin: 5, budgetMax: 4 }, ['budgetMin', 'budgetMax']],
    ['open', { budgetMin: 2000.01 }, ['budgetMin']],
    ['awarded', { desiredStartDate: '2026-06-16' }, ['desiredStartDate']],
    ['awarded', { desiredCompletionDate: '2026-02-28' }, ['desiredCompletionDate']],
    ['open', { title: '' }, ['title']],
    ['open', { description: null }, ['description']],
    ['draft', { title: null, description: '' }, ['title', 'description']],
  ])('%s: %j is refused for %j', (status, patch, fields) => {
    const outcome = checked(kitchen(status), patch);
    expect(codeOf(outcome)).toBe('VALIDATION_FAILED');
    expect(outcome instanceof Refusal && Object.keys(outcome.fields ?? {})).toEqual(fields);
  });

  test("while work is in progress, the end still can't come before the start", () => {
    const late = kitchen('in_progress', { desiredStartDate: '2026-06-10' });
    expect(checked(late, { desiredCompletionDate: '2026-06-09' })).toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(codeOf(checked(late, { desiredCompletionDate: '2026-06-10' }))).toBe('accepted');
  });

  test('each of two contradicting fields gets a message that names the other', () => {
    const job = { budgetMin: 5, budgetMax: 4, desiredStartDate: '2026-01-02', desiredCompletionDate: '2026-01-01' };
    expect(contradictionsIn(job)).toEqual({
      budgetMin: expect.stringContaining('maximum budget'),
      budgetMax: expect.stringContaining('minimum budget'),
      desiredStartDate: expect.stringContaining('completion date'),
      desiredCompletionDate: expect.stringContaining('start date'),
    });
  });

  test("equal budgets and equal days don't contradict each other", () => {
    expect(
      contradictionsIn({
        budgetMin: 5,
        budgetMax: 5,
        desiredStartDate: '2026-01-01',
        desiredCompletionDate: '2026-01-01',
      }),
    ).toEqual({});
    expect(
      contradictionsIn({ budgetMin: 5, budgetMax: null, desiredStartDate: null, desiredCompletionDate: '2026-01-01' }),
    ).toEqual({});
  });

  test('a draft may lose what only publishing requires', () => {
    expect(codeOf(checked(kitchen('draft'), { category: null, city: null, addressLine1: null, state: null }))).toBe(
      'accepted',
    );
  });
});

test('an edit can go too far in three ways', () => {
  expect(CODES_OF_LIMITS).toEqual(['BUDGET_DECREASE_TOO_LARGE', 'URGENCY_LOCKED', 'COMPLETION_DATE_SHIFT_TOO_LARGE']);
});

describe('one refusal, the first in order', () => {
  /** Each row breaks its own rule and every later one. */
  const patch: JobPatch[] = [
    { status: 'draft', category: 'roof', budgetMin: 1, urgency: 'standard', title: '' },
    { category: 'roof', budgetMin: 1, urgency: 'standard', title: '' },
    { budgetMin: 1, urgency: 'standard', title: '' },
    { urgency: 'standard', title: '', desiredStartDate: '2030-01-01' },
    { title: '', desiredStartDate: '2030-01-01' },
  ];
  const order: ErrorCode[] = [
    'VALIDATION_FAILED',
    'FIELD_NOT_EDITABLE',
    'BUDGET_DECREASE_TOO_LARGE',
    'URGENCY_LOCKED',
    'VALIDATION_FAILED',
  ];

  test('on an open job with bids', () => {
    expect(patch.map((sent) => codeOf(checked(kitchen('open', { bidsLimitingEdits: 1 }), sent)))).toEqual(order);
  });

  test('on a job in progress, the shift comes before the contradiction', () => {
    const late = kitchen('in_progress', { desiredStartDate: '2026-06-10' });
    expect(codeOf(checked(late, { title: 'x', desiredCompletionDate: '2020-01-01' }))).toBe('FIELD_NOT_EDITABLE');
    expect(codeOf(checked(late, { desiredCompletionDate: '2020-01-01' }))).toBe('COMPLETION_DATE_SHIFT_TOO_LARGE');
  });
});

const AT_CREATION: EditBases = {
  highestBudgetMin: null,
  highestBudgetMax: null,
  mostTokensPaid: 0,
  completionDateAtCheckIn: null,
};

function published(overrides: Partial<JobBeforeEdit>): JobBeforeEdit {
  const draft: JobBeforeEdit = kitchen('draft', { ...AT_CREATION, ...overrides });
  const urgency = draft.urgency ?? 'standard';
  return {
    ...draft,
    status: 'open',
    highestBudgetMin: draft.budgetMin,
    highestBudgetMax: draft.budgetMax,
    mostTokensPaid: publishCost(urgency),
  };
}

test('a job starts without bases and with nothing paid', () => {
  expect(AT_CREATION).toEqual({
    highestBudgetMin: null,
    highestBudgetMax: null,
    mostTokensPaid: 0,
    completionDateAtCheckIn: null,
  });
});

function later(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}

function inCents(amount: number | null): number {
  return Math.round((amount ?? 0) * 100);
}

/** A budget scaled to whole cents. A null factor removes it, and undefined leaves it out. */
function scaled(amount: number | null, factor: number | null | undefined): number | null | undefined {
  return factor === undefined || factor === null || amount === null ? factor : Math.round(amount * factor * 100) / 100;
}

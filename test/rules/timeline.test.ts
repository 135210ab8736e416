import { describe, expect, test } from 'vitest';
import type { EventType } from '../../src/rules/events.js';
import { eventFor, eventVisibilityOf, seesEvent } from '../../src/rules/timeline.js';
import type { EventVisibility } from '../../src/rules/timeline.js';
import type { ContractorId } from '../../src/rules/ids.js';
import type { JobState } from '../../src/rules/states.js';
import type { Party } from '../../src/rules/parties.js';
import { carla, cyrus } from './people.js';

const OF_THE_JOB = { bidderId: null };
const published = {
  ...OF_THE_JOB,
  type: 'job.published' as EventType,
  sequence: 2,
  data: { tokensCharged: 15, urgency: 'priority' },
};
const edited = {
  ...OF_THE_JOB,
  type: 'job.updated' as EventType,
  sequence: 2,
  data: { fields: ['title', 'addressLine1', 'zipCode', 'budgetMax'], tokensCharged: 0 },
};
const viewed = { bidderId: carla.contractorId, type: 'bid.viewed' as EventType, sequence: 3, data: { bidId: 'bid_1' } };
const cancelled = {
  ...OF_THE_JOB,
  type: 'job.cancelled' as EventType,
  sequence: 3,
  data: { reason: 'Moved away', tokensRefunded: 15 },
};
const disputed = {
  ...OF_THE_JOB,
  type: 'job.disputed' as EventType,
  sequence: 4,
  data: { reason: 'Crooked tiles', details: null },
};
const approved = {
  ...OF_THE_JOB,
  type: 'job.approved' as EventType,
  sequence: 5,
  data: { rating: 5, review: 'Straight tiles', tokensCharged: 1, note: 'At last' },
};

const REACHES: [party: Party, reach: EventVisibility][] = [
  ['owner', 'all'],
  ['admin', 'all'],
  ['awardee', 'job and own bid'],
  ['bidder', 'own bid and changes'],
  ['onlooker', 'status changes'],
  ['stranger', 'status changes'],
];

test.each(REACHES)('to the %s events reach as far as: %s', (party, reach) => {
  expect(eventVisibilityOf(party)).toBe(reach);
});

const reading = (
  event: { fromStatus: JobState | null; toStatus: JobState | null; type?: EventType },
  bidderId: ContractorId | null,
): EventVisibility[] =>
  (['all', 'job and own bid', 'own bid and changes', 'status changes'] as const).filter((reach) =>
    seesEvent(reach, carla, { type: 'job.dispute_proposed' as EventType, ...event, bidderId }),
  );

test('what happens to a bid is for who made it, and a change of state is for everyone', () => {
  const [unchanged, changed] = [
    { fromStatus: null, toStatus: null },
    { fromStatus: null, toStatus: 'draft' },
  ] as const;
  expect(reading(changed, null)).toEqual(['all', 'job and own bid', 'own bid and changes', 'status changes']);
  expect(reading({ ...unchanged, type: 'job.updated' }, null)).toEqual([
    'all',
    'job and own bid',
    'own bid and changes',
  ]);
  expect(reading({ fromStatus: 'open', toStatus: 'open' }, null)).toEqual(['all', 'job and own bid']);
  expect(reading(unchanged, null)).toEqual(['all', 'job and own bid']);
  expect(reading(unchanged, carla.contractorId)).toEqual(['all', 'job and own bid', 'own bid and changes']);
  expect(reading(changed, cyrus.contractorId)).toEqual(['all']);
});

const NO_DETAILS = { bidId: null, rating: null, review: null, fields: null, tokensCharged: null, tokensRefunded: null };
const DETAILS = Object.keys(NO_DETAILS);

/** The data that is left of each event, by what the reader is to the job. */
const LEFT: Record<EventVisibility, Record<string, unknown>[]> = {
  all: [published.data, cancelled.data, disputed.data, approved.data, edited.data, viewed.data],
  'job and own bid': [
    { urgency: 'priority' },
    { reason: 'Moved away' },
    disputed.data,
    { rating: 5, review: 'Straight tiles', note: 'At last' },
    { fields: edited.data.fields },
    viewed.data,
  ],
  'own bid and changes': [
    {},
    {},
    {},
    { rating: 5, review: 'Straight tiles' },
    { fields: ['title', 'budgetMax'] },
    viewed.data,
  ],
  'status changes': [{}, {}, {}, { rating: 5, review: 'Straight tiles' }, {}, {}],
};

describe.each(REACHES)('the %s', (party, reach) => {
  test('reads the texts that are theirs to read, and that everything happened', () => {
    const events = [published, cancelled, disputed, approved, edited, viewed];
    expect(events.map((event) => eventFor(party, event))).toEqual(
      events.map((event, index) => {
        const left = Object.entries(LEFT[reach][index] ?? {});
        return {
          ...event,
          ...NO_DETAILS,
          ...Object.fromEntries(left.filter(([name]) => DETAILS.includes(name))),
          data: Object.fromEntries(left.filter(([name]) => !DETAILS.includes(name))),
        };
      }),
    );
  });
});

test('what one party may not read is not taken from the event itself', () => {
  eventFor('stranger', published);
  expect(published.data).toEqual({ tokensCharged: 15, urgency: 'priority' });
});

test('an edit that does not say its fields is read by a bidder without them', () => {
  expect(eventFor('bidder', { ...edited, data: {} })).toMatchObject({ fields: null, data: {} });
});

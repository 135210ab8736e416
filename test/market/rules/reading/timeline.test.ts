import { describe, expect, test } from 'vitest';
import type { EventType } from '../../../../src/market/rules/events.js';
import {
  eventFor,
  eventVisibilityOf,
  readEvent,
  readsDispute,
  seesEvent,
} from '../../../../src/market/rules/reading/timeline.js';
import type { EventVisibility } from '../../../../src/market/rules/reading/timeline.js';
import type { ContractorId } from '../../../../src/market/rules/ids.js';
import type { BidState, JobState } from '../../../../src/market/rules/states.js';
import { PARTIES, type Party } from '../../../../src/market/rules/parties.js';
import type { Viewer } from '../../../../src/market/rules/viewer.js';
import { ada, carla, cyrus, hannah, hugo } from '../people.js';

const BY_HANNAH = { actorId: hannah.userId, actor: { role: hannah.role } } as const;
const BY_CARLA = { actorId: carla.userId, actor: { role: carla.role } } as const;
const BY_ADA = { actorId: ada.userId, actor: { role: ada.role } } as const;
const BY_THE_SERVICE = { actorId: null, actor: null } as const;
const OF_THE_JOB = { bidderId: null, ...BY_HANNAH };
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
const viewed = {
  ...BY_HANNAH,
  bidderId: carla.contractorId,
  type: 'bid.viewed' as EventType,
  sequence: 3,
  data: { bidId: 'bid_1' },
};
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

const declined = {
  ...OF_THE_JOB,
  type: 'job.award_declined' as EventType,
  sequence: 6,
  data: { reason: 'No van', contractorId: carla.contractorId },
};
const reopened = {
  ...OF_THE_JOB,
  type: 'job.reopened' as EventType,
  sequence: 7,
  data: { reason: 'Too slow', contractorId: carla.contractorId },
};
const changesRequested = {
  ...OF_THE_JOB,
  type: 'job.changes_requested' as EventType,
  sequence: 8,
  data: { reason: 'One tile is loose', items: ['The tile at the window'] },
};

const VISIBILITIES: readonly EventVisibility[] = [
  'all',
  'own job',
  'job and own bid',
  'own bid and changes',
  'status changes',
];

const REACHES: [party: Party, reach: EventVisibility][] = [
  ['owner', 'own job'],
  ['admin', 'all'],
  ['awardee', 'job and own bid'],
  ['bidder', 'own bid and changes'],
  ['onlooker', 'status changes'],
  ['stranger', 'status changes'],
];

test.each(REACHES)('the %s may read events as far as: %s', (party, reach) => {
  expect(eventVisibilityOf(party)).toBe(reach);
});

const reading = (
  event: { fromStatus: JobState | null; toStatus: JobState | null; type?: EventType },
  bidderId: ContractorId | null,
): EventVisibility[] =>
  VISIBILITIES.filter((reach) =>
    seesEvent(reach, carla, { type: 'job.resolution_proposed', data: {}, ...event, bidderId }),
  );

test("a bid's events are for its bidder, and a state change is for everyone", () => {
  const [unchanged, changed] = [
    { fromStatus: null, toStatus: null },
    { fromStatus: null, toStatus: 'draft' },
  ] as const;
  expect(reading(changed, null)).toEqual([
    'all',
    'own job',
    'job and own bid',
    'own bid and changes',
    'status changes',
  ]);
  expect(reading({ ...unchanged, type: 'job.updated' }, null)).toEqual([
    'all',
    'own job',
    'job and own bid',
    'own bid and changes',
  ]);
  expect(reading({ fromStatus: 'open', toStatus: 'open' }, null)).toEqual(['all', 'own job', 'job and own bid']);
  expect(reading(unchanged, null)).toEqual(['all', 'own job', 'job and own bid']);
  expect(reading(unchanged, carla.contractorId)).toEqual(['all', 'own job', 'job and own bid', 'own bid and changes']);
  expect(reading(changed, cyrus.contractorId)).toEqual(['all', 'own job']);
});

const NO_DETAILS = { bidId: null, rating: null, review: null, fields: null, tokensCharged: null, tokensRefunded: null };
const DETAILS = Object.keys(NO_DETAILS);

/** The data left in each event, by the reader's relation to the job. */
const LEFT: Record<EventVisibility, Record<string, unknown>[]> = {
  all: [published.data, cancelled.data, disputed.data, approved.data, edited.data, viewed.data],
  'own job': [published.data, cancelled.data, disputed.data, approved.data, edited.data, viewed.data],
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
  test('reads what it may read, and that everything happened', () => {
    const events = [published, cancelled, disputed, approved, edited, viewed];
    expect(events.map((event) => eventFor(cyrus, party, event))).toEqual(
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

test("what one party may not read isn't removed from the event itself", () => {
  eventFor(hugo, 'stranger', published);
  expect(published.data).toEqual({ tokensCharged: 15, urgency: 'priority' });
});

test('a bidder reads an edit without its fields if the event doesn’t list them', () => {
  expect(eventFor(cyrus, 'bidder', { ...edited, data: {} })).toMatchObject({ fields: null, data: {} });
});

test('a bidder also reads an edit of a field that jobs no longer have', () => {
  expect(eventFor(cyrus, 'bidder', { ...edited, data: { fields: ['colour'] } })).toMatchObject({ fields: ['colour'] });
});

test.each([declined, reopened])(
  'why an award fell through is for Hannah, Ada, and Carla, who lost it, and not for the next awardee: $type',
  (event) => {
    const read = (viewer: Viewer, party: Party) => eventFor(viewer, party, event).data;
    expect(read(hannah, 'owner')).toEqual(event.data);
    expect(read(ada, 'admin')).toEqual(event.data);
    for (const party of ['bidder', 'onlooker', 'awardee'] as const) {
      expect([party, read(carla, party)]).toEqual([party, event.data]);
      expect([party, read(cyrus, party)]).toEqual([party, {}]);
    }
    expect(read(hugo, 'stranger')).toEqual({});
  },
);

describe('who caused an event', () => {
  const caused = { type: 'job.award_declined', bidderId: null, data: {} } as const;
  const readBy = (viewer: Viewer, party: Party, by: Pick<Parameters<typeof eventFor>[2], 'actorId' | 'actor'>) => {
    const { actorId, actor } = eventFor(viewer, party, { ...caused, ...by });
    return { actorId, actor };
  };

  test('is shown for Carla to Carla, Hannah, and Ada, and to no other contractor', () => {
    expect(readBy(hannah, 'owner', BY_CARLA)).toEqual(BY_CARLA);
    expect(readBy(ada, 'admin', BY_CARLA)).toEqual(BY_CARLA);
    for (const party of ['bidder', 'onlooker', 'awardee'] as const) {
      expect([party, readBy(carla, party, BY_CARLA)]).toEqual([party, BY_CARLA]);
      expect([party, readBy(cyrus, party, BY_CARLA)]).toEqual([party, BY_THE_SERVICE]);
    }
  });

  test.each([BY_HANNAH, BY_ADA, BY_THE_SERVICE])('is shown to everyone for %j', (by) => {
    for (const party of ['bidder', 'onlooker', 'awardee'] as const)
      expect([party, readBy(cyrus, party, by)]).toEqual([party, by]);
  });
});

test('what Hannah wants changed is for the awarded contractor and Ada, and for no bidder', () => {
  const read = (viewer: Viewer, party: Party) => eventFor(viewer, party, changesRequested).data;
  expect(read(hannah, 'owner')).toEqual(changesRequested.data);
  expect(read(ada, 'admin')).toEqual(changesRequested.data);
  expect(read(carla, 'awardee')).toEqual(changesRequested.data);
  expect(read(cyrus, 'bidder')).toEqual({});
  expect(read(cyrus, 'onlooker')).toEqual({});
});

test('only the parties and admins read what was written in a dispute', () => {
  expect(PARTIES.filter(readsDispute)).toEqual(['owner', 'awardee', 'admin']);
});

test('the awarded contractor reads their own award, but not which bid was awarded before', () => {
  const award = (bidId: string) => ({
    ...OF_THE_JOB,
    type: 'job.awarded' as const,
    fromStatus: 'open' as const,
    toStatus: 'awarded' as const,
    data: { bidId },
  });
  const facts = {
    status: 'awarded',
    homeownerId: hannah.homeownerId,
    awardedContractorId: carla.contractorId,
    awardedBidId: 'bid_carla',
    bids: [
      { contractorId: carla.contractorId, status: 'accepted' },
      { contractorId: cyrus.contractorId, status: 'rejected' },
    ],
  } as const;
  const read = (viewer: Viewer, bidId: string) => readEvent(viewer, { ...facts, event: award(bidId) }, 'mine');
  expect(read(carla, 'bid_carla')).toMatchObject({ bidId: 'bid_carla', data: {} });
  expect(read(carla, 'bid_cyrus')).toMatchObject({ bidId: null, data: {} });
  for (const bidId of ['bid_carla', 'bid_cyrus']) {
    expect(read(cyrus, bidId)).toMatchObject({ bidId: null, data: {} });
    expect(read(hannah, bidId)).toMatchObject({ bidId });
    expect(read(ada, bidId)).toMatchObject({ bidId });
  }
});

describe("the kitchen's timeline", () => {
  const publication = { ...published, fromStatus: 'draft', toStatus: 'open' } as const;
  const edit = { ...edited, fromStatus: 'open', toStatus: 'open' } as const;
  type Scope = 'job' | 'mine';
  interface Reader {
    viewer: Viewer;
    scope: Scope;
    /** Null for a deleted draft. */
    status?: JobState | null;
    /** Cyrus's bids. */
    bids?: BidState[];
    isHidden?: boolean;
    matches?: ContractorId[];
  }

  function reads({ viewer, scope, status = 'open', bids = [], ...others }: Reader): EventType[] {
    const ofCyrus = bids.map((state) => ({ contractorId: cyrus.contractorId, status: state }));
    const facts = {
      status,
      homeownerId: hannah.homeownerId,
      awardedContractorId: null,
      awardedBidId: null,
      bids: [{ contractorId: carla.contractorId, status: 'pending' } as const, ...ofCyrus],
      ...others,
    };
    return [publication, edit].flatMap((event) => readEvent(viewer, { ...facts, event }, scope)?.type ?? []);
  }

  const BOTH: EventType[] = ['job.published', 'job.updated'];
  test.each<[name: string, reader: Reader, types: EventType[]]>([
    ['Hannah, who posted it,', { viewer: hannah, scope: 'mine' }, BOTH],
    ['Hannah, who has deleted the draft,', { viewer: hannah, scope: 'mine', status: null }, BOTH],
    ['Ada', { viewer: ada, scope: 'mine' }, BOTH],
    ['Hugo', { viewer: hugo, scope: 'job' }, []],
    ['Carla, who has bid,', { viewer: carla, scope: 'mine' }, BOTH],
    ['Cyrus, who has not, and names it,', { viewer: cyrus, scope: 'job' }, ['job.published']],
    ['Cyrus, who has not,', { viewer: cyrus, scope: 'mine' }, []],
    ['Cyrus, before a deleted draft,', { viewer: cyrus, scope: 'job', status: null }, []],
    ['Cyrus, who has withdrawn, and names it,', { viewer: cyrus, scope: 'job', bids: ['withdrawn'] }, BOTH],
    ['Cyrus, who has withdrawn,', { viewer: cyrus, scope: 'mine', bids: ['withdrawn'] }, []],
    ['Cyrus, who has bid again,', { viewer: cyrus, scope: 'mine', bids: ['withdrawn', 'pending'] }, BOTH],
    ['Cyrus, before a hidden job,', { viewer: cyrus, scope: 'job', isHidden: true }, []],
    ['Carla, who has bid on the hidden job,', { viewer: carla, scope: 'mine', isHidden: true }, BOTH],
    [
      'Cyrus, whose search it matched,',
      { viewer: cyrus, scope: 'mine', matches: [carla.contractorId, cyrus.contractorId] },
      ['job.published'],
    ],
    [
      'Cyrus, whose search the hidden job matched,',
      { viewer: cyrus, scope: 'mine', isHidden: true, matches: [cyrus.contractorId] },
      [],
    ],
    ['Cyrus, when only Carla’s search matched,', { viewer: cyrus, scope: 'mine', matches: [carla.contractorId] }, []],
    ['Hugo, who has no searches,', { viewer: hugo, scope: 'mine', matches: [cyrus.contractorId] }, []],
  ])('shows %s %2$j', (_name, reader, types) => {
    expect(reads(reader)).toEqual(types);
  });
});

test.each([
  ['owner', ['all', 'own job']],
  ['awardee', ['all', 'job and own bid', 'own bid and changes']],
  ['parties', ['all', 'own job', 'job and own bid']],
  ['admin', ['all']],
])('a reminder to the %s is for them and for admins', (to, readers) => {
  const event = { type: 'job.reminded', fromStatus: 'disputed', toStatus: 'disputed', data: { to } } as const;
  const bidderId = to === 'awardee' ? carla.contractorId : null;
  const reads = (reach: EventVisibility) => seesEvent(reach, carla, { ...event, bidderId });
  expect(VISIBILITIES.filter(reads)).toEqual(readers);
});

test.each([
  ['open', ['all', 'own job']],
  ['in_review', ['all', 'own job', 'job and own bid']],
  ['decision_reached', ['all', 'own job', 'job and own bid']],
] as const)('bidders can’t read why a job has more time while it is open: %s', (status, readers) => {
  const event = {
    type: 'job.deadline_extended',
    fromStatus: status,
    toStatus: status,
    bidderId: null,
    data: {},
  } as const;
  expect(VISIBILITIES.filter((reach) => seesEvent(reach, carla, event))).toEqual(readers);
});

test('the next awardee can’t read a reminder to the previous one', () => {
  const reminder = {
    type: 'job.reminded',
    fromStatus: 'awarded',
    toStatus: 'awarded',
    data: { to: 'awardee' },
  } as const;
  expect(seesEvent('job and own bid', cyrus, { ...reminder, bidderId: carla.contractorId })).toBe(false);
});

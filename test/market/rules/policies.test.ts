/** What a caller is told when a policy refuses a call: the code, message, fields, and facts, word for word. */
import { describe, expect, test } from 'vitest';
import { BID_ACTIONS } from '../../../src/market/rules/bids.js';
import { Refusal, type RefusalOptions } from '../../../src/platform/errors.js';
import type { JobActionKey } from '../../../src/market/rules/lifecycle.js';
import {
  assertAllowed,
  bidDenial,
  codesOfDenials,
  editDenial,
  factsForAvailableActions,
  factsForPolicies,
  jobDenial,
} from '../../../src/market/rules/policies.js';
import type { Denial, PolicyInput } from '../../../src/market/rules/policies.js';
import type { BidState } from '../../../src/market/rules/states.js';
import type { EventId } from '../../../src/market/rules/ids.js';
import type { Role, Viewer } from '../../../src/market/rules/viewer.js';
import { ada, carla, cyrus, hannah, hugo, kitchen } from './people.js';

type Answer = RefusalOptions & { code: string };

/** The refusal that the caller gets. Undefined if the call is allowed. */
function answerTo(denial: Denial | undefined): Answer | undefined {
  try {
    assertAllowed(denial);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message, fields, details } = error;
    return { code, message, ...(fields && { fields }), details };
  }
}

const ONLY_THE_OWNER = {
  code: 'FORBIDDEN',
  message: 'Only the homeowner who posted the job can do this.',
  details: {},
};
const UNVERIFIED = {
  code: 'FORBIDDEN',
  message: 'Confirm your email address first. Use the link in the email that we sent you.',
  details: { reason: 'email_unverified' },
};
const STALE = {
  code: 'STALE_VERSION',
  message: 'The job, bid, or proposal has changed since you read it. Read it again, then retry.',
  details: { expectedVersion: 3, version: 1 },
};

describe('an operation on the kitchen', () => {
  const draft = { viewer: hannah, job: kitchen('draft'), isEmailUndoPending: false, availableTokens: 15 };
  const open = { ...draft, job: kitchen('open') };
  const byCarla = {
    viewer: carla,
    job: kitchen('open'),
    ownBids: [],
    isOwnerSuspended: false,
    isEmailUndoPending: false,
    availableTokens: 0,
  };

  test.each<[name: string, key: JobActionKey, facts: PolicyInput, answer: Answer | undefined]>([
    ['Hannah publishes her draft', 'publish', draft, undefined],
    ['Hannah publishes the version that she has read', 'publish', { ...draft, expectedVersion: 1 }, undefined],
    ['Hannah publishes an older version', 'publish', { ...draft, expectedVersion: 3 }, STALE],
    [
      'Hannah publishes an older version before she has confirmed her email',
      'publish',
      { ...draft, viewer: { ...hannah, mustVerifyEmail: true }, expectedVersion: 3 },
      UNVERIFIED,
    ],
    [
      'Hannah cancels her job before she has confirmed her email',
      'cancel',
      { ...open, viewer: { ...hannah, mustVerifyEmail: true } },
      undefined,
    ],
    [
      'Carla bids before she has confirmed her email',
      'submitBid',
      { ...byCarla, viewer: { ...carla, mustVerifyEmail: true } },
      UNVERIFIED,
    ],
    [
      'Hugo publishes it before he has confirmed his email',
      'publish',
      { ...draft, viewer: { ...hugo, mustVerifyEmail: true } },
      ONLY_THE_OWNER,
    ],
    [
      'Hugo publishes it, of an older version',
      'publish',
      { ...draft, viewer: hugo, expectedVersion: 3 },
      ONLY_THE_OWNER,
    ],
    [
      'Hannah publishes it twice',
      'publish',
      open,
      { code: 'INVALID_TRANSITION', message: 'Only a draft can be published.', details: {} },
    ],
    [
      'Hannah has left gaps in her draft',
      'publish',
      { ...draft, job: kitchen('draft', { category: null, city: ' ' }) },
      {
        code: 'MISSING_FIELDS',
        message: 'To publish the job, fill in the missing fields first.',
        fields: { category: 'is required to publish', city: 'is required to publish' },
        details: {},
      },
    ],
    [
      'Hannah is one token short of the price',
      'publish',
      { ...draft, availableTokens: 14 },
      {
        code: 'INSUFFICIENT_TOKENS',
        message: 'You need 15 tokens and have 14.',
        details: { required: 15, available: 14 },
      },
    ],
    ['Hannah pays for a raised urgency', 'update', { ...open, cost: 15 }, undefined],
    [
      'Hannah cannot pay for a raised urgency',
      'update',
      { ...open, cost: 16 },
      {
        code: 'INSUFFICIENT_TOKENS',
        message: 'You need 16 tokens and have 15.',
        details: { required: 16, available: 15 },
      },
    ],
    [
      'Hannah awards a bid that is not there',
      'award',
      { ...open, bidsToAward: 0 },
      {
        code: 'UNKNOWN_BID',
        message: expect.stringContaining('pending, viewed, or shortlisted'),
        fields: { bidId: 'can’t be awarded' },
        details: {},
      },
    ],
    ['Hannah awards one that is', 'award', { ...open, bidsToAward: 1 }, undefined],
    ['Carla bids', 'submitBid', byCarla, undefined],
    [
      'Carla bids once more, and needs no more than the general sentence',
      'submitBid',
      { ...byCarla, ownBids: ['pending'] },
      { code: 'DUPLICATE_BID', message: 'You’ve already bid on this job.', details: {} },
    ],
    [
      'Carla cannot stake what she does not have',
      'submitBid',
      { ...byCarla, cost: 5 },
      { code: 'INSUFFICIENT_TOKENS', message: 'You need 5 tokens and have 0.', details: { required: 5, available: 0 } },
    ],
  ])('%s', (_name, key, facts, answer) => {
    expect(answerTo(jobDenial(key, facts))).toEqual(answer);
  });

  test('a policy fails if its fact was not read, and neither allows nor refuses the call', () => {
    const { isEmailUndoPending: _, ...unknown } = draft;
    expect(() => jobDenial('publish', unknown)).toThrow('The fact isEmailUndoPending was not read.');
  });

  test.each<[key: JobActionKey, role: Role, facts: string[]]>([
    ['award', 'homeowner', ['isEmailUndoPending', 'bidsToAward']],
    ['publish', 'homeowner', ['isEmailUndoPending', 'availableTokens']],
    ['cancel', 'homeowner', []],
    ['checkIn', 'contractor', ['ownBids', 'isOwnerSuspended']],
    ['reachDecision', 'admin', []],
  ])('%s by a %s uses %j', (key, role, facts) => {
    expect(factsForPolicies(key, role)).toEqual(facts);
  });

  test("a bid without a stake doesn't need the balance", () => {
    expect(factsForPolicies('submitBid', 'contractor')).toContain('availableTokens');
    expect(factsForPolicies('submitBid', 'contractor', { isPlain: true })).not.toContain('availableTokens');
  });

  test('what a contractor can do depends on no facts of a homeowner, and vice versa', () => {
    expect(factsForAvailableActions('homeowner')).toEqual([
      'isEmailUndoPending',
      'availableTokens',
      'bidsToAward',
      'standingProposal',
      'reviewWindow',
      'isDeadlineExtended',
    ]);
    expect(factsForAvailableActions('contractor')).toEqual([
      'ownBids',
      'isOwnerSuspended',
      'standingProposal',
      'isEmailUndoPending',
    ]);
    expect(factsForAvailableActions('admin')).toEqual(['isDeadlineExtended']);
  });

  test('an edit depends on its caller and its version, and not on the state', () => {
    const inReview = { ...draft, job: kitchen('in_review') };
    expect(answerTo(editDenial(inReview))).toBeUndefined();
    expect(answerTo(editDenial({ ...inReview, viewer: hugo }))).toEqual(ONLY_THE_OWNER);
    expect(answerTo(editDenial({ ...inReview, expectedVersion: 3 }))).toEqual(STALE);
  });

  test.each<[key: JobActionKey, codes: string[]]>([
    ['checkIn', ['INVALID_TRANSITION']],
    ['award', ['FORBIDDEN', 'INVALID_TRANSITION', 'UNKNOWN_BID', 'VALIDATION_FAILED', 'STALE_VERSION']],
    ['requestChanges', ['INVALID_TRANSITION']],
    ['reopen', ['INVALID_TRANSITION']],
    ['update', ['FIELD_NOT_EDITABLE', 'INVALID_TRANSITION', 'FORBIDDEN', 'INSUFFICIENT_TOKENS']],
    ['resolveDispute', ['INVALID_TRANSITION']],
  ])('%s can fail with %j', (key, codes) => {
    expect(codesOfDenials(key)).toEqual(codes);
  });
});

describe('an operation with its own condition', () => {
  const proposal = (by: Viewer, eventId: EventId = 'evt_2') => ({
    standingProposal: { by: by.userId, eventId, count: 1 },
  });
  const disputed = { viewer: carla, job: kitchen('disputed'), ownBids: [], isOwnerSuspended: false };
  const completed = { viewer: hannah, job: kitchen('completed') };
  const NO_PROPOSAL = 'There is no proposal to accept. Propose a resolution yourself.';
  const NOT_CREDITED = {
    escalated: {
      message: 'You can give credit only for a job in review.',
      fields: { creditContractor: 'must be false unless the job is in review' },
    },
    completed: {
      message: 'This job was already completed without credit. Credit can’t be added later.',
      fields: { creditContractor: 'must be false because the job is already completed' },
    },
  };

  test.each<[name: string, key: JobActionKey, input: PolicyInput, answer: object | undefined]>([
    ['Ada completes it without credit', 'complete', { viewer: ada, job: kitchen('escalated') }, undefined],
    [
      'Ada completes it with credit while it is in review',
      'complete',
      { viewer: ada, job: kitchen('in_review'), creditContractor: true, isCredited: false },
      undefined,
    ],
    ...(['escalated', 'completed'] as const).flatMap((status) => {
      const input = { viewer: ada, job: kitchen(status), creditContractor: true };
      return [
        [
          `Ada gives credit for one that is ${status}`,
          'complete' as const,
          { ...input, isCredited: false },
          { code: 'VALIDATION_FAILED', ...NOT_CREDITED[status], details: {} },
        ] as [string, JobActionKey, PolicyInput, object],
        [
          `Ada gives the credit again for one that is ${status}`,
          'complete' as const,
          { ...input, isCredited: true },
          undefined,
        ] as [string, JobActionKey, PolicyInput, undefined],
      ];
    }),
    ['Carla accepts the proposal', 'acceptResolution', { ...disputed, ...proposal(hannah) }, undefined],
    [
      'Carla accepts the proposal that she has read',
      'acceptResolution',
      { ...disputed, ...proposal(hannah), proposalId: 'prp_2' },
      undefined,
    ],
    [
      'Carla accepts a proposal that another one has replaced',
      'acceptResolution',
      { ...disputed, ...proposal(hannah), proposalId: 'prp_1' },
      {
        code: 'STALE_VERSION',
        message: 'Another proposal has replaced this one. Read the dispute again.',
        fields: { proposalId: 'isn’t the current proposal' },
        details: {},
      },
    ],
    [
      'Carla accepts her own proposal',
      'acceptResolution',
      { ...disputed, ...proposal(carla) },
      { code: 'FORBIDDEN', message: 'You made the current proposal. Only the other party can accept it.', details: {} },
    ],
    [
      'Carla accepts a proposal that nobody made',
      'acceptResolution',
      { ...disputed, standingProposal: null, proposalId: 'prp_1' },
      { code: 'INVALID_TRANSITION', message: NO_PROPOSAL, details: {} },
    ],
    [
      'Hannah extends the deadline of the work’s review',
      'extendDeadline',
      { viewer: hannah, job: kitchen('in_review'), isDeadlineExtended: false },
      undefined,
    ],
    [
      'Ada extends the deadline of the decision',
      'extendDeadline',
      { viewer: ada, job: kitchen('decision_reached'), isDeadlineExtended: false },
      undefined,
    ],
    [
      'Hannah extends the deadline of the decision',
      'extendDeadline',
      { viewer: hannah, job: kitchen('decision_reached'), isDeadlineExtended: false },
      { code: 'FORBIDDEN', message: 'Only an admin can extend the deadline of a decision.', details: {} },
    ],
    [
      'Ada extends the deadline of the work’s review',
      'extendDeadline',
      { viewer: ada, job: kitchen('in_review'), isDeadlineExtended: false },
      { code: 'FORBIDDEN', message: 'Only the homeowner who posted the job can extend this deadline.', details: {} },
    ],
    [
      'Hannah extends it twice',
      'extendDeadline',
      { viewer: hannah, job: kitchen('in_review'), isDeadlineExtended: true },
      {
        code: 'INVALID_TRANSITION',
        message: 'This deadline was already extended. It can be extended only once in each status.',
        details: {},
      },
    ],
    ['Hannah rates the work', 'review', { ...completed, reviewWindow: 'open' }, undefined],
    ...(
      [
        [null, 'Only a job that you approved can be rated.'],
        ['used', 'You have already rated this job. A rating is final.'],
        ['over', 'You can rate a job only within 30 days of its completion.'],
      ] as const
    ).map(
      ([reviewWindow, message]) =>
        [
          `Hannah rates the work when the window is ${reviewWindow}`,
          'review',
          { ...completed, reviewWindow },
          { code: 'INVALID_TRANSITION', message, details: {} },
        ] as [string, JobActionKey, PolicyInput, object],
    ),
    [
      'Hannah requests changes for the fourth time',
      'requestChanges',
      { viewer: hannah, job: kitchen('in_review', { changeRequestCount: 3 }) },
      {
        code: 'INVALID_TRANSITION',
        message: 'You have already requested changes 3 times. Approve or dispute the work.',
        details: {},
      },
    ],
    [
      'Carla bids again while Hannah is suspended',
      'submitBid',
      {
        viewer: carla,
        job: kitchen('open'),
        ownBids: ['withdrawn'],
        isOwnerSuspended: true,
        isEmailUndoPending: false,
        availableTokens: 0,
      },
      { code: 'FORBIDDEN', message: 'This job isn’t accepting bids at the moment.', details: {} },
    ],
    [
      'Hannah cancels work in progress after she has requested changes',
      'cancel',
      { viewer: hannah, job: kitchen('in_progress', { changeRequestCount: 1 }) },
      {
        code: 'INVALID_TRANSITION',
        message: 'A job in progress can’t be cancelled after changes were requested.',
        details: {},
      },
    ],
  ])('%s', (_name, key, input, answer) => {
    expect(answerTo(jobDenial(key, input))).toEqual(answer);
  });

  test.each<[key: JobActionKey, input: PolicyInput]>([
    ['acceptResolution', { ...disputed, standingProposal: null }],
    ['extendDeadline', { viewer: hannah, job: kitchen('in_review'), isDeadlineExtended: true }],
    ['review', { ...completed, reviewWindow: 'used' }],
    ['requestChanges', { viewer: hannah, job: kitchen('in_review', { changeRequestCount: 3 }) }],
    ['update', { viewer: hannah, job: { ...kitchen('draft'), version: 10_000 } }],
    ['reopen', { viewer: hannah, job: { ...kitchen('awarded'), reopeningCount: 3 } }],
    ['publish', { viewer: hannah, job: kitchen('open'), isEmailUndoPending: false }],
  ])('a refusal to %s names what is possible instead', (key, input) => {
    expect(jobDenial(key, input)).toMatchObject({ code: 'INVALID_TRANSITION', namesAlternatives: true });
  });

  test.each<[key: JobActionKey, role: Role, facts: string[]]>([
    ['acceptResolution', 'homeowner', ['standingProposal']],
    ['complete', 'admin', ['isCredited']],
    ['submitBid', 'contractor', ['ownBids', 'isOwnerSuspended', 'isEmailUndoPending', 'availableTokens']],
    ['review', 'homeowner', ['reviewWindow']],
  ])('%s by a %s uses %j', (key, role, facts) => {
    expect(factsForPolicies(key, role)).toEqual(facts);
  });
});

describe("an operation on Carla's bid", () => {
  const ONLY_THE_BIDDER = { ...ONLY_THE_OWNER, message: 'Only the contractor who made the bid can do this.' };
  const wrongState = (message: string, fromState: BidState, allowedOperations: string[]) => ({
    code: 'INVALID_TRANSITION',
    message,
    details: { fromState, allowedOperations },
  });

  test.each<
    [name: string, viewer: Viewer, key: keyof typeof BID_ACTIONS, status: BidState, answer: Answer | undefined]
  >([
    ['Hannah views it', hannah, 'view', 'pending', undefined],
    ['Hugo views it', hugo, 'view', 'pending', ONLY_THE_OWNER],
    ['Carla views it', carla, 'view', 'pending', ONLY_THE_OWNER],
    [
      'Hannah views it again, and may shortlist or reject it',
      hannah,
      'view',
      'viewed',
      wrongState('Only a pending bid can be marked as viewed.', 'viewed', ['shortlistBid', 'rejectBid']),
    ],
    [
      'Hannah rejects it after she has accepted it',
      hannah,
      'reject',
      'accepted',
      wrongState('Only a pending, viewed, or shortlisted bid can be rejected.', 'accepted', []),
    ],
    ['Carla withdraws it', carla, 'withdraw', 'shortlisted', undefined],
    ['Cyrus withdraws it', cyrus, 'withdraw', 'shortlisted', ONLY_THE_BIDDER],
    ['Ada withdraws it', ada, 'withdraw', 'rejected', ONLY_THE_BIDDER],
    [
      'Carla withdraws it twice',
      carla,
      'withdraw',
      'withdrawn',
      wrongState('Only a pending, viewed, or shortlisted bid can be withdrawn.', 'withdrawn', []),
    ],
    ['Carla revises it', carla, 'revise', 'shortlisted', undefined],
    ['Cyrus revises it', cyrus, 'revise', 'shortlisted', ONLY_THE_BIDDER],
    ['Hannah revises it', hannah, 'revise', 'pending', ONLY_THE_BIDDER],
    [
      'Carla revises it after it was accepted',
      carla,
      'revise',
      'accepted',
      wrongState('Only a pending, viewed, or shortlisted bid can be revised.', 'accepted', []),
    ],
  ])('%s', (_name, viewer, key, status, answer) => {
    const bid = { contractorId: carla.contractorId, status, version: 2 };
    const input = { viewer, bid, job: kitchen('open'), isEmailUndoPending: false };
    expect(answerTo(bidDenial(BID_ACTIONS[key], input))).toEqual(answer);
  });

  test.each<
    [name: string, status: BidState, version: number, expectedVersion: number | null, answer: Answer | undefined]
  >([
    ['that she has read', 'viewed', 4, 4, undefined],
    ['without naming its version', 'viewed', 4, null, undefined],
    [
      'that she revised in the meantime, which comes before its state',
      'accepted',
      4,
      3,
      {
        code: 'STALE_VERSION',
        message: 'The bid has been revised since you read it. Read it again, then retry.',
        details: { expectedVersion: 3, version: 4 },
      },
    ],
    ['for the tenth time', 'pending', 10, 10, undefined],
    [
      'for the eleventh time',
      'pending',
      11,
      11,
      wrongState('You have already revised this bid 10 times.', 'pending', ['withdrawBid']),
    ],
    [
      'for the eleventh time, once it is withdrawn',
      'withdrawn',
      11,
      11,
      wrongState('Only a pending, viewed, or shortlisted bid can be revised.', 'withdrawn', []),
    ],
  ])('Carla revises the one %s', (_name, status, version, expectedVersion, answer) => {
    const bid = { contractorId: carla.contractorId, status, version };
    const input = { viewer: carla, bid, job: kitchen('open'), isEmailUndoPending: false, expectedVersion };
    expect(answerTo(bidDenial(BID_ACTIONS.revise, input))).toEqual(answer);
  });

  test('Carla may revise it exactly when she could bid, whichever version she has read', () => {
    const unverified = { ...carla, mustVerifyEmail: true };
    for (const [viewer, isEmailUndoPending, reason] of [
      [carla, true, 'email_disputed'],
      [unverified, false, 'email_unverified'],
      [unverified, true, 'email_unverified'],
    ] as const) {
      const bid = { contractorId: carla.contractorId, status: 'accepted', version: 11 } as const;
      const input = { viewer, bid, job: kitchen('open'), isEmailUndoPending, expectedVersion: 3 };
      const answer = answerTo(bidDenial(BID_ACTIONS.revise, input));
      expect(answer).toMatchObject({ code: 'FORBIDDEN', details: { reason } });
      expect(answer).toEqual(answerTo(jobDenial('submitBid', { ...input, ownBids: [], isOwnerSuspended: false })));
      expect(answerTo(bidDenial(BID_ACTIONS.revise, { ...input, viewer: cyrus }))).toEqual(ONLY_THE_BIDDER);
      const live = { ...input, bid: { ...bid, status: 'viewed' }, expectedVersion: null } as const;
      expect(bidDenial(BID_ACTIONS.withdraw, live)).toBeUndefined();
    }
  });
});

describe('an award', () => {
  const award = { viewer: hannah, job: kitchen('open'), isEmailUndoPending: false, bidsToAward: 1 };
  const UNREAD = {
    code: 'VALIDATION_FAILED',
    message: 'The contractor has revised this bid. Read it again, and send its version.',
    fields: { expectedBidVersion: 'is required because the bid was revised' },
    details: {},
  };
  const REVISED = (expectedVersion: number, version: number) => ({
    code: 'STALE_VERSION',
    message: 'The bid has been revised since you read it. Read it again, then retry.',
    details: { expectedVersion, version },
  });

  test.each<[name: string, input: Partial<PolicyInput>, answer: Answer | undefined]>([
    ['of a bid as it was made', { bidVersion: 1 }, undefined],
    ['of a bid as it was made, which Hannah names', { bidVersion: 1, expectedBidVersion: 1 }, undefined],
    ['of a revised bid that she has read', { bidVersion: 3, expectedBidVersion: 3 }, undefined],
    ['of a revised bid without its version', { bidVersion: 2 }, UNREAD],
    ['of a revised bid with null for its version', { bidVersion: 2, expectedBidVersion: null }, UNREAD],
    ['of an earlier version', { bidVersion: 3, expectedBidVersion: 2 }, REVISED(2, 3)],
    ['of a version that does not exist yet', { bidVersion: 1, expectedBidVersion: 2 }, REVISED(2, 1)],
  ])('%s', (_name, input, answer) => {
    expect(answerTo(jobDenial('award', { ...award, ...input }))).toEqual(answer);
  });

  test('without a bid is refused before its version is checked', () => {
    const denial = jobDenial('award', { ...award, bidsToAward: 0, expectedBidVersion: 7 });
    expect(denial?.code).toBe('UNKNOWN_BID');
  });
});

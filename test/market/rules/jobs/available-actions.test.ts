import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  allowedOperations,
  availableActions as actionsOn,
  availableBidActions,
} from '../../../../src/market/rules/jobs/available-actions.js';
import type { JobFacts } from '../../../../src/market/rules/jobs/facts.js';
import { JOB_ACTION_LIST, JOB_ACTIONS } from '../../../../src/market/rules/lifecycle.js';
import { EMAIL_DISPUTED } from '../../../../src/market/rules/policies.js';
import { JOB_STATES } from '../../../../src/market/rules/states.js';
import type { JobActionName } from '../../../../src/market/rules/lifecycle.js';
import type { JobState } from '../../../../src/market/rules/states.js';
import type { Viewer } from '../../../../src/market/rules/viewer.js';
import {
  EXTENDED_BY,
  isAwarded,
  JOB_ACTION_KEYS,
  OPERATIONS_ON_JOBS,
  statesAllowing,
} from '../../../story/specified.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { ada, carla, cyrus, hannah, hugo, kitchen } from '../people.js';

interface ActionInput extends Partial<JobFacts> {
  readonly job: Parameters<typeof actionsOn>[1];
}

const availableActions = (viewer: Viewer, { job, ...given }: ActionInput) => actionsOn(viewer, job, given);

function facts(status: JobState, overrides: Partial<ActionInput> = {}): ActionInput {
  return {
    job: kitchen(status),
    ownBids: [],
    bidsToAward: 1,
    availableTokens: 100,
    isOwnerSuspended: false,
    isEmailUndoPending: false,
    // Made by someone other than the viewer.
    standingProposal: { eventId: newId('event'), by: ada.userId, count: 1 },
    reviewWindow: 'open',
    isDeadlineExtended: false,
    ...overrides,
  };
}

function allowed(viewer: Viewer, given: ActionInput): JobActionName[] {
  return availableActions(viewer, given)
    .filter((entry) => entry.allowed)
    .map((entry) => entry.action);
}

function entry(viewer: Viewer, action: JobActionName, given: ActionInput) {
  return availableActions(viewer, given).find((candidate) => candidate.action === action);
}

/** The actions that a party may take in a state, as specified. */
function specified(status: JobState, party: 'owner' | 'awardee' | 'onlooker' | 'admin'): JobActionName[] {
  const words = {
    owner: ['owner', 'parties'],
    awardee: ['awardee', 'parties'],
    onlooker: ['contractor'],
    admin: ['admin'],
  };
  const actors = [...words[party], ...(EXTENDED_BY[status] === party ? ['extender'] : [])];
  return JOB_ACTION_KEYS.filter(
    (key) => actors.includes(OPERATIONS_ON_JOBS[key].actor) && statesAllowing(key).includes(status),
  ).map((key) => JOB_ACTIONS[key].action);
}

describe.each(JOB_STATES)('if the kitchen is %s', (status) => {
  test('each person may do what their role allows in this state, and Hugo nothing', () => {
    expect(allowed(hannah, facts(status))).toEqual(specified(status, 'owner'));
    expect(allowed(carla, facts(status))).toEqual(specified(status, isAwarded(status) ? 'awardee' : 'onlooker'));
    expect(allowed(cyrus, facts(status))).toEqual(specified(status, 'onlooker'));
    expect(allowed(ada, facts(status))).toEqual(specified(status, 'admin'));
    expect(allowed(hugo, facts(status))).toEqual([]);
  });

  test("there is one entry per operation, and a reason exactly if it isn't allowed", () => {
    for (const viewer of [hannah, hugo, carla, cyrus, ada]) {
      const entries = availableActions(viewer, facts(status));
      expect(entries.map(({ action }) => action)).toEqual(JOB_ACTION_LIST.map((row) => row.action));
      for (const { allowed, reason, message } of entries)
        expect([reason === null, message === null]).toEqual([allowed, allowed]);
    }
  });
});

test('each reason is a sentence that says who the action is for, or in which states it is possible', () => {
  const sentences = (viewer: Viewer, status: JobState) =>
    Object.fromEntries(availableActions(viewer, facts(status)).map(({ action, message }) => [action, message]));
  expect(sentences(hannah, 'draft')).toMatchObject({
    AWARD: 'Only an open job can be awarded.',
    CHECK_IN: 'Only the awarded contractor can do this.',
    CANCEL: 'Only an open job, an awarded job, or a job in progress can be cancelled.',
    ESCALATE: 'Only a disputed job can be escalated.',
    COMPLETE: 'Only admins can do this.',
    SUBMIT_BID: 'Only contractors can do this.',
  });
  expect(sentences(ada, 'cancelled')).toMatchObject({
    COMPLETE: 'A cancelled job can’t be completed.',
    REACH_DECISION: 'Only an escalated job can be decided.',
  });
});

test('the balance matters to Hannah before her draft is published, but not to anyone else and not later', () => {
  for (const status of JOB_STATES) {
    for (const viewer of [hannah, hugo, carla, cyrus, ada]) {
      const [poor, rich] = [0, 1_000].map((availableTokens) =>
        availableActions(viewer, facts(status, { availableTokens })),
      );
      const matters = viewer === hannah && status === 'draft';
      expect(isDeepStrictEqual(poor, rich)).toBe(!matters);
    }
  }
});

describe('an action that the end of a deadline takes away', () => {
  const at = new Date('2026-06-15T12:00:00.000Z');
  const until = (viewer: Viewer, status: JobState, to: JobState) => {
    const { job, ...given } = facts(status);
    const entries = actionsOn(viewer, job, given, { at, to }).filter((one) => one.until !== null);
    expect(entries.every((one) => one.until === at && one.allowed)).toBe(true);
    return entries.map(({ action }) => action);
  };

  test('has that time as its end, if the caller may do it now', () => {
    expect(until(hannah, 'in_review', 'completed')).toEqual([
      'APPROVE',
      'REQUEST_CHANGES',
      'DISPUTE',
      'EXTEND_DEADLINE',
    ]);
    expect(until(carla, 'in_review', 'completed')).toEqual([]);
    expect(until(hannah, 'open', 'cancelled')).toEqual(['AWARD', 'CANCEL', 'UPDATE', 'EXTEND_DEADLINE']);
    expect(until(ada, 'decision_reached', 'completed')).toEqual(['EXTEND_DEADLINE']);
    expect(until(hannah, 'disputed', 'escalated')).toEqual(['ESCALATE', 'RESOLVE_DISPUTE', 'ACCEPT_RESOLUTION']);
  });

  test('has none without a deadline', () => {
    const { job, ...given } = facts('in_review');
    expect(actionsOn(hannah, job, given).every((one) => one.until === null)).toBe(true);
  });
});

describe('the refusal that comes first', () => {
  test.each<[name: string, viewer: Viewer, action: JobActionName, given: ActionInput, reason: string | null]>([
    ['Carla: her role comes before the state', carla, 'PUBLISH', facts('completed'), 'FORBIDDEN'],
    [
      'Hugo: whose job it is comes before its gaps',
      hugo,
      'PUBLISH',
      facts('draft', { job: { ...kitchen('draft'), city: null } }),
      'FORBIDDEN',
    ],
    [
      'Cyrus: not being the awarded one comes before the state',
      cyrus,
      'CHECK_IN',
      facts('open', { ownBids: ['rejected'] }),
      'FORBIDDEN',
    ],
    ['Carla: awarded, but too late to check in', carla, 'CHECK_IN', facts('in_review'), 'INVALID_TRANSITION'],
    ['Cyrus: a job he may not see', cyrus, 'SUBMIT_BID', facts('awarded'), 'FORBIDDEN'],
    [
      'Cyrus: a job he sees, no longer open',
      cyrus,
      'SUBMIT_BID',
      facts('awarded', { ownBids: ['withdrawn'] }),
      'INVALID_TRANSITION',
    ],
    [
      'Cyrus: the state comes before his earlier bid',
      cyrus,
      'SUBMIT_BID',
      facts('awarded', { ownBids: ['rejected'] }),
      'INVALID_TRANSITION',
    ],
    ['Cyrus: one bid a job', cyrus, 'SUBMIT_BID', facts('open', { ownBids: ['pending'] }), 'DUPLICATE_BID'],
    ['Cyrus: rejected is final', cyrus, 'SUBMIT_BID', facts('open', { ownBids: ['rejected'] }), 'DUPLICATE_BID'],
    ['Cyrus: after a withdrawal, once more', cyrus, 'SUBMIT_BID', facts('open', { ownBids: ['withdrawn'] }), null],
    [
      'Cyrus: the homeowner is suspended',
      cyrus,
      'SUBMIT_BID',
      facts('open', { ownBids: ['withdrawn'], isOwnerSuspended: true }),
      'FORBIDDEN',
    ],
    ['Hannah: no bid to award', hannah, 'AWARD', facts('open', { bidsToAward: 0 }), 'UNKNOWN_BID'],
    ['Hannah: a published job is not deleted', hannah, 'DELETE', facts('open'), 'INVALID_TRANSITION'],
    ['Hannah: a draft is not cancelled', hannah, 'CANCEL', facts('draft'), 'INVALID_TRANSITION'],
    ['Hannah: a job in review is read-only', hannah, 'UPDATE', facts('in_review'), 'FIELD_NOT_EDITABLE'],
    ['Hannah: a job is not published twice', hannah, 'PUBLISH', facts('open'), 'INVALID_TRANSITION'],
    ['Ada: a cancelled job stays cancelled', ada, 'COMPLETE', facts('cancelled'), 'INVALID_TRANSITION'],
    [
      'Hannah: nobody has proposed anything',
      hannah,
      'ACCEPT_RESOLUTION',
      facts('disputed', { standingProposal: null }),
      'INVALID_TRANSITION',
    ],
    [
      'Hannah: it is her own proposal',
      hannah,
      'ACCEPT_RESOLUTION',
      facts('disputed', { standingProposal: { eventId: newId('event'), by: hannah.userId, count: 1 } }),
      'FORBIDDEN',
    ],
    [
      'Hannah: she has already rated it',
      hannah,
      'REVIEW',
      facts('completed', { reviewWindow: 'used' }),
      'INVALID_TRANSITION',
    ],
    ['Hannah: it is too late', hannah, 'REVIEW', facts('completed', { reviewWindow: 'over' }), 'INVALID_TRANSITION'],
    ['Hannah: Ada ended it', hannah, 'REVIEW', facts('completed', { reviewWindow: null }), 'INVALID_TRANSITION'],
    ['Carla: it is not hers to rate', carla, 'REVIEW', facts('completed'), 'FORBIDDEN'],
    ['Ada: she is no party', ada, 'APPROVE', facts('in_review'), 'FORBIDDEN'],
  ])('%s', (_name, viewer, action, given, reason) => {
    expect(entry(viewer, action, given)).toMatchObject({ reason, allowed: reason === null });
  });
});

describe('publishing, as Hannah sees it', () => {
  test('tells her the price', () => {
    expect(entry(hannah, 'PUBLISH', facts('draft'))).toEqual({
      action: 'PUBLISH',
      allowed: true,
      reason: null,
      message: null,
      missingFields: [],
      tokenCost: 15,
      until: null,
    });
  });

  test('is possible with exactly enough tokens, and not with one fewer', () => {
    expect(entry(hannah, 'PUBLISH', facts('draft', { availableTokens: 15 }))?.reason).toBeNull();
    expect(entry(hannah, 'PUBLISH', facts('draft', { availableTokens: 14 }))).toMatchObject({
      reason: 'INSUFFICIENT_TOKENS',
      tokenCost: 15,
    });
  });

  test('reports missing fields before the price', () => {
    const poor = facts('draft', { job: { ...kitchen('draft'), category: null, city: ' ' }, availableTokens: 0 });
    expect(entry(hannah, 'PUBLISH', poor)).toMatchObject({
      reason: 'MISSING_FIELDS',
      missingFields: ['category', 'city'],
      tokenCost: 15,
    });
  });

  test('has no price without an urgency', () => {
    const undecided = facts('draft', { job: { ...kitchen('draft'), urgency: null } });
    expect(entry(hannah, 'PUBLISH', undecided)).toMatchObject({
      reason: 'MISSING_FIELDS',
      missingFields: ['urgency'],
      tokenCost: null,
    });
  });

  test('tells others neither the price nor the missing fields', () => {
    const gaps = { ...kitchen('draft'), category: null };
    expect(entry(hugo, 'PUBLISH', facts('draft', { job: gaps }))).toMatchObject({ missingFields: [], tokenCost: null });
    expect(entry(hannah, 'PUBLISH', facts('open', { job: { ...gaps, status: 'open' } }))).toMatchObject({
      missingFields: [],
      tokenCost: null,
    });
  });

  test("is her draft's only action with a price or required fields", () => {
    const draft = facts('draft', { job: { ...kitchen('draft'), category: null } });
    for (const action of ['UPDATE', 'DELETE'] as const)
      expect(entry(hannah, action, draft)).toMatchObject({ allowed: true, missingFields: [], tokenCost: null });
  });
});

describe("with Carla's bid, which Hannah has viewed,", () => {
  const bid = { contractorId: carla.contractorId, status: 'viewed', version: 1 } as const;
  const onlyFor = (people: string) => ({
    allowed: false,
    reason: 'FORBIDDEN',
    message: `Only the ${people} can do this.`,
  });
  const allowed = { allowed: true, reason: null, message: null };
  const viewedAlready = {
    allowed: false,
    reason: 'INVALID_TRANSITION',
    message: 'Only a pending bid can be marked as viewed.',
  };
  const onlyOwner = onlyFor('homeowner who posted the job');
  const onlyBidder = onlyFor('contractor who made the bid');

  test.each<[name: string, viewer: Viewer, entries: object[]]>([
    ['Hannah', hannah, [viewedAlready, allowed, allowed, onlyBidder, onlyBidder]],
    ['Carla', carla, [onlyOwner, onlyOwner, onlyOwner, allowed, allowed]],
    ['Ada', ada, [onlyOwner, onlyOwner, onlyOwner, onlyBidder, onlyBidder]],
  ])('%s may do what their role allows, and reads why not the rest', (_name, viewer, entries) => {
    expect(availableBidActions(viewer, { bid, job: kitchen('open'), isEmailUndoPending: false })).toEqual(
      (['VIEW', 'SHORTLIST', 'REJECT', 'WITHDRAW', 'REVISE'] as const).map((action, index) => ({
        action,
        ...entries[index],
      })),
    );
  });

  test('Carla can withdraw it but not revise it while support decides who owns her account', () => {
    const actions = availableBidActions(carla, { bid, job: kitchen('open'), isEmailUndoPending: true });
    const disputed = { allowed: false, reason: 'FORBIDDEN', message: EMAIL_DISPUTED.message };
    expect(actions).toMatchObject([onlyOwner, onlyOwner, onlyOwner, allowed, disputed]);
  });
});

describe('once Hannah has requested changes', () => {
  const after = (status: JobState, changeRequestCount = 1) =>
    facts(status, { job: { ...kitchen(status), changeRequestCount } });

  test.each(JOB_STATES)('she may do what the specification says: %s', (status) => {
    const rows = JOB_ACTION_KEYS.filter(
      (key) =>
        ['owner', 'parties', ...(EXTENDED_BY[status] === 'owner' ? ['extender'] : [])].includes(
          OPERATIONS_ON_JOBS[key].actor,
        ) && statesAllowing(key, 'after changes').includes(status),
    );
    expect(allowed(hannah, after(status))).toEqual(rows.map((key) => JOB_ACTIONS[key].action));
  });

  test('she can dispute the work in progress and can no longer cancel it', () => {
    const sentence = (action: JobActionName, given: ActionInput) => entry(hannah, action, given)?.message;
    expect(sentence('DISPUTE', facts('in_progress'))).toBe('Only a job in review can be disputed.');
    expect(sentence('DISPUTE', after('in_progress'))).toBeNull();
    expect(sentence('DISPUTE', after('disputed'))).toBe('Only a job in progress or a job in review can be disputed.');
    expect(sentence('CANCEL', facts('in_progress'))).toBeNull();
    expect(sentence('CANCEL', after('in_progress'))).toBe(
      'A job in progress can’t be cancelled after changes were requested.',
    );
  });

  test('she can do so three times', () => {
    expect(entry(hannah, 'REQUEST_CHANGES', after('in_review', 2))).toMatchObject({ allowed: true });
    expect(entry(hannah, 'REQUEST_CHANGES', after('in_review', 3))).toMatchObject({
      allowed: false,
      reason: 'INVALID_TRANSITION',
      message: 'You have already requested changes 3 times. Approve or dispute the work.',
    });
  });
});

test('Hannah can reopen a job twice, and Carla can decline it again', () => {
  const reopened = (reopeningCount: number) => facts('awarded', { job: { ...kitchen('awarded'), reopeningCount } });
  expect(entry(hannah, 'REOPEN', reopened(1))).toMatchObject({ allowed: true });
  expect(entry(hannah, 'REOPEN', reopened(2))).toMatchObject({
    allowed: false,
    reason: 'INVALID_TRANSITION',
    message: 'You have already reopened this job 2 times. You can cancel it instead.',
  });
  expect(entry(carla, 'DECLINE_AWARD', reopened(2))).toMatchObject({ allowed: true });
});

describe('the operations offered to a refused caller', () => {
  const offered = (viewer: Viewer, { job, ...given }: ActionInput) => allowedOperations(viewer, job, given);
  const theirOwn = { eventId: newId('event'), by: hannah.userId, count: 1 };

  test.each<[name: string, viewer: Viewer, given: ActionInput, operations: string[]]>([
    ['Carla in a dispute', carla, facts('disputed'), ['escalateJob', 'resolveDispute', 'acceptResolution']],
    ['Cyrus in a dispute', cyrus, facts('disputed', { ownBids: ['rejected'] }), []],
    ['Hannah before bids', hannah, facts('open'), ['awardJob', 'cancelJob', 'updateJob', 'extendDeadline']],
    ['Hannah without bids', hannah, facts('open', { bidsToAward: 0 }), ['cancelJob', 'updateJob', 'extendDeadline']],
    [
      'Hannah, whose address is disputed',
      hannah,
      facts('open', { isEmailUndoPending: true }),
      ['cancelJob', 'updateJob', 'extendDeadline'],
    ],
    ['Hannah without tokens for her draft', hannah, facts('draft', { availableTokens: 0 }), ['updateJob', 'deleteJob']],
    [
      'Hannah after her own proposal',
      hannah,
      facts('disputed', { standingProposal: theirOwn }),
      ['escalateJob', 'resolveDispute'],
    ],
    ['Hannah after work that she can rate', hannah, facts('completed'), ['reviewJob']],
    ['Hannah after work that she has rated', hannah, facts('completed', { reviewWindow: 'used' }), []],
    ['Cyrus before he bids', cyrus, facts('open'), ['submitBid']],
    ['Cyrus after his bid', cyrus, facts('open', { ownBids: ['pending'] }), []],
    ['Ada after the end', ada, facts('completed'), ['completeJob']],
    ['Hannah after a cancellation', hannah, facts('cancelled'), []],
  ])('are those that no policy currently refuses: %s', (_name, viewer, given, operations) => {
    expect(offered(viewer, given)).toEqual(operations);
  });

  test('are none for a stranger, in any state', () => {
    for (const status of JOB_STATES) expect(offered(hugo, facts(status))).toEqual([]);
  });
});

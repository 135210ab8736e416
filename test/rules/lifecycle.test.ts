import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Effect } from '../../src/rules/effects.js';
import * as lifecycle from '../../src/rules/lifecycle.js';
import type { JobAction } from '../../src/rules/lifecycle.js';
import * as states from '../../src/rules/states.js';
import type { BidState, JobState } from '../../src/rules/states.js';
import { BID_TRANSITION_LIST, BID_TRANSITIONS, mayBid, type BidTransition } from '../../src/rules/bids.js';
import { holds } from '../../src/rules/conditions.js';
import { EVENT_TYPES } from '../../src/rules/events.js';
import { checkLifecycle } from '../../src/rules/lifecycle-check.js';
import { lifecycleDiagram } from '../contracts/lifecycle-diagram.js';
import { editableFields } from '../../src/rules/job-fields.js';
import * as specified from '../specified.js';
import { JOB_ACTION_KEYS, OPERATIONS_ON_JOBS } from '../specified.js';
import { carla, kitchen } from './people.js';

const { statesAllowing, isTransition, JOB_ACTION_LIST, JOB_TRANSITIONS } = lifecycle;
const { isTerminal, JOB_STATES } = states;

test.each(JOB_ACTION_KEYS)('%s is what the specification says', (key) => {
  const { operation, path, by, from, to, event } = lifecycle.JOB_ACTIONS[key];
  const { from: leaving, ...row } = OPERATIONS_ON_JOBS[key];
  expect({ operation, path, by, to, event }).toEqual(row);
  expect(inOrder(from)).toEqual(inOrder(leaving));
});

test('there is no operation on a job besides, and no other state', () => {
  expect(Object.keys(lifecycle.JOB_ACTIONS)).toEqual(JOB_ACTION_KEYS);
  expect(JOB_STATES).toEqual(specified.STATES);
});

test.each(specified.STATES)('a job that is %s is in the phase that the specification says', (state) => {
  for (const phase of Object.keys(states.JOB_PHASES) as states.JobPhase[])
    expect(states.isIn(phase, state), phase).toBe(specified.isIn(phase, state));
});

test('a job is in dispute where the specification says so', () => {
  expect(states.STATES_IN_DISPUTE).toEqual(specified.STATES_IN_DISPUTE);
});

/** The same of bids, from decision 7. */
const SPECIFIED_OF_BIDS: [operation: string, path: string, by: string, from: BidState[], to: BidState][] = [
  ['viewBid', 'view', 'owner', ['pending'], 'viewed'],
  ['shortlistBid', 'shortlist', 'owner', ['pending', 'viewed'], 'shortlisted'],
  ['rejectBid', 'reject', 'owner', ['pending', 'viewed', 'shortlisted'], 'rejected'],
  ['withdrawBid', 'withdraw', 'bidder', ['pending', 'viewed', 'shortlisted'], 'withdrawn'],
];

test.each(SPECIFIED_OF_BIDS)('%s is what was decided', (operation, path, by, from, to) => {
  expect(BID_TRANSITION_LIST.find((row) => row.operation === operation)).toMatchObject({ path, by, from, to });
});

test('there is no operation on a bid besides, and no state but those that something leads to', () => {
  expect(BID_TRANSITION_LIST.map((row) => row.operation)).toEqual(SPECIFIED_OF_BIDS.map(([operation]) => operation));
  expect(states.BID_STATES).toEqual(['pending', 'viewed', 'shortlisted', 'accepted', 'rejected', 'withdrawn']);
});

test('every name of an operation in upper case is its action', () => {
  for (const [key, row] of Object.entries(lifecycle.JOB_ACTIONS))
    expect(row.action).toBe(key.replaceAll(/[A-Z]/g, '_$&').toUpperCase());
  for (const [key, row] of Object.entries(BID_TRANSITIONS)) expect(row.action).toBe(key.toUpperCase());
});

test('Ada completing a completed job is allowed and changes nothing; a cancelled one she cannot complete', () => {
  expect(statesAllowing(JOB_TRANSITIONS.complete)).toContain('completed');
  expect(JOB_TRANSITIONS.complete.from).not.toContain('completed');
  expect(statesAllowing(JOB_TRANSITIONS.complete)).not.toContain('cancelled');
});

test('a job can be updated exactly where some field is editable', () => {
  expect(inOrder(lifecycle.OTHER_JOB_ACTIONS.update.from)).toEqual(
    JOB_STATES.filter((state) => editableFields(state).length > 0),
  );
});

test('every way into an end releases holds, and only what ends the bidding settles live bids', () => {
  for (const row of JOB_ACTION_LIST.filter(isTransition)) {
    if (isTerminal(row.to)) expect(row.effects, row.operation).toContain('releaseHolds');
    const settles = row.effects.some((effect) => effect === 'rejectLiveBids' || effect === 'rejectOtherBids');
    const endsBidding =
      !specified.isIn('bidding', row.to) && row.from.some((state) => specified.isIn('bidding', state));
    expect(settles, row.operation).toBe(endsBidding);
  }
});

test('each kind of event stands in the list once, the first proposal of a resolution among them', () => {
  expect([...EVENT_TYPES].sort()).toEqual(
    [
      'job.created',
      'job.resolution_proposed',
      ...Object.values(OPERATIONS_ON_JOBS).map(({ event }) => event),
      ...['accepted', 'rejected', 'shortlisted', 'viewed', 'withdrawn'].map((state) => `bid.${state}`),
    ].sort(),
  );
});

test.each<[ownBids: BidState[], may: boolean]>([
  [[], true],
  [['withdrawn'], true],
  [['withdrawn', 'withdrawn'], true],
  [['pending'], false],
  [['viewed'], false],
  [['shortlisted'], false],
  [['rejected'], false],
  [['accepted'], false],
  [['withdrawn', 'pending'], false],
])('with bids %j, Carla may bid again: %j', (ownBids, may) => {
  expect(holds(mayBid, { viewer: carla, job: kitchen('open'), ownBids })).toBe(may);
});

test('a bid is live while it waits for the choice of Hannah', () => {
  expect(states.LIVE_BID_STATES).toEqual(['pending', 'viewed', 'shortlisted']);
});

describe('checkLifecycle', () => {
  const [publish, award] = [JOB_TRANSITIONS.publish, JOB_TRANSITIONS.award];
  const changed = (operation: string, change: Partial<JobAction>) =>
    JOB_ACTION_LIST.map((row) => (row.operation === operation ? ({ ...row, ...change } as JobAction) : row));

  const without = (effect: Effect) => award.effects.filter((one) => one !== effect);

  test('finds nothing wrong with the real tables', () => {
    expect(() => checkLifecycle()).not.toThrow();
  });

  test.each<[fault: string, rows: readonly JobAction[], description: RegExp]>([
    ['a state that nothing leads to', changed('awardJob', { to: 'open' }), /no way leads from draft to awarded/],
    [
      'a state that nothing but an admin leads out of',
      changed('fileAppeal', { from: ['appealed'] }),
      /no way leads from decision_reached to an end/,
    ],
    [
      'a way out of an end',
      changed('cancelJob', { from: ['open', 'completed'] }),
      /cancelJob leaves completed, which is an end/,
    ],
    ['an operation that nowhere applies', changed('cancelJob', { from: [] }), /cancelJob leaves no state/],
    ['one action twice', changed('awardJob', { action: publish.action }), /the action of a job "PUBLISH"/],
    ['one operation twice', changed('awardJob', { operation: publish.operation }), /the operation "publishJob"/],
    ['one operation for a job and a bid', changed('awardJob', { operation: 'viewBid' }), /the operation "viewBid"/],
    ['one address twice', changed('awardJob', { path: publish.path }), /the address of a job "POST \/publish"/],
    ['one event twice', changed('awardJob', { event: publish.event }), /the event "job.published"/],
    [
      'the event of a proposal twice',
      changed('awardJob', { event: 'job.resolution_proposed' }),
      /the event "job.resolution_proposed"/,
    ],
    [
      'a transition that stands still',
      changed('awardJob', { from: ['open', 'awarded'] }),
      /awardJob leads from awarded to itself/,
    ],
    [
      'rest in another state',
      changed('awardJob', { ...award, alreadyDoneIn: ['open'] }),
      /awardJob is done already elsewhere than in awarded/,
    ],
    [
      'rest in the right state and another',
      changed('awardJob', { ...award, alreadyDoneIn: ['awarded', 'open'] }),
      /awardJob is done already elsewhere/,
    ],
    ['an end that keeps holds', changed('approveJob', { effects: [] }), /approveJob ends a job and releases no holds/],
    [
      'a way back from the work to the bidding',
      changed('checkInJob', { to: 'open' }),
      /checkInJob leads back to open, which is in an earlier phase/,
    ],
    [
      'a way back from the work to before the check-in',
      changed('submitJobForReview', { to: 'awarded' }),
      /submitJobForReview leads back to awarded, which is in an earlier phase/,
    ],
    [
      'a state after the award without one',
      changed('awardJob', { effects: ['rejectOtherBids'] }),
      /awardJob leads to awarded without an award/,
    ],
    ...award.effects.map((effect): [string, JobAction[], RegExp] => [
      `${effect} without the rest of an award`,
      changed('awardJob', { effects: [effect] }),
      new RegExp(
        without(effect)
          .map((part) => `awardJob awards the job without ${part}`)
          .join('\n.*'),
      ),
    ]),
    ...(['chargePublishing', 'creditContractor'] as const).map((effect): [string, JobAction[], RegExp] => [
      `an award together with ${effect}`,
      changed('awardJob', { effects: [...award.effects, effect] }),
      new RegExp(`awardJob awards the job together with ${effect}`),
    ]),
    [
      'a price of more than one statement',
      changed('publishJob', { effects: [...publish.effects, 'rejectLiveBids'] }),
      /publishJob charges beside other statements/,
    ],
    [
      'bids on a job that takes none',
      changed('submitBid', { from: ['open', 'awarded'] }),
      /submitBid makes a bid on a job that takes none/,
    ],
    [
      'live bids on a job that is open no more',
      changed('cancelJob', { effects: ['releaseHolds'] }),
      /cancelJob leaves live bids on a job that is cancelled/,
    ],
    [
      'a dispute that begins where none is',
      changed('disputeJob', { to: 'in_progress' }),
      /disputeJob begins a dispute and leads to in_progress, which is in none/,
    ],
    [
      'a dispute that begins in another',
      changed('escalateJob', { effects: ['beginDispute'] }),
      /escalateJob begins a dispute in the midst of one/,
    ],
    [
      'bids on budgets that may fall',
      changed('publishJob', { effects: [] }),
      /publishJob leads to open without keepBudgets/,
    ],
    [
      'work without the date that it is held to',
      changed('checkInJob', { effects: [] }),
      /checkInJob leads to in_progress without keepCompletionDate/,
    ],
    [
      'a dispute that nothing begins',
      changed('escalateJob', { from: ['disputed', 'in_review'] }),
      /escalateJob leads into a dispute that nothing began/,
    ],
    [
      'states that lead to each other and are not led to',
      changed('escalateJob', { to: 'completed' }),
      /to escalated\n.*to decision_reached\n.*to appealed/,
    ],
    [
      'states that only lead to each other',
      changed('finalizeAppeal', { to: 'decision_reached' }),
      /no way leads from decision_reached to an end\n.*from appealed/,
    ],
    [
      'a state that leads to itself alone',
      changed('fileAppeal', { to: 'decision_reached' }),
      /no way leads from decision_reached to an end/,
    ],
    [
      'a state in which a job can be edited and no more',
      jobsAreLeftIn('in_progress'),
      /no way leads from in_progress to an end/,
    ],
  ])('refuses %s', (_fault, rows, description) => {
    expect(() => checkLifecycle(rows)).toThrow(description);
  });

  const bids = (change: Partial<BidTransition>) =>
    BID_TRANSITION_LIST.map((row) => (row.operation === 'viewBid' ? { ...row, ...change } : row));

  test.each<[fault: string, change: Partial<BidTransition>, description: RegExp]>([
    ['one action twice', { action: 'REJECT' }, /the action of a bid "REJECT"/],
    ['one address twice', { path: 'reject' }, /the address of a bid "POST \/reject"/],
    ['one event twice', { event: 'bid.withdrawn' }, /the event "bid.withdrawn"/],
  ])('refuses %s among bids', (_fault, change, description) => {
    expect(() => checkLifecycle(JOB_ACTION_LIST, bids(change))).toThrow(description);
  });

  test('refuses a bid that is viewed twice or becomes new again', () => {
    expect(() => checkLifecycle(JOB_ACTION_LIST, bids({ from: ['viewed'] }))).toThrow(
      /viewBid leads from viewed to itself/,
    );
    expect(() => checkLifecycle(JOB_ACTION_LIST, bids({ to: 'pending', from: ['viewed'] }))).toThrow(
      /viewBid makes a bid new again/,
    );
  });

  test('names every fault at once', () => {
    expect(() => checkLifecycle(changed('awardJob', { action: publish.action, path: publish.path }))).toThrow(
      /action.*\n.*address/,
    );
  });
});

describe('lifecycleDiagram', () => {
  test('says what people have reviewed, word for word', () => {
    const reviewed = readFileSync(new URL('../../schema/lifecycle.md', import.meta.url), 'utf8');
    expect(lifecycleDiagram(), 'Run: npm run contracts').toBe(reviewed);
  });

  test('draws every transition but the one that would cross out the picture', () => {
    const page = lifecycleDiagram();
    const drawn = JOB_ACTION_LIST.filter(isTransition).filter((row) => row.operation !== 'completeJob');
    for (const row of drawn)
      for (const state of row.from) expect(page).toContain(`  ${state} --> ${row.to} : ${row.operation} (${row.by})\n`);
    expect(page).toContain('  note left of completed : completeJob (admin) leads here from every state but the ends\n');
    expect(page).toContain(
      '  disputed --> disputed : resolveDispute (parties), until the other party names the same resolution\n',
    );
  });

  test('draws one arrow for all the reasons that lead a bid from one state to another', () => {
    const page = lifecycleDiagram();
    const reasons = 'rejectBid (owner), or award names another bid, or the job is completed or cancelled';
    for (const state of states.LIVE_BID_STATES)
      expect(page.split(`  ${state} --> rejected : `)[1]?.split('\n')[0]).toBe(reasons);
    expect(page).toContain('  viewed --> accepted : award names the bid\n');
  });

  test('gives every operation a row of as many cells as its head', () => {
    const page = lifecycleDiagram();
    for (const { operation } of [...JOB_ACTION_LIST, ...BID_TRANSITION_LIST])
      expect(page).toContain(`\n| \`${operation}\` | `);
    for (const block of page.split('\n\n').filter((text) => text.startsWith('|'))) {
      expect(new Set(block.split('\n').map((line) => line.split('|').length)).size).toBe(1);
    }
  });

  test('leaves nothing undefined', () => {
    const page = lifecycleDiagram();
    expect(page).not.toMatch(/undefined|\| null|\[object/);
  });
});

/** All that leads out of this state, but for an admin and an edit, starts elsewhere instead. */
function jobsAreLeftIn(state: JobState): JobAction[] {
  return JOB_ACTION_LIST.map((row) =>
    isTransition(row) && row.operation !== 'completeJob'
      ? { ...row, from: row.from.filter((left) => left !== state) }
      : row,
  );
}

function inOrder(states: readonly JobState[]): JobState[] {
  return JOB_STATES.filter((state) => states.includes(state));
}

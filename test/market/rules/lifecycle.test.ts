import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as lifecycle from '../../../src/market/rules/lifecycle.js';
import * as states from '../../../src/market/rules/states.js';
import type { BidState, JobState } from '../../../src/market/rules/states.js';
import { BID_ACTION_LIST, BID_ACTIONS } from '../../../src/market/rules/bids.js';
import { jobDenial } from '../../../src/market/rules/policies.js';
import { EVENT_DESCRIPTIONS, EVENT_TYPES } from '../../../src/market/rules/events.js';
import { lifecycleDiagram } from '../../contracts/printers/lifecycle-diagram.js';
import { editableFields } from '../../../src/market/rules/jobs/editing.js';
import * as specified from '../../story/specified.js';
import { JOB_ACTION_KEYS, OPERATIONS_ON_JOBS } from '../../story/specified.js';
import { carla, kitchen } from './people.js';

const { statesAllowing, isTransition, JOB_ACTION_LIST, JOB_TRANSITIONS } = lifecycle;
const { JOB_STATES } = states;

test.each(JOB_ACTION_KEYS)('%s is what the specification says', (key) => {
  const { operation, path, actor, from, to, event } = lifecycle.JOB_ACTIONS[key];
  const { from: leaving, ...row } = OPERATIONS_ON_JOBS[key];
  expect({ operation, path, actor, to, event }).toEqual(row);
  expect(inOrder(from)).toEqual(inOrder(leaving));
});

test.each(JOB_ACTION_KEYS)(
  'after changes were requested, %s is allowed in the states that the specification says',
  (key) => {
    expect(statesAllowing(lifecycle.JOB_ACTIONS[key])).toEqual(inOrder(specified.statesAllowing(key)));
    expect(statesAllowing(lifecycle.JOB_ACTIONS[key], { afterChanges: true })).toEqual(
      inOrder(specified.statesAllowing(key, 'after changes')),
    );
  },
);

test('there are no other operations on a job, and no other states', () => {
  expect(Object.keys(lifecycle.JOB_ACTIONS)).toEqual(JOB_ACTION_KEYS);
  expect(JOB_STATES).toEqual(specified.STATES);
});

test.each(specified.STATES)('a job that is %s is in the phase that the specification says', (state) => {
  for (const phase of Object.keys(states.JOB_PHASES) as states.JobPhase[])
    expect(states.isIn(phase, state), phase).toBe(specified.isIn(phase, state));
});

test('a job goes from phase to phase in one order', () => {
  expect(Object.keys(states.JOB_PHASES)).toEqual(['unpublished', 'bidding', 'award', 'work', 'end']);
});

test('a job may lack what publishing requires while it is a draft, and once Ada has completed one', () => {
  expect(lifecycle.STATES_WITHOUT_PUBLICATION).toEqual(['draft', 'completed']);
});

test('a job is in dispute if the specification says so', () => {
  expect(states.STATES_IN_DISPUTE).toEqual(specified.STATES_IN_DISPUTE);
});

/** The same for bids, from decision 7. */
const SPECIFIED_OF_BIDS: [operation: string, path: string, actor: string, from: BidState[], to: BidState | 'stays'][] =
  [
    ['viewBid', 'view', 'owner', ['pending'], 'viewed'],
    ['shortlistBid', 'shortlist', 'owner', ['pending', 'viewed'], 'shortlisted'],
    ['rejectBid', 'reject', 'owner', ['pending', 'viewed', 'shortlisted'], 'rejected'],
    ['withdrawBid', 'withdraw', 'bidder', ['pending', 'viewed', 'shortlisted'], 'withdrawn'],
    ['reviseBid', '', 'bidder', ['pending', 'viewed', 'shortlisted'], 'stays'],
  ];

test.each(SPECIFIED_OF_BIDS)('%s is what was decided', (operation, path, actor, from, to) => {
  expect(BID_ACTION_LIST.find((row) => row.operation === operation)).toMatchObject({ path, actor, from, to });
});

test('there are no other operations on a bid, and no states that nothing leads to', () => {
  expect(BID_ACTION_LIST.map((row) => row.operation)).toEqual(SPECIFIED_OF_BIDS.map(([operation]) => operation));
  expect(states.BID_STATES).toEqual(['pending', 'viewed', 'shortlisted', 'accepted', 'rejected', 'withdrawn']);
});

test("every operation's name in uppercase is its action", () => {
  for (const [key, row] of Object.entries(lifecycle.JOB_ACTIONS))
    expect(row.action).toBe(key.replaceAll(/[A-Z]/g, '_$&').toUpperCase());
  for (const [key, row] of Object.entries(BID_ACTIONS)) expect(row.action).toBe(key.toUpperCase());
});

test("Ada completing a completed job is allowed and changes nothing; she can't complete a canceled one", () => {
  expect(statesAllowing(JOB_TRANSITIONS.complete)).toContain('completed');
  expect(JOB_TRANSITIONS.complete.from).not.toContain('completed');
  expect(statesAllowing(JOB_TRANSITIONS.complete)).not.toContain('cancelled');
});

test('a job can be updated exactly in the states with an editable field', () => {
  expect(inOrder(lifecycle.OTHER_JOB_ACTIONS.update.from)).toEqual(
    JOB_STATES.filter((status) => editableFields({ status, changeRequestCount: 0 }).length > 0),
  );
});

test('each event type is in the list once, including the first proposal of a resolution', () => {
  expect([...EVENT_TYPES].sort()).toEqual(
    [
      'job.created',
      'job.resolution_proposed',
      ...Object.values(OPERATIONS_ON_JOBS).map(({ event }) => event),
      ...['accepted', 'rejected', 'restored', 'revised', 'shortlisted', 'stake_released', 'viewed', 'withdrawn'].map(
        (word) => `bid.${word}`,
      ),
      ...['reminded', 'expired', 'auto_approved', 'auto_escalated', 'decision_stood'].map((word) => `job.${word}`),
    ].sort(),
  );
});

test('each event type, and nothing else, is described in a sentence', () => {
  expect(Object.keys(EVENT_DESCRIPTIONS).sort()).toEqual([...EVENT_TYPES].sort());
  for (const sentence of Object.values(EVENT_DESCRIPTIONS)) expect(sentence).toMatch(/^[A-Z].{15,}\.$/);
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
  const known = { isOwnerSuspended: false, isEmailUndoPending: false };
  const denial = jobDenial('submitBid', { ...known, viewer: carla, job: kitchen('open'), ownBids });
  expect(denial?.code).toBe(may ? undefined : 'DUPLICATE_BID');
});

test('Carla may bid ten times on the same job', () => {
  const known = { isOwnerSuspended: false, isEmailUndoPending: false, viewer: carla, job: kitchen('open') };
  const after = (bids: number) => jobDenial('submitBid', { ...known, ownBids: Array(bids).fill('withdrawn') });
  expect(after(9)).toBeUndefined();
  expect(after(10)).toMatchObject({
    code: 'INVALID_TRANSITION',
    message: 'You have already bid on this job 10 times.',
  });
});

test("a bid is live while it waits for Hannah's choice", () => {
  expect(states.LIVE_BID_STATES).toEqual(['pending', 'viewed', 'shortlisted']);
});

describe('lifecycleDiagram', () => {
  test('says what people have reviewed, word for word', () => {
    const reviewed = readFileSync(new URL('../../../schema/lifecycle.md', import.meta.url), 'utf8');
    expect(lifecycleDiagram(), 'Run: npm run contracts').toBe(reviewed);
  });

  test('draws every transition except the one that would cross out the picture', () => {
    const page = lifecycleDiagram();
    const drawn = JOB_ACTION_LIST.filter(isTransition).filter((row) => row.operation !== 'completeJob');
    for (const row of drawn)
      for (const state of row.from)
        expect(page).toMatch(
          new RegExp(
            `  ${state} --> ${row.to} : ${row.operation} \\(${row.actor}\\)(, unless changes were requested)?\n`,
          ),
        );
    expect(page).toContain('  in_progress --> cancelled : cancelJob (owner), unless changes were requested\n');
    expect(page).toContain('  in_progress --> disputed : disputeJob (owner), after changes were requested\n');
    const note = 'completeJob (admin) leads here from every state except the final ones';
    expect(page).toContain(`  note left of completed : ${note}\n`);
    expect(page).toContain(
      '  disputed --> disputed : resolveDispute (parties), until the other party sends the same resolution\n',
    );
  });

  test('draws one arrow for all the reasons that lead a bid from one state to another', () => {
    const page = lifecycleDiagram();
    const reasons = 'rejectBid (owner), or another bid is awarded, or the job is completed or cancelled';
    for (const state of states.LIVE_BID_STATES)
      expect(page.split(`  ${state} --> rejected : `)[1]?.split('\n')[0]).toBe(reasons);
    expect(page).toContain('  viewed --> accepted : the bid is awarded\n');
    expect(page).toContain('  accepted --> withdrawn : the contractor declines the award\n');
    expect(page).toContain('  accepted --> rejected : the homeowner reopens the job\n');
    for (const state of states.LIVE_BID_STATES) {
      expect(page).toContain(`  rejected --> ${state} : the award that rejected the bid is declined or taken back\n`);
      expect(page).toContain(`  ${state} --> ${state} : reviseBid (bidder)\n`);
    }
  });

  test('gives every operation a section with its address, actor, states, and event', () => {
    const page = lifecycleDiagram();
    for (const row of [...JOB_ACTION_LIST, ...BID_ACTION_LIST]) {
      const section = page.split(`\n### ${row.operation}\n`)[1]?.split('\n##')[0] ?? '';
      expect(section).toContain(row.description);
      for (const word of ['REST', 'Who', 'From', 'To', 'Event']) expect(section).toContain(`\n- ${word}: `);
      for (const state of row.from) expect(section).toContain(`\`${state}\``);
      expect(section).toContain(`\`${row.event}\``);
    }
  });

  test('leaves nothing undefined', () => {
    const page = lifecycleDiagram();
    expect(page).not.toMatch(/undefined|\| null|\[object/);
  });
});

function inOrder(states: readonly JobState[]): JobState[] {
  return JOB_STATES.filter((state) => states.includes(state));
}

/** Checks the lifecycle's rows against each other and against the phases of the states. */
import { describe, expect, it, test } from 'vitest';
import { BID_ACTION_LIST } from '../../../src/market/rules/bids.js';
import { EFFECT_DESCRIPTIONS, sentenceOf, type Effect } from '../../../src/market/rules/jobs/effects.js';
import {
  isTransition,
  JOB_ACTION_LIST,
  leavesEveryState,
  type JobAction,
} from '../../../src/market/rules/lifecycle.js';
import * as states from '../../../src/market/rules/states.js';
import type { JobPhase, JobState } from '../../../src/market/rules/states.js';

const { AWARDED_JOB_STATES, INITIAL_BID_STATE, INITIAL_JOB_STATE, isIn, isInDispute, isTerminal } = states;
const PHASES = Object.keys(states.JOB_PHASES);
const TRANSITIONS = JOB_ACTION_LIST.filter(isTransition);
/** Ending any unfinished job doesn't show that a state can be reached, or that it has a regular way out. */
const NORMAL_FLOW = TRANSITIONS.filter((row) => !leavesEveryState(row));

const isBidding = (state: JobState) => isIn('bidding', state);
const isAwarded = (state: JobState) => AWARDED_JOB_STATES.includes(state);
const phaseOf = (state: JobState) => PHASES.indexOf(states.JOB_STATE_ROWS[state].phase);
/** True if the award falls through. No other row leads back to an earlier phase. */
const endsAward = ({ operation }: JobAction) => operation === 'declineAward' || operation === 'reopenJob';
const addressOf = ({ method, path }: { method?: string; path: string }) => `${method ?? 'POST'} /${path}`;

test('no two rows share an operation, an event, an action, or an address', () => {
  const all = [...JOB_ACTION_LIST, ...BID_ACTION_LIST];
  expectDistinct(all.map((row) => row.operation));
  expectDistinct([...all, ...TRANSITIONS.flatMap((row) => row.mayKeepState ?? [])].map((row) => row.event));
  for (const rows of [JOB_ACTION_LIST, BID_ACTION_LIST]) {
    expectDistinct(rows.map((row) => row.action));
    expectDistinct(rows.map(addressOf));
  }
});

test('every state can be reached without an admin who ends the job', () => {
  const reached = new Set<JobState>([INITIAL_JOB_STATE]);
  // Iterating over a set also visits values added during the loop.
  for (const state of reached) for (const row of NORMAL_FLOW) if (row.from.includes(state)) reached.add(row.to);
  expect(states.JOB_STATES.filter((state) => !reached.has(state))).toEqual([]);
});

test('a path leads from every state to an end', () => {
  const ending = new Set<JobState>(states.TERMINAL_JOB_STATES);
  for (const state of ending)
    for (const row of NORMAL_FLOW) if (row.to === state) for (const left of row.from) ending.add(left);
  expect(states.JOB_STATES.filter((state) => !ending.has(state))).toEqual([]);
});

describe.each(JOB_ACTION_LIST.map((row): [string, JobAction] => [row.operation, row]))('%s', (_operation, row) => {
  it('leaves no final state, except that an operation that keeps the state may follow one', () => {
    expect(row.from).not.toEqual([]);
    if (row.to !== 'stays') expect(row.from.filter(isTerminal)).toEqual([]);
  });

  it('has effects that the documents describe, each once', () => {
    expectDistinct(row.effects);
    expect(row.effects.filter((effect) => !(effect in EFFECT_DESCRIPTIONS))).toEqual([]);
  });

  if (!isTransition(row)) return;
  const { from, to, effects } = row;
  const enters = (phase: JobPhase) => isIn(phase, to) && !from.every((state) => isIn(phase, state));

  it('leads to another state, and to an earlier phase only if the award falls through', () => {
    expect(from).not.toContain(to);
    expect(from.some((state) => phaseOf(state) > phaseOf(to))).toBe(endsAward(row));
    expect([to]).toEqual(expect.arrayContaining([...(row.alreadyDoneIn ?? [])]));
  });

  it('settles the live bids if it ends the bidding, and only then', () => {
    const settles = effects.includes('rejectLiveBids') || effects.includes('awardBid');
    expect(settles).toBe(from.some(isBidding) && !isBidding(to));
  });

  it('releases the holds if it ends the job', () => {
    expect(isTerminal(to) && !effects.includes('releaseHolds')).toBe(false);
  });

  it('awards the job if it leads into the awarded states, and only then', () => {
    expect(effects.includes('awardBid')).toBe(isAwarded(to) && !from.every(isAwarded));
  });

  it('takes the award back and restores the other bids if it leads back to the bidding, and only then', () => {
    expect(effects.includes('restoreBids')).toBe(endsAward(row));
    expect(effects.includes('withdrawAwardedBid') || effects.includes('rejectAwardedBid')).toBe(endsAward(row));
    if (endsAward(row)) expect([from, to]).toEqual([['awarded'], 'open']);
  });

  it('keeps the bases of edits in the phase that it enters. A job that returns to the bidding already has them', () => {
    expect(enters('bidding')).toBe(effects.includes('keepBudgets') || endsAward(row));
    expect(enters('work') && !effects.includes('keepCompletionDate')).toBe(false);
  });

  it('starts a dispute if it leads into one from outside, and only then', () => {
    expect(effects.includes('beginDispute')).toBe(isInDispute(to) && !from.every(isInDispute));
    if (effects.includes('beginDispute')) expect(from.filter(isInDispute)).toEqual([]);
  });
});

test("an operation's other effects follow its sentence, if it has any", () => {
  expect(sentenceOf([])).toBe('');
  expect(sentenceOf(['makeBid', 'stakeHold'])).toBe(
    ' A pending bid is created. A guaranteed view puts a hold on the staked tokens.',
  );
});

test('bids are only made in states that allow live bids', () => {
  const making = JOB_ACTION_LIST.filter(({ effects }) => (effects as readonly Effect[]).includes('makeBid'));
  expect(making.flatMap(({ from }) => from).filter((state) => !isBidding(state))).toEqual([]);
});

test.each(JOB_ACTION_LIST)('$operation changes only other states after changes were requested', (row) => {
  const { from, fromAfterChanges = [], notAfterChanges = [] } = row;
  expect(fromAfterChanges.filter((state) => from.includes(state))).toEqual([]);
  expect(notAfterChanges.filter((state) => !from.includes(state))).toEqual([]);
});

test.each(BID_ACTION_LIST)('$operation changes a live bid, and never makes one new', ({ from, to }) => {
  expect(from).not.toEqual([]);
  expect(from).not.toContain(to);
  expect(to).not.toBe(INITIAL_BID_STATE);
});

function expectDistinct(names: readonly string[]): void {
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
}

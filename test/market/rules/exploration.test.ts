/**
 * What the policies allow in combination. Every viewer with every combination of facts tries every operation in every
 * state. These rules must hold whatever row or condition is added later.
 */
import { describe, expect, test } from 'vitest';
import { JOB_TRANSITIONS, type JobTransitionKey } from '../../../src/market/rules/lifecycle.js';
import { jobDenial, type PolicyInput } from '../../../src/market/rules/policies.js';
import { INITIAL_JOB_STATE, JOB_STATES, type BidState, type JobState } from '../../../src/market/rules/states.js';
import { newId } from '../../../src/market/store/new-id.js';
import { ada, carla, cyrus, hannah, hugo, kitchen } from './people.js';

const BOTH = [false, true];
const eventId = newId('event');

/** The values of each fact that make a difference. */
const POSSIBLE = {
  viewer: [hannah, hugo, carla, cyrus, ada].flatMap((viewer) =>
    BOTH.map((mustVerifyEmail) => ({ ...viewer, mustVerifyEmail })),
  ),
  ownBids: [[], ['withdrawn'], ['pending']] as BidState[][],
  isOwnerSuspended: BOTH,
  isEmailDisputed: BOTH,
  availableTokens: [0, 1_000],
  bidsToAward: [0, 1],
  standingProposal: [null, { eventId, by: hannah.userId }, { eventId, by: carla.userId }],
  reviewWindow: [null, 'used', 'over', 'open'] as const,
};

const INPUTS = Object.entries(POSSIBLE).reduce<Omit<PolicyInput, 'job'>[]>(
  (inputs, [name, values]) => inputs.flatMap((input) => values.map((value) => ({ ...input, [name]: value }))),
  [{} as PolicyInput],
);

function whoCan(key: JobTransitionKey, state: JobState): PolicyInput | undefined {
  const job = kitchen(state);
  return INPUTS.map((input) => ({ ...input, job })).find((input) => !jobDenial(key, input));
}

const KEYS = Object.keys(JOB_TRANSITIONS) as JobTransitionKey[];
const LED_TO = new Map(
  JOB_STATES.map((state) => [
    state,
    KEYS.filter((key) => whoCan(key, state)).map((key): JobState => JOB_TRANSITIONS[key].to),
  ]),
);

/** The states that a job can reach from this one, through any allowed operations. */
function statesFrom(start: JobState): JobState[] {
  const reached = new Set([start]);
  // Iterating over a set also visits values added during the loop.
  for (const state of reached) for (const next of LED_TO.get(state) ?? []) reached.add(next);
  return JOB_STATES.filter((state) => reached.has(state));
}

describe('through allowed operations only', () => {
  test('a draft can reach every state', () => {
    expect(statesFrom(INITIAL_JOB_STATE)).toEqual(JOB_STATES);
  });

  test('Hannah can cancel her job until the work is in review', () => {
    expect(JOB_STATES.filter((state) => whoCan('cancel', state))).toEqual(['open', 'awarded', 'in_progress']);
    expect(whoCan('cancel', 'in_progress')?.viewer.homeownerId).toBe(hannah.homeownerId);
  });

  // If review could lead back to a state where she can cancel, she could cancel finished work.
  test('nobody can cancel a job that has ever been in review', () => {
    const afterReview = statesFrom('in_review');
    expect(afterReview).toEqual(expect.arrayContaining(['in_review', 'completed', 'disputed', 'appealed']));
    expect(afterReview.filter((state) => whoCan('cancel', state))).toEqual([]);
    expect(afterReview).not.toContain('cancelled');
  });
});

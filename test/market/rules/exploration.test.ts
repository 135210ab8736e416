/**
 * What the policies allow in combination. Every viewer with every combination of facts tries every operation in every
 * state, and the clock does what it can. These rules must hold whatever row or condition is added later.
 */
import { describe, expect, test } from 'vitest';
import { CLOCK_TRANSITIONS } from '../../../src/market/rules/jobs/deadlines.js';
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
  isEmailUndoPending: BOTH,
  availableTokens: [0, 1_000],
  bidsToAward: [0, 1],
  standingProposal: [null, { eventId, by: hannah.userId }, { eventId, by: carla.userId }],
  reviewWindow: [null, 'used', 'over', 'open'] as const,
};

const INPUTS = Object.entries(POSSIBLE).reduce<PolicyInput[]>(
  (inputs, [name, values]) => inputs.flatMap((input) => values.map((value) => ({ ...input, [name]: value }))),
  [{} as PolicyInput],
);

/** A job's state, and the number of times that its work was sent back for changes. */
interface Place {
  readonly state: JobState;
  readonly changeRequestCount: number;
}

/** Sets the job in each input instead of copying the inputs, which would take most of the test's time. */
function whoCan(key: JobTransitionKey, { state, changeRequestCount }: Place): PolicyInput | undefined {
  const job = { ...kitchen(state), changeRequestCount };
  return INPUTS.find((input) => !jobDenial(key, Object.assign(input, { job })));
}

const KEYS = Object.keys(JOB_TRANSITIONS) as JobTransitionKey[];
const PLACES = JOB_STATES.flatMap((state) => [0, 1, 2, 3].map((changeRequestCount) => ({ state, changeRequestCount })));
const nameOf = ({ state, changeRequestCount }: Place) => `${state} ${changeRequestCount}`;
const LED_TO = new Map(PLACES.map((place) => [nameOf(place), KEYS.filter((key) => whoCan(key, place))]));

/** The places that a job can reach from this one, through any allowed operations and through the clock. */
function placesFrom(start: Place): Place[] {
  const reached = new Map([[nameOf(start), start]]);
  // Iterating over a map also visits entries added during the loop.
  for (const [name, { state, changeRequestCount }] of reached) {
    const byPeople = (LED_TO.get(name) ?? []).map((key) => ({
      state: JOB_TRANSITIONS[key].to,
      changeRequestCount: changeRequestCount + Number(key === 'requestChanges'),
    }));
    const byClock = Object.values(CLOCK_TRANSITIONS)
      .filter(({ from }) => from === state)
      .map(({ to }) => ({ state: to, changeRequestCount }));
    for (const next of [...byPeople, ...byClock]) reached.set(nameOf(next), next);
  }
  return [...reached.values()];
}

const statesAmong = (places: readonly Place[]) =>
  JOB_STATES.filter((state) => places.some((place) => place.state === state));
const fresh = (state: JobState): Place => ({ state, changeRequestCount: 0 });

describe('through allowed operations and the clock', () => {
  test('a draft can reach every state, and changes can be requested three times', () => {
    const places = placesFrom(fresh(INITIAL_JOB_STATE));
    expect(statesAmong(places)).toEqual(JOB_STATES);
    expect(Math.max(...places.map(({ changeRequestCount }) => changeRequestCount))).toBe(3);
  });

  test('Hannah can cancel her job until the work is in review', () => {
    expect(JOB_STATES.filter((state) => whoCan('cancel', fresh(state)))).toEqual(['open', 'awarded', 'in_progress']);
    expect(whoCan('cancel', fresh('in_progress'))?.viewer.homeownerId).toBe(hannah.homeownerId);
  });

  // Requested changes lead back to a state where she could cancel, and then she could cancel finished work.
  test('nobody can cancel a job that has ever been in review', () => {
    const afterReview = placesFrom(fresh('in_review'));
    expect(statesAmong(afterReview)).toEqual(
      expect.arrayContaining(['in_progress', 'in_review', 'completed', 'disputed', 'appealed']),
    );
    expect(afterReview.filter((place) => whoCan('cancel', place))).toEqual([]);
    expect(statesAmong(afterReview)).not.toContain('cancelled');
  });

  test('an award can fall through only before the work has started', () => {
    const started = placesFrom(fresh('in_progress'));
    expect(statesAmong(started)).not.toContain('open');
    expect(started.filter((place) => whoCan('declineAward', place) ?? whoCan('reopen', place))).toEqual([]);
  });
});

/** Run at every start: tables that contradict themselves are refused before they can meet a job. */
import { BID_TRANSITION_LIST, type BidTransition } from './bids.js';
import { EFFECTS, type Effect } from './effects.js';
import { isOneStatement, isTransition, JOB_ACTION_LIST } from './lifecycle.js';
import type { JobAction, JobTransition } from './lifecycle.js';
import {
  AWARDED_JOB_STATES,
  INITIAL_BID_STATE,
  INITIAL_JOB_STATE,
  isIn,
  isInDispute,
  isTerminal,
  JOB_PHASES,
  JOB_STATE_ROWS,
  JOB_STATES,
  TERMINAL_JOB_STATES,
} from './states.js';
import type { JobPhase, JobState } from './states.js';

/** Other tables than the real ones are for the tests. */
export function checkLifecycle(
  jobActions: readonly JobAction[] = JOB_ACTION_LIST,
  bidTransitions: readonly BidTransition[] = BID_TRANSITION_LIST,
): void {
  const transitions = jobActions.filter(isTransition);
  const normalFlow = transitions.filter((row) => !leavesEveryState(row));
  const faults = [
    ...repeatedNames(jobActions, bidTransitions),
    ...jobActions.filter((row) => row.from.length === 0).map((row) => `${row.operation} leaves no state`),
    ...unreachable(normalFlow),
    ...deadEnds(normalFlow),
    ...exitsFromTheEnd(jobActions),
    ...standingStill(transitions, bidTransitions),
    ...brokenPhases(transitions, jobActions),
    ...brokenDisputes(transitions),
    ...notExecuted(transitions),
  ];
  if (faults.length > 0) throw new Error(`The lifecycle contradicts itself:\n- ${faults.join('\n- ')}`);
}

/**
 * An operation outside the normal flow. It shows neither that a state can be reached nor that it has a proper way out.
 */
export function leavesEveryState(row: JobAction): boolean {
  return JOB_STATES.every((state) => isTerminal(state) || row.from.includes(state));
}

function repeatedNames(jobActions: readonly JobAction[], bidTransitions: readonly BidTransition[]): string[] {
  const everything = [...jobActions, ...bidTransitions];
  const stays = jobActions.filter(isTransition).flatMap((row) => (row.mayKeepState ? [row.mayKeepState.event] : []));
  return [
    ...repeated(
      'action of a job',
      jobActions.map((row) => row.action),
    ),
    ...repeated(
      'action of a bid',
      bidTransitions.map((row) => row.action),
    ),
    ...repeated(
      'operation',
      everything.map((row) => row.operation),
    ),
    ...repeated('event', [...everything.map((row) => row.event), ...stays]),
    ...repeated('address of a job', jobActions.map(addressOf)),
    ...repeated('address of a bid', bidTransitions.map(addressOf)),
  ];
}

function repeated(kind: string, names: string[]): string[] {
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [...new Set(twice)].map((name) => `the ${kind} "${name}" is that of more than one row`);
}

function addressOf(row: { readonly method?: string; readonly path: string }): string {
  return `${row.method ?? 'POST'} /${row.path}`;
}

// Iterating over a set also visits what is added to it meanwhile.

function unreachable(transitions: readonly JobTransition[]): string[] {
  const reached = new Set<JobState>([INITIAL_JOB_STATE]);
  for (const state of reached) {
    for (const row of transitions) if (row.from.includes(state)) reached.add(row.to);
  }
  return JOB_STATES.filter((state) => !reached.has(state)).map(
    (state) => `no way leads from ${INITIAL_JOB_STATE} to ${state}`,
  );
}

function deadEnds(transitions: readonly JobTransition[]): string[] {
  const ending = new Set<JobState>(TERMINAL_JOB_STATES);
  for (const state of ending) {
    const leadingHere = transitions.filter((row) => row.to === state).flatMap((row) => row.from);
    for (const one of leadingHere) ending.add(one);
  }
  return JOB_STATES.filter((state) => !ending.has(state)).map((state) => `no way leads from ${state} to an end`);
}

function exitsFromTheEnd(jobActions: readonly JobAction[]): string[] {
  return jobActions.flatMap((row) =>
    row.from.filter(isTerminal).map((state) => `${row.operation} leaves ${state}, which is an end`),
  );
}

/** A call that changes nothing must say so: in `alreadyDoneIn`, and nowhere else. */
function standingStill(transitions: readonly JobTransition[], bidTransitions: readonly BidTransition[]): string[] {
  const circles = [
    ...transitions.filter((row) => row.from.includes(row.to)),
    ...bidTransitions.filter((row) => row.from.includes(row.to)),
  ];
  return [
    ...circles.map((row) => `${row.operation} leads from ${row.to} to itself`),
    ...transitions.filter(isDoneElsewhere).map((row) => `${row.operation} is done already elsewhere than in ${row.to}`),
    ...bidTransitions
      .filter((row) => row.to === INITIAL_BID_STATE)
      .map((row) => `${row.operation} makes a bid new again`),
  ];
}

/** What a phase promises of its states, each transition into it brings about. */
function brokenPhases(transitions: readonly JobTransition[], jobActions: readonly JobAction[]): string[] {
  const faults = (isFaulty: (row: JobTransition) => boolean, what: (row: JobTransition) => string) =>
    transitions.filter(isFaulty).map((row) => `${row.operation} ${what(row)}`);
  const bidsElsewhere = jobActions.filter((row) => row.effects.includes('makeBid') && !row.from.every(isBidding));
  return [
    ...bidsElsewhere.map((row) => `${row.operation} makes a bid on a job that takes none`),
    ...faults(goesBack, ({ to }) => `leads back to ${to}, which is in an earlier phase`),
    ...faults(leavesLiveBids, ({ to }) => `leaves live bids on a job that is ${to}`),
    ...faults(leavesHolds, () => 'ends a job and releases no holds'),
    ...faults(awardsNothing, ({ to }) => `leads to ${to} without an award`),
    ...faults(takesNoBase('bidding', 'keepBudgets'), ({ to }) => `leads to ${to} without keepBudgets`),
    ...faults(takesNoBase('work', 'keepCompletionDate'), ({ to }) => `leads to ${to} without keepCompletionDate`),
  ];
}

/** A job is in dispute from the transition that begins the dispute on. */
function brokenDisputes(transitions: readonly JobTransition[]): string[] {
  return transitions.flatMap(({ operation, from, to, effects }) => {
    const begins = effects.includes('beginDispute');
    if (begins && from.some(isInDispute)) return [`${operation} begins a dispute in the midst of one`];
    if (begins && !isInDispute(to)) return [`${operation} begins a dispute and leads to ${to}, which is in none`];
    if (!begins && isInDispute(to) && !from.every(isInDispute))
      return [`${operation} leads into a dispute that nothing began`];
    return [];
  });
}

function goesBack({ from, to }: JobTransition): boolean {
  return from.some((state) => !isTerminal(state) && phaseAt(state) > phaseAt(to));
}

function phaseAt(state: JobState): number {
  return Object.keys(JOB_PHASES).indexOf(JOB_STATE_ROWS[state].phase);
}

function leavesLiveBids({ from, to, effects }: JobTransition): boolean {
  return from.some(isBidding) && !isBidding(to) && !SETTLING_BIDS.some((effect) => effects.includes(effect));
}

function leavesHolds({ to, effects }: JobTransition): boolean {
  return isTerminal(to) && !effects.includes('releaseHolds');
}

function awardsNothing({ from, to, effects }: JobTransition): boolean {
  return isAwarded(to) && !from.every(isAwarded) && !effects.includes('setAwardedBid');
}

/** Whether a row leads into a phase, whose edits are measured by what the effect keeps, without that effect. */
function takesNoBase(phase: JobPhase, effect: Effect): (row: JobTransition) => boolean {
  return ({ from, to, effects }) =>
    isIn(phase, to) && !from.every((state) => isIn(phase, state)) && !effects.includes(effect);
}

function isBidding(state: JobState): boolean {
  return isIn('bidding', state);
}

function isAwarded(state: JobState): boolean {
  return AWARDED_JOB_STATES.includes(state);
}

/** A row may name effects that no move executes together: they would be promised, and would not happen. */
function notExecuted(transitions: readonly JobTransition[]): string[] {
  const awards = transitions.filter(({ effects }) => AWARD.some((part) => effects.includes(part)));
  const charges = transitions.filter(({ effects }) => effects.includes('chargePublishing'));
  return [
    ...awards.flatMap(({ operation, effects }) =>
      AWARD.filter((part) => !effects.includes(part)).map((part) => `${operation} awards the job without ${part}`),
    ),
    ...awards.flatMap(({ operation, effects }) =>
      effects.filter(notWithAnAward).map((effect) => `${operation} awards the job together with ${effect}`),
    ),
    ...charges
      .filter((row) => !isOneStatement(row))
      .map(({ operation }) => `${operation} charges beside other statements`),
  ];
}

function notWithAnAward(effect: Effect): boolean {
  return effect === 'chargePublishing' || EFFECTS[effect].by === 'statements';
}

/** These a move executes all at once. Statements that are sent with it still read the job as it was before. */
const AWARD = ['acceptBid', 'rejectOtherBids', 'setAwardedBid'] as const satisfies readonly Effect[];

const SETTLING_BIDS = ['rejectLiveBids', 'rejectOtherBids'] as const;

function isDoneElsewhere(row: JobTransition): boolean {
  return row.alreadyDoneIn?.some((state) => state !== row.to) === true;
}

/** Run at every start: tables that contradict themselves are refused before they can meet a job. */
import { BID_TRANSITION_LIST, type BidTransition } from './bids.js';
import {
  INITIAL_BID_STATE,
  INITIAL_JOB_STATE,
  isTerminal,
  isTransition,
  JOB_ACTION_LIST,
  JOB_STATES,
} from './lifecycle.js';
import type { JobAction, JobState, JobTransition } from './lifecycle.js';

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
    ...leftBehind(transitions, jobActions),
  ];
  if (faults.length > 0) throw new Error(`The lifecycle contradicts itself:\n- ${faults.join('\n- ')}`);
}

/**
 * An operation outside the normal flow. It proves neither that a state can be reached nor that it has a proper way out.
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

function unreachable(transitions: readonly JobTransition[]): string[] {
  const reached = new Set<JobState>([INITIAL_JOB_STATE]);
  // Iterating over a set also visits what is added to it meanwhile.
  for (const state of reached) {
    for (const row of transitions) if (row.from.includes(state)) reached.add(row.to);
  }
  return JOB_STATES.filter((state) => !reached.has(state)).map(
    (state) => `no way leads from ${INITIAL_JOB_STATE} to ${state}`,
  );
}

function deadEnds(transitions: readonly JobTransition[]): string[] {
  const hasExit = (state: JobState) => transitions.some((row) => row.from.includes(state) && row.to !== state);
  return JOB_STATES.filter((state) => !isTerminal(state) && !hasExit(state)).map(
    (state) => `nothing leads out of ${state}`,
  );
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

/** No hold outlives its job, and live bids exist only where bids are made. */
function leftBehind(transitions: readonly JobTransition[], jobActions: readonly JobAction[]): string[] {
  const withLiveBids = jobActions.filter((row) => row.effects.includes('makeBid')).flatMap((row) => row.from);
  const leavesBids = (row: JobTransition) =>
    row.from.some((state) => withLiveBids.includes(state)) &&
    !withLiveBids.includes(row.to) &&
    !SETTLING_BIDS.some((effect) => row.effects.includes(effect));
  const leavesHolds = (row: JobTransition) => isTerminal(row.to) && !row.effects.includes('releaseHolds');
  return [
    ...transitions.filter(leavesBids).map((row) => `${row.operation} leaves live bids on a job that is ${row.to}`),
    ...transitions.filter(leavesHolds).map((row) => `${row.operation} ends a job and releases no holds`),
  ];
}

const SETTLING_BIDS = ['rejectLiveBids', 'rejectOtherBids'] as const;

function isDoneElsewhere(row: JobTransition): boolean {
  return row.alreadyDoneIn?.some((state) => state !== row.to) === true;
}

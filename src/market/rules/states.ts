/** The states of jobs and bids, and what is true of a job in each of them, whatever led there. */

/**
 * The phases of a job's life. A job never returns to an earlier phase, but may move back and forth within one. What is
 * true of a phase is true of each of its states. The checks of the jobs table, refunds, and limits on edits depend on
 * the phase.
 */
export const JOB_PHASES = {
  unpublished: 'Only its owner sees it, and it may lack what publishing asks for.',
  bidding: 'It is published and not awarded: live bids may wait on it, and nowhere else.',
  award: 'One bid is accepted, and all others are settled; the work has not begun.',
  work: 'The work has begun, from where on the completion date may move only so far.',
  end: 'Nothing leads on, and no hold is active; it is awarded if it was so before.',
} as const;
export type JobPhase = keyof typeof JOB_PHASES;

interface JobStateRow {
  readonly phase: JobPhase;
  readonly description: string;
  /** True if a dispute or an appeal is waiting to be settled. */
  readonly inDispute?: true;
}

/** Every state in documentation order, with its meaning for the job. */
export const JOB_STATE_ROWS = {
  draft: { phase: 'unpublished', description: 'Being written; only its owner sees it.' },
  open: { phase: 'bidding', description: 'Visible to contractors, who may bid.' },
  awarded: { phase: 'award', description: 'Given to one bid; the work has not begun.' },
  in_progress: { phase: 'work', description: 'The contractor is at work.' },
  in_review: { phase: 'work', description: 'The work is done and waits for the homeowner’s review.' },
  completed: { phase: 'end', description: 'Ended well, or ended by agreement, ruling or an admin.' },
  disputed: {
    phase: 'work',
    inDispute: true,
    description: 'The homeowner does not accept the work; the parties may still settle it.',
  },
  escalated: { phase: 'work', inDispute: true, description: 'Waiting for an admin’s decision.' },
  decision_reached: { phase: 'work', inDispute: true, description: 'Decided by an admin; the contractor may appeal.' },
  appealed: { phase: 'work', inDispute: true, description: 'Waiting for the final ruling.' },
  cancelled: { phase: 'end', description: 'Called off by the homeowner.' },
} as const satisfies Record<string, JobStateRow>;
export type JobState = keyof typeof JOB_STATE_ROWS;
export const JOB_STATES = Object.keys(JOB_STATE_ROWS) as [JobState, ...JobState[]];
export const INITIAL_JOB_STATE = 'draft' satisfies JobState;

export function isIn(phase: JobPhase, state: JobState): boolean {
  return JOB_STATE_ROWS[state].phase === phase;
}

export function statesIn(...phases: JobPhase[]): readonly JobState[] {
  return JOB_STATES.filter((state) => phases.includes(JOB_STATE_ROWS[state].phase));
}

export const TERMINAL_JOB_STATES = statesIn('end');
export const UNFINISHED_JOB_STATES = statesIn('unpublished', 'bidding', 'award', 'work');
/** Doesn't include ends, which may come with or without an award. */
export const AWARDED_JOB_STATES = statesIn('award', 'work');

export function isTerminal(state: JobState): boolean {
  return isIn('end', state);
}

export function isInDispute(state: JobState): boolean {
  return 'inDispute' in JOB_STATE_ROWS[state];
}

export const STATES_IN_DISPUTE = JOB_STATES.filter(isInDispute);

export const BID_STATES = ['pending', 'viewed', 'shortlisted', 'accepted', 'rejected', 'withdrawn'] as const;
export type BidState = (typeof BID_STATES)[number];

export const INITIAL_BID_STATE = 'pending' satisfies BidState;
/** A live bid is still waiting for the homeowner's choice. An award and every end settle it. */
export const LIVE_BID_STATES = ['pending', 'viewed', 'shortlisted'] as const satisfies readonly BidState[];
/** Not counted among its job's bids, and doesn't prevent another bid by its contractor. */
export const UNCOUNTED_BID_STATE = 'withdrawn' satisfies BidState;
export const COUNTED_BID_STATES: readonly BidState[] = BID_STATES.filter((state) => state !== UNCOUNTED_BID_STATE);

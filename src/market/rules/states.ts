/** The states of jobs and bids, and the properties of a job in each state, no matter how it got there. */

/**
 * A job returns to an earlier phase only if its award falls through, but it can move back and forth within a phase. The
 * checks of the jobs table, refunds, and the limits on edits depend on the phase.
 */
export const JOB_PHASES = {
  unpublished: 'Only its owner can see the job. Fields that publishing requires may be missing.',
  bidding: 'The job is published but not awarded. Only in this phase can a job have live bids.',
  award: 'One bid is accepted, and all others are settled. The work hasn’t started.',
  work: 'The work has started. From now on, the completion date can move only by a limited number of days.',
  end: 'The status can’t change anymore, and no hold is active. An awarded job stays awarded.',
} as const;
export type JobPhase = keyof typeof JOB_PHASES;

interface JobStateRow {
  readonly phase: JobPhase;
  /** Refusals use this noun phrase for a job in this state. */
  readonly noun: string;
  readonly description: string;
  /** True if a dispute or an appeal is waiting for a decision. */
  readonly inDispute?: true;
}

/** The states are in documentation order. */
export const JOB_STATE_ROWS = {
  draft: {
    phase: 'unpublished',
    noun: 'a draft',
    description: 'Not published yet. Only the owner and admins can see it.',
  },
  open: { phase: 'bidding', noun: 'an open job', description: 'Published. Contractors can bid on it.' },
  awarded: {
    phase: 'award',
    noun: 'an awarded job',
    description: 'The homeowner has chosen a bid. The work hasn’t started.',
  },
  in_progress: { phase: 'work', noun: 'a job in progress', description: 'The contractor is working.' },
  in_review: {
    phase: 'work',
    noun: 'a job in review',
    description: 'The work is finished and waiting for the homeowner’s review.',
  },
  completed: {
    phase: 'end',
    noun: 'a completed job',
    description: 'Approved, settled in a dispute, or completed by an admin.',
  },
  disputed: {
    phase: 'work',
    noun: 'a disputed job',
    inDispute: true,
    description: 'The homeowner rejected the work. The parties can still settle the dispute.',
  },
  escalated: {
    phase: 'work',
    noun: 'an escalated job',
    inDispute: true,
    description: 'Waiting for an admin’s decision.',
  },
  decision_reached: {
    phase: 'work',
    noun: 'a job with a decision',
    inDispute: true,
    description: 'An admin has decided. The contractor can appeal.',
  },
  appealed: {
    phase: 'work',
    noun: 'an appealed job',
    inDispute: true,
    description: 'The contractor has appealed. Waiting for the final ruling.',
  },
  cancelled: {
    phase: 'end',
    noun: 'a cancelled job',
    description: 'Cancelled by the homeowner, or expired because it wasn’t awarded in time.',
  },
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
/** Final states aren't included, because a job can end with or without an award. */
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
/** A live bid waits for the homeowner's choice. Once the job is awarded or ends, none of its bids is live. */
export const LIVE_BID_STATES = ['pending', 'viewed', 'shortlisted'] as const satisfies readonly BidState[];
/** After withdrawing, the contractor can bid on the job again. */
export const UNCOUNTED_BID_STATE = 'withdrawn' satisfies BidState;
export const COUNTED_BID_STATES: readonly BidState[] = BID_STATES.filter((state) => state !== UNCOUNTED_BID_STATE);

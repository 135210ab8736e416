/**
 * The specification of jobs, copied by hand as a second opinion on the rules. Every test that needs an operation's
 * states, callers, or event looks here and not in the rules.
 */
import type { JobField } from '../../src/market/rules/jobs/editing.js';
import type { JobActionKey, JobTransitionKey, AllowedActor } from '../../src/market/rules/lifecycle.js';
import type { JobPhase, JobState } from '../../src/market/rules/states.js';

const PHASES: Readonly<Record<JobState, JobPhase>> = {
  draft: 'unpublished',
  open: 'bidding',
  awarded: 'award',
  in_progress: 'work',
  in_review: 'work',
  completed: 'end',
  disputed: 'work',
  escalated: 'work',
  decision_reached: 'work',
  appealed: 'work',
  cancelled: 'end',
};

export const STATES = Object.keys(PHASES) as readonly JobState[];

/** The states in which a dispute or an appeal waits for a settlement. */
export const STATES_IN_DISPUTE: readonly JobState[] = ['disputed', 'escalated', 'decision_reached', 'appealed'];

export function statesIn(...phases: JobPhase[]): readonly JobState[] {
  return STATES.filter((state) => phases.includes(PHASES[state]));
}

export function isAwarded(state: JobState): boolean {
  return !isIn('unpublished', state) && !isIn('bidding', state);
}

export function isIn(phase: JobPhase, state: JobState): boolean {
  return PHASES[state] === phase;
}

/** The interface's table, and decision 6. */
export const OPERATIONS_ON_JOBS = {
  publish: row('publishJob', 'publish', 'owner', ['draft'], 'open', 'job.published'),
  award: row('awardJob', 'award', 'owner', ['open'], 'awarded', 'job.awarded'),
  declineAward: row('declineAward', 'decline-award', 'awardee', ['awarded'], 'open', 'job.award_declined'),
  reopen: row('reopenJob', 'reopen', 'owner', ['awarded'], 'open', 'job.reopened'),
  checkIn: row('checkInJob', 'checkin', 'awardee', ['awarded'], 'in_progress', 'job.checked_in'),
  submitForReview: row(
    'submitJobForReview',
    'submit-for-review',
    'awardee',
    ['in_progress'],
    'in_review',
    'job.submitted_for_review',
  ),
  approve: row('approveJob', 'approve', 'owner', ['in_review'], 'completed', 'job.approved'),
  requestChanges: row(
    'requestChanges',
    'request-changes',
    'owner',
    ['in_review'],
    'in_progress',
    'job.changes_requested',
  ),
  dispute: row('disputeJob', 'dispute', 'owner', ['in_review'], 'disputed', 'job.disputed'),
  escalate: row('escalateJob', 'escalate', 'parties', ['disputed'], 'escalated', 'job.escalated'),
  resolveDispute: row(
    'resolveDispute',
    'resolve-dispute',
    'parties',
    ['disputed'],
    'completed',
    'job.dispute_resolved',
  ),
  acceptResolution: row(
    'acceptResolution',
    'accept-resolution',
    'parties',
    ['disputed'],
    'completed',
    'job.resolution_accepted',
  ),
  reachDecision: row(
    'reachDecision',
    'reach-decision',
    'admin',
    ['escalated'],
    'decision_reached',
    'job.decision_reached',
  ),
  acceptDecision: row(
    'acceptDecision',
    'accept-decision',
    'awardee',
    ['decision_reached'],
    'completed',
    'job.decision_accepted',
  ),
  fileAppeal: row('fileAppeal', 'file-appeal', 'awardee', ['decision_reached'], 'appealed', 'job.appeal_filed'),
  finalizeAppeal: row('finalizeAppeal', 'finalize-appeal', 'admin', ['appealed'], 'completed', 'job.appeal_finalized'),
  complete: row(
    'completeJob',
    'complete',
    'admin',
    statesIn('unpublished', 'bidding', 'award', 'work'),
    'completed',
    'job.completed',
  ),
  cancel: row('cancelJob', 'cancel', 'owner', ['open', 'awarded', 'in_progress'], 'cancelled', 'job.cancelled'),
  update: row('updateJob', '', 'owner', ['draft', 'open', 'awarded', 'in_progress'], 'stays', 'job.updated'),
  review: row('reviewJob', 'review', 'owner', ['completed'], 'stays', 'job.reviewed'),
  extendDeadline: row(
    'extendDeadline',
    'extend-deadline',
    'extender',
    ['open', 'in_review', 'decision_reached'],
    'stays',
    'job.deadline_extended',
  ),
  delete: row('deleteJob', '', 'owner', ['draft'], 'gone', 'job.deleted'),
  submitBid: row('submitBid', 'bids', 'contractor', ['open'], 'stays', 'bid.submitted'),
} satisfies Record<JobActionKey, SpecifiedRow>;

/** Who can extend the deadline of a job, by state. */
export const EXTENDED_BY: { readonly [State in JobState]?: 'owner' | 'admin' } = {
  open: 'owner',
  in_review: 'owner',
  decision_reached: 'admin',
};

export const JOB_ACTION_KEYS = Object.keys(OPERATIONS_ON_JOBS) as JobActionKey[];

export interface SpecifiedRow {
  readonly operation: string;
  readonly path: string;
  readonly actor: AllowedActor;
  readonly from: readonly JobState[];
  readonly to: JobState | 'stays' | 'gone';
  readonly event: string;
}

function row<Operation extends string, To extends SpecifiedRow['to']>(
  operation: Operation,
  path: string,
  actor: AllowedActor,
  from: readonly JobState[],
  to: To,
  event: string,
): SpecifiedRow & { readonly operation: Operation; readonly to: To } {
  return { operation, path, actor, from, to, event };
}

/** The text inputs of a transition, as GraphQL spells them. Bids, ratings, and proposals aren't text inputs. */
export const TEXTS: Readonly<Record<JobTransitionKey, { readonly required?: string[]; readonly optional?: string[] }>> =
  {
    publish: {},
    award: {},
    declineAward: { optional: ['reason'] },
    reopen: { optional: ['reason'] },
    checkIn: { optional: ['notes'] },
    submitForReview: { optional: ['completionNotes'] },
    approve: { optional: ['review'] },
    requestChanges: { required: ['reason'] },
    dispute: { required: ['reason'], optional: ['details'] },
    escalate: { required: ['escalationReason'] },
    resolveDispute: { required: ['resolution'], optional: ['agreedBy'] },
    acceptResolution: {},
    reachDecision: { required: ['decision', 'ruling'], optional: ['resolutionTerms'] },
    acceptDecision: {},
    fileAppeal: { required: ['appealReason'], optional: ['supportingEvidence'] },
    finalizeAppeal: { required: ['finalDecision', 'ruling'] },
    complete: { required: ['reason'] },
    cancel: { optional: ['reason'] },
  };

export const JOB_TRANSITION_KEYS = Object.keys(TEXTS) as JobTransitionKey[];

/** A name in REST's spelling. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A name as `availableActions` spells it. */
export function actionName(key: JobActionKey): string {
  return key.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
}

/** The fields of a job that an edit may change, by state. In other states, none. */
export const EDITABLE: { readonly [State in JobState]?: 'all' | readonly JobField[] } = {
  draft: 'all',
  open: [
    'title',
    'description',
    'budgetMin',
    'budgetMax',
    'urgency',
    'desiredStartDate',
    'desiredCompletionDate',
    'requirements',
  ],
  awarded: ['desiredStartDate', 'desiredCompletionDate', 'requirements'],
  in_progress: ['desiredCompletionDate', 'requirements'],
};

/** A job's requirements can't change after its owner has requested changes. */
export const NOT_EDITABLE_AFTER_CHANGES: readonly JobField[] = ['requirements'];

/** What changes for the rest of a job's life when its owner requests changes. */
const AFTER_CHANGES: { readonly [Key in JobActionKey]?: { also?: readonly JobState[]; not?: readonly JobState[] } } = {
  dispute: { also: ['in_progress'] },
  cancel: { not: ['in_progress'] },
};

/**
 * The states in which a call succeeds, before or after the owner has requested changes. Completing a completed job
 * succeeds and changes nothing.
 */
export function statesAllowing(key: JobActionKey, when: 'before changes' | 'after changes' = 'before changes') {
  const { from } = OPERATIONS_ON_JOBS[key];
  const states: readonly JobState[] = key === 'complete' ? [...from, 'completed'] : from;
  if (when === 'before changes') return states;
  const { also = [], not = [] } = AFTER_CHANGES[key] ?? {};
  return [...states.filter((state) => !not.includes(state)), ...also];
}

/** The operations that lead to a state. */
export type Transition = Extract<(typeof OPERATIONS_ON_JOBS)[JobActionKey], { readonly to: JobState }>['operation'];

/** What the clock does to a job when a deadline passes, by event. */
export const CLOCK_STEPS: Readonly<Record<string, readonly [from: JobState, to: JobState]>> = {
  'job.expired': ['open', 'cancelled'],
  'job.auto_approved': ['in_review', 'completed'],
  'job.auto_escalated': ['disputed', 'escalated'],
  'job.decision_stood': ['decision_reached', 'completed'],
};

/** The states with reminders. Work in progress has them only after its owner has requested changes. */
const REMINDED_STATES: readonly JobState[] = [
  ...Object.values(CLOCK_STEPS).map(([from]) => from),
  'awarded',
  'in_progress',
  'escalated',
  'appealed',
];

/** Each legal change from one state to another, by event. A first proposal doesn't settle anything yet. */
export const LEGAL_STEPS: readonly (readonly [event: string, from: JobState | null, to: JobState | null])[] = [
  ['job.created', null, 'draft'],
  ['job.resolution_proposed', 'disputed', 'disputed'],
  ...Object.values(OPERATIONS_ON_JOBS)
    .filter(({ event }) => event.startsWith('job.'))
    .flatMap(({ event, from, to }) => from.map((state) => [event, state, reached(to, state)] as const)),
  ['job.disputed', 'in_progress', 'disputed'],
  ...Object.entries(CLOCK_STEPS).map(([event, [from, to]]) => [event, from, to] as const),
  ...REMINDED_STATES.map((state) => ['job.reminded', state, state] as const),
];

function reached(to: SpecifiedRow['to'], from: JobState): JobState | null {
  if (to === 'gone') return null;
  return to === 'stays' ? from : to;
}

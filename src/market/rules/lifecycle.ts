/**
 * What people can do to a job, as data. The clock's transitions are in `jobs/deadlines.ts`, and the states in
 * `states.ts`. `availableActions`, the documents, and the tests that move jobs through all states are generated from
 * this file, `states.ts`, and `bids.ts`. `test/market/rules/lifecycle-rows.test.ts` checks that the rows fit together,
 * and `test/contracts/actions.test.ts` checks that they match the routes' paths.
 */
import type { Effect, TransitionEffect } from './jobs/effects.js';
import type { RefusalCode } from './errors.js';
import {
  BIDS_ON_ONE_JOB_MAX,
  CHANGE_REQUESTS_MAX,
  JOB_VERSIONS_MAX,
  PROPOSALS_MAX,
  REOPENINGS_MAX,
  REVIEW_DAYS_MAX,
} from './market-limits.js';
import { INITIAL_JOB_STATE, isIn, isTerminal, JOB_STATES, UNFINISHED_JOB_STATES, type JobState } from './states.js';

/** `ALLOWED_ACTORS` in `parties.ts` defines who each of these actors is. */
export type AllowedActor = 'owner' | 'awardee' | 'parties' | 'bidder' | 'contractor' | 'admin' | 'extender';

export interface Action<Event extends string = string> {
  /** The action's spelling in `availableActions` and in the GraphQL enum. */
  readonly action: string;
  /** The operation's name, which is also the name of its GraphQL mutation. */
  readonly operation: string;
  /** The last part of the REST path, after the job's or bid's path. Empty if it's the job's or bid's own path. */
  readonly path: string;
  readonly method?: 'PUT' | 'DELETE'; // The HTTP method. Defaults to POST.
  readonly actor: AllowedActor;
  readonly event: Event;
  /** The participle that completes the sentence “Only an open job can be …”. */
  readonly participle: string;
  readonly description: string;
}

interface ActionOnJob<Event extends string = string> extends Action<Event> {
  readonly from: readonly JobState[];
  /** The states that allow the operation only after the homeowner has requested changes. */
  readonly fromAfterChanges?: readonly JobState[];
  /** The states in `from` that no longer allow the operation after the homeowner has requested changes. */
  readonly notAfterChanges?: readonly JobState[];
  /** The error code that a call gets in any other state. Defaults to INVALID_TRANSITION. */
  readonly codeInOtherStates?: RefusalCode;
  /** The operation's effects in addition to the state change, in documentation order. */
  readonly effects: readonly Effect[];
}

export interface JobTransition<Event extends string = string> extends ActionOnJob<Event> {
  readonly to: JobState;
  readonly effects: readonly TransitionEffect[];
  /**
   * If this is set, a call may also keep the job in its state. Such a call is recorded as this event instead of the
   * row's own event.
   */
  readonly mayKeepState?: { readonly event: Event; readonly until: string };
  /** In these states, a call succeeds and changes nothing. */
  readonly alreadyDoneIn?: readonly JobState[];
}

export interface OtherJobAction extends ActionOnJob {
  readonly to: 'stays' | 'gone';
}

export type JobAction = JobTransition | OtherJobAction;

export const JOB_TRANSITIONS = {
  publish: {
    action: 'PUBLISH',
    operation: 'publishJob',
    path: 'publish',
    from: ['draft'],
    to: 'open',
    actor: 'owner',
    event: 'job.published',
    participle: 'published',
    description: 'The homeowner publishes the draft to contractors.',
    effects: ['chargePublishing', 'keepBudgets'],
  },
  award: {
    action: 'AWARD',
    operation: 'awardJob',
    path: 'award',
    from: ['open'],
    to: 'awarded',
    actor: 'owner',
    event: 'job.awarded',
    participle: 'awarded',
    description: 'The homeowner awards the job to one bid.',
    effects: ['awardBid'],
  },
  declineAward: {
    action: 'DECLINE_AWARD',
    operation: 'declineAward',
    path: 'decline-award',
    from: ['awarded'],
    to: 'open',
    actor: 'awardee',
    event: 'job.award_declined',
    participle: 'declined',
    description: 'The awarded contractor declines the job before starting it. The job is open again.',
    effects: ['withdrawAwardedBid', 'restoreBids'],
  },
  reopen: {
    action: 'REOPEN',
    operation: 'reopenJob',
    path: 'reopen',
    from: ['awarded'],
    to: 'open',
    actor: 'owner',
    event: 'job.reopened',
    participle: 'reopened',
    description:
      'The homeowner takes the award back before the work has started. This reopens the job. They can do ' +
      `this up to ${REOPENINGS_MAX} times per job.`,
    effects: ['rejectAwardedBid', 'restoreBids'],
  },
  checkIn: {
    action: 'CHECK_IN',
    operation: 'checkInJob',
    path: 'checkin',
    from: ['awarded'],
    to: 'in_progress',
    actor: 'awardee',
    event: 'job.checked_in',
    participle: 'started',
    description: 'The awarded contractor starts the work.',
    effects: ['keepCompletionDate'],
  },
  submitForReview: {
    action: 'SUBMIT_FOR_REVIEW',
    operation: 'submitJobForReview',
    path: 'submit-for-review',
    from: ['in_progress'],
    to: 'in_review',
    actor: 'awardee',
    event: 'job.submitted_for_review',
    participle: 'submitted for review',
    description: 'The awarded contractor submits the finished work for review.',
    effects: [],
  },
  approve: {
    action: 'APPROVE',
    operation: 'approveJob',
    path: 'approve',
    from: ['in_review'],
    to: 'completed',
    actor: 'owner',
    event: 'job.approved',
    participle: 'approved',
    description: 'The homeowner accepts the work, which completes the job.',
    effects: ['releaseHolds', 'creditContractor', 'addRating', 'keepReview'],
  },
  requestChanges: {
    action: 'REQUEST_CHANGES',
    operation: 'requestChanges',
    path: 'request-changes',
    from: ['in_review'],
    to: 'in_progress',
    actor: 'owner',
    event: 'job.changes_requested',
    participle: 'sent back for changes',
    description:
      'The homeowner asks the contractor to fix something before approving the work. They can do this ' +
      `up to ${CHANGE_REQUESTS_MAX} times per job.`,
    effects: ['countChangeRequest'],
  },
  dispute: {
    action: 'DISPUTE',
    operation: 'disputeJob',
    path: 'dispute',
    from: ['in_review'],
    fromAfterChanges: ['in_progress'],
    to: 'disputed',
    actor: 'owner',
    event: 'job.disputed',
    participle: 'disputed',
    description:
      'The homeowner disputes the work instead of approving it. After they have requested changes, they can also ' +
      'dispute work in progress.',
    effects: ['beginDispute'],
  },
  escalate: {
    action: 'ESCALATE',
    operation: 'escalateJob',
    path: 'escalate',
    from: ['disputed'],
    to: 'escalated',
    actor: 'parties',
    event: 'job.escalated',
    participle: 'escalated',
    description: 'Either party asks an admin to decide the dispute.',
    effects: ['lapseProposal'],
  },
  resolveDispute: {
    action: 'RESOLVE_DISPUTE',
    operation: 'resolveDispute',
    path: 'resolve-dispute',
    from: ['disputed'],
    to: 'completed',
    actor: 'parties',
    event: 'job.dispute_resolved',
    participle: 'settled',
    mayKeepState: { event: 'job.resolution_proposed', until: 'the other party sends the same resolution' },
    description:
      'Either party proposes a resolution. Once both have sent the same one, the job is completed. A dispute can ' +
      `have up to ${PROPOSALS_MAX} proposals.`,
    effects: ['releaseHolds'],
  },
  acceptResolution: {
    action: 'ACCEPT_RESOLUTION',
    operation: 'acceptResolution',
    path: 'accept-resolution',
    from: ['disputed'],
    to: 'completed',
    actor: 'parties',
    event: 'job.resolution_accepted',
    participle: 'settled',
    description: 'The other party accepts the current proposal, which completes the job.',
    effects: ['releaseHolds'],
  },
  reachDecision: {
    action: 'REACH_DECISION',
    operation: 'reachDecision',
    path: 'reach-decision',
    from: ['escalated'],
    to: 'decision_reached',
    actor: 'admin',
    event: 'job.decision_reached',
    participle: 'decided',
    description: 'An admin decides an escalated dispute.',
    effects: [],
  },
  acceptDecision: {
    action: 'ACCEPT_DECISION',
    operation: 'acceptDecision',
    path: 'accept-decision',
    from: ['decision_reached'],
    to: 'completed',
    actor: 'awardee',
    event: 'job.decision_accepted',
    participle: 'completed by accepting the decision',
    description:
      'The awarded contractor accepts the decision. The job is completed, without credit for the contractor.',
    effects: ['releaseHolds'],
  },
  fileAppeal: {
    action: 'FILE_APPEAL',
    operation: 'fileAppeal',
    path: 'file-appeal',
    from: ['decision_reached'],
    to: 'appealed',
    actor: 'awardee',
    event: 'job.appeal_filed',
    participle: 'appealed',
    description: 'The awarded contractor appeals the decision.',
    effects: [],
  },
  finalizeAppeal: {
    action: 'FINALIZE_APPEAL',
    operation: 'finalizeAppeal',
    path: 'finalize-appeal',
    from: ['appealed'],
    to: 'completed',
    actor: 'admin',
    event: 'job.appeal_finalized',
    participle: 'ruled on',
    description: 'An admin makes the final ruling on an appeal, which completes the job.',
    effects: ['releaseHolds'],
  },
  complete: {
    action: 'COMPLETE',
    operation: 'completeJob',
    path: 'complete',
    to: 'completed',
    actor: 'admin',
    event: 'job.completed',
    participle: 'completed',
    from: UNFINISHED_JOB_STATES,
    alreadyDoneIn: ['completed'],
    description:
      'An admin completes the job outside the normal flow. If the job is in review, the admin can give the ' +
      'contractor credit. If the job is already completed, nothing changes.',
    effects: ['releaseHolds', 'rejectLiveBids', 'lapseProposal', 'creditOnRequest'],
  },
  cancel: {
    action: 'CANCEL',
    operation: 'cancelJob',
    path: 'cancel',
    from: ['open', 'awarded', 'in_progress'],
    notAfterChanges: ['in_progress'],
    to: 'cancelled',
    actor: 'owner',
    event: 'job.cancelled',
    participle: 'cancelled',
    description: 'The homeowner cancels the job. They can’t do this once they have requested changes.',
    effects: ['releaseHolds', 'rejectLiveBids', 'refundPublishing'],
  },
} as const satisfies Record<string, JobTransition>;

export const OTHER_JOB_ACTIONS = {
  update: {
    action: 'UPDATE',
    operation: 'updateJob',
    method: 'PUT',
    path: '',
    from: ['draft', 'open', 'awarded', 'in_progress'],
    to: 'stays',
    actor: 'owner',
    event: 'job.updated',
    participle: 'edited',
    codeInOtherStates: 'FIELD_NOT_EDITABLE',
    description:
      'The homeowner edits the fields that the job’s status allows. Omitted fields are unchanged; null clears a ' +
      'field. If one of the fields can’t be changed, none of them are. A job can change up to ' +
      `${JOB_VERSIONS_MAX.toLocaleString('en-US')} times.`,
    effects: ['chargeRaisedUrgency'],
  },
  review: {
    action: 'REVIEW',
    operation: 'reviewJob',
    path: 'review',
    from: ['completed'],
    to: 'stays',
    actor: 'owner',
    event: 'job.reviewed',
    participle: 'rated',
    description:
      'The homeowner rates approved work that has no rating, even if it was approved automatically. They can do this ' +
      'once, within ' +
      `${REVIEW_DAYS_MAX} days of the job’s completion.`,
    effects: ['addRating', 'keepReview'],
  },
  extendDeadline: {
    action: 'EXTEND_DEADLINE',
    operation: 'extendDeadline',
    path: 'extend-deadline',
    from: ['open', 'in_review', 'decision_reached'],
    to: 'stays',
    actor: 'extender',
    event: 'job.deadline_extended',
    participle: 'given more time',
    description:
      'The homeowner extends the deadline of an open job or of work in review, or an admin extends the deadline of a ' +
      'decision. They can do this once in each status. The reminders are postponed by the same time.',
    effects: [],
  },
  delete: {
    action: 'DELETE',
    operation: 'deleteJob',
    method: 'DELETE',
    path: '',
    from: ['draft'],
    to: 'gone',
    actor: 'owner',
    event: 'job.deleted',
    participle: 'deleted',
    description: 'The homeowner deletes a draft. To end a published job, cancel it instead.',
    effects: [],
  },
  submitBid: {
    action: 'SUBMIT_BID',
    operation: 'submitBid',
    path: 'bids',
    from: ['open'],
    to: 'stays',
    actor: 'contractor',
    event: 'bid.submitted',
    participle: 'bid on',
    description:
      'A contractor bids on an open job. They can have one bid per job. To bid again, they must withdraw it first. ' +
      `They can bid on a job up to ${BIDS_ON_ONE_JOB_MAX} times.`,
    effects: ['makeBid', 'stakeHold'],
  },
} as const satisfies Record<string, OtherJobAction>;

export const JOB_ACTIONS = { ...JOB_TRANSITIONS, ...OTHER_JOB_ACTIONS };

/** Creation isn't one of the actions, because there is no job yet. */
export const JOB_CREATION = {
  operation: 'createJob',
  to: INITIAL_JOB_STATE,
  actor: 'owner',
  event: 'job.created',
} as const;

export type JobTransitionKey = keyof typeof JOB_TRANSITIONS;
export type JobActionKey = keyof typeof JOB_ACTIONS;
/**
 * Types that are keyed by these names require a REST route, a summary, an example, and a mutation for each operation.
 */
export type JobOperationName = (typeof JOB_ACTIONS)[JobActionKey]['operation'];
export type JobTransitionName = (typeof JOB_TRANSITIONS)[JobTransitionKey]['operation'];
export const JOB_ACTION_KEYS = Object.keys(JOB_ACTIONS) as JobActionKey[];
export type JobActionName = (typeof JOB_ACTIONS)[JobActionKey]['action'];

export const JOB_ACTION_LIST: readonly JobAction[] = Object.values(JOB_ACTIONS);

export function isTransition(row: JobAction): row is JobTransition {
  return row.to !== 'stays' && row.to !== 'gone';
}

/** True for an operation outside the normal flow, which is possible in every unfinished state. */
export function leavesEveryState(row: JobAction): boolean {
  return UNFINISHED_JOB_STATES.every((state) => row.from.includes(state));
}

/**
 * In these states, a job may lack what publishing requires. The job is either unpublished or was ended while it was a
 * draft.
 */
export const STATES_WITHOUT_PUBLICATION = JOB_STATES.filter(
  (state) =>
    isIn('unpublished', state) ||
    (isTerminal(state) && JOB_ACTION_LIST.some((row) => row.to === state && row.from.some(isUnpublished))),
);

/** Includes states in which a call changes nothing. */
export function statesAllowing(row: JobAction, { afterChanges = false } = {}): readonly JobState[] {
  const { from, fromAfterChanges = [], notAfterChanges = [] } = row;
  const states = afterChanges
    ? [...from, ...fromAfterChanges].filter((state) => !notAfterChanges.includes(state))
    : from;
  return JOB_STATES.filter(
    (state) => states.includes(state) || (isTransition(row) && row.alreadyDoneIn?.includes(state)),
  );
}

function isUnpublished(state: JobState): boolean {
  return isIn('unpublished', state);
}

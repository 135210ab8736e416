/** The event types, which come from the tables of job actions and bid transitions. */
import { BID_ACTIONS, BID_CONSEQUENCES, BID_RESTORATION } from './bids.js';
import { CLOCK_TRANSITIONS, REMINDER_EVENT, STAKE_DEADLINE } from './jobs/deadlines.js';
import { JOB_ACTIONS, JOB_CREATION } from './lifecycle.js';

export const EVENT_TYPES = [
  ...new Set([
    JOB_CREATION.event,
    ...Object.values(JOB_ACTIONS).flatMap((row) =>
      'mayKeepState' in row ? [row.mayKeepState.event, row.event] : [row.event],
    ),
    REMINDER_EVENT,
    ...[...Object.values(CLOCK_TRANSITIONS), STAKE_DEADLINE].map((row) => row.event),
    ...[...Object.values(BID_ACTIONS), ...Object.values(BID_CONSEQUENCES), BID_RESTORATION].map((row) => row.event),
  ]),
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

const { approve, escalate, standDecision, expire } = CLOCK_TRANSITIONS;

/** What happened. An operation's own description says what it does, and when it's allowed. */
export const EVENT_DESCRIPTIONS: Readonly<Record<EventType, string>> = {
  'job.created': 'The homeowner created a draft.',
  'job.updated': 'The homeowner edited the job.',
  'job.deleted': 'The homeowner deleted the draft.',
  'job.published': 'The homeowner published the draft.',
  'job.awarded': 'The homeowner awarded the job to one of the bids.',
  'job.award_declined': 'The awarded contractor declined the job, so it’s open again.',
  'job.reopened': 'The homeowner took the award back, so the job is open again.',
  'job.checked_in': 'The awarded contractor started the work.',
  'job.submitted_for_review': 'The awarded contractor submitted the finished work for review.',
  'job.changes_requested': 'The homeowner asked the contractor to fix something before approving the work.',
  'job.approved': 'The homeowner approved the work, which completed the job.',
  'job.reviewed': 'The homeowner rated approved work that had no rating yet.',
  'job.cancelled': 'The homeowner cancelled the job.',
  'job.completed': 'An admin completed the job outside the normal flow.',
  'job.disputed': 'The homeowner disputed the work.',
  'job.resolution_proposed':
    'A party proposed a resolution. The job stays disputed until the other party accepts it or sends the same one, ' +
    'or the dispute is escalated.',
  'job.dispute_resolved': 'Both parties sent the same resolution, which completed the job.',
  'job.resolution_accepted': 'The other party accepted the proposal, which completed the job.',
  'job.escalated': 'A party asked an admin to decide the dispute.',
  'job.decision_reached': 'An admin decided the dispute.',
  'job.decision_accepted': 'The awarded contractor accepted the decision, which completed the job without credit.',
  'job.appeal_filed': 'The awarded contractor appealed the decision.',
  'job.appeal_finalized': 'An admin made the final ruling on the appeal, which completed the job.',
  'job.deadline_extended': 'The homeowner or an admin extended the deadline.',
  'job.reminded': 'Someone was reminded of a deadline.',
  [approve.event]: approve.description,
  [escalate.event]: escalate.description,
  [standDecision.event]: standDecision.description,
  [expire.event]: expire.description,
  [STAKE_DEADLINE.event]: STAKE_DEADLINE.description,
  'bid.submitted': 'A contractor bid on the job.',
  'bid.revised': 'The contractor revised the bid.',
  'bid.viewed': 'The homeowner marked the bid as viewed.',
  'bid.shortlisted': 'The homeowner shortlisted the bid.',
  'bid.accepted': 'The homeowner awarded the job to the bid.',
  'bid.rejected': 'The homeowner rejected the bid, awarded another one, or took the award back, or the job ended.',
  'bid.withdrawn': 'The contractor withdrew the bid or declined the award.',
  'bid.restored': 'The award fell through, so the bid has the status that it had before.',
};

/** A job's transitions, one for each lifecycle row. Each transition adds its input and options to the row. */
import { z } from 'zod';
import { disputeFrom, resolutionMove, type ResolutionMove } from '../../rules/jobs/disputes.js';
import type { JobTransitionName } from '../../rules/lifecycle.js';
import { CHANGE_REQUEST_ITEMS_MAX, TEXT } from '../../rules/market-limits.js';
import { publishCost } from '../../rules/jobs/publishing.js';
import { rating, requiredText } from '../../../platform/fields/values.js';
import { idOf } from '../../rules/id-fields.js';
import { optionalText } from '../../../platform/fields/shapes.js';
import type { ReadableJob } from './visible-job.js';
import { transition, type TransitionOutcome } from './run-transition.js';

export interface Publication {
  job: ReadableJob;
  tokensCharged: number;
  remainingBalance: number;
}

export const publishJob = transition('publish', {
  facts: ['availableTokens'],
  answer(job, { job: draft, facts: { availableTokens } }): Publication {
    const tokensCharged = publishCost(draft.urgency);
    return { job, tokensCharged, remainingBalance: availableTokens - tokensCharged };
  },
});

export const awardJob = transition('award', {
  body: {
    bidId: idOf('bid').describe('The bid to award the job to.'),
    expectedBidVersion: z
      .int32()
      .nullish()
      .describe(
        'The version of the bid that you’ve read. Required if the bid was revised. Fails with `STALE_VERSION` if the ' +
          'bid has been revised since this version.',
      ),
  },
});

export const declineAward = transition('declineAward', {
  body: { reason: optionalText(TEXT.note).describe('Why you can’t do the work.') },
});

export const reopenJob = transition('reopen', {
  body: { reason: optionalText(TEXT.note).describe('Why you’re taking the award back.') },
});

export const checkInJob = transition('checkIn', {
  body: { notes: optionalText(TEXT.note).describe('Notes about the start of the work.') },
});

export const submitJobForReview = transition('submitForReview', {
  body: { completionNotes: optionalText(TEXT.note).describe('Notes about the finished work.') },
});

export const approveJob = transition('approve', {
  body: {
    rating: rating.nullish().describe('The rating, from 1 to 5. It counts toward the contractor’s average.'),
    review: optionalText(TEXT.note).describe('A review of the work. Other users can read it.'),
  },
});

export const requestChanges = transition('requestChanges', {
  body: {
    reason: requiredText(TEXT.note).describe('What you want the contractor to change.'),
    items: z
      .array(requiredText(TEXT.line).describe('One thing to change.'))
      .max(CHANGE_REQUEST_ITEMS_MAX)
      .nullish()
      .describe('A checklist for the contractor.'),
  },
});

export const disputeJob = transition('dispute', {
  body: {
    reason: requiredText(TEXT.note).describe('What’s wrong with the work.'),
    details: optionalText(TEXT.note).describe('More details.'),
  },
});

export const escalateJob = transition('escalate', {
  body: { escalationReason: requiredText(TEXT.note).describe('Why the parties can’t settle the dispute themselves.') },
});

export const resolveDispute = transition('resolveDispute', {
  body: {
    resolution: requiredText(TEXT.note).describe(
      'The resolution that you propose. To accept the other party’s proposal, send the same text.',
    ),
    agreedBy: optionalText(TEXT.line).describe(
      'The name of the person agreeing to the resolution, stored as you write it. The name isn’t checked: the ' +
        'proposal always comes from the logged-in user.',
    ),
  },
  facts: ['disputeEvents', 'standingProposal'],
  outcomeOf({ viewer, facts: { disputeEvents } }, { resolution }) {
    const proposal = disputeFrom(disputeEvents)?.proposal ?? null;
    return OUTCOME_OF_MOVE[resolutionMove(proposal, viewer.userId, resolution)];
  },
});

/** After a proposal, the job remains disputed. If a party repeats its own proposal, nothing changes. */
const OUTCOME_OF_MOVE: Readonly<Record<ResolutionMove, TransitionOutcome>> = {
  propose: 'keep',
  counter: 'keep',
  repeat: 'nothing',
  agree: 'move',
};

export const acceptResolution = transition('acceptResolution', {
  body: {
    proposalId: idOf('proposal').describe(
      'The ID of the proposal to accept, from `Dispute.proposal`. If another proposal has replaced it, this fails ' +
        'with `STALE_VERSION`.',
    ),
  },
});

export const acceptDecision = transition('acceptDecision');

export const reachDecision = transition('reachDecision', {
  body: {
    decision: requiredText(TEXT.note).describe('The decision in one sentence.'),
    ruling: requiredText(TEXT.note).describe('The full ruling.'),
    resolutionTerms: optionalText(TEXT.note).describe('What the parties must do.'),
  },
});

export const fileAppeal = transition('fileAppeal', {
  body: {
    appealReason: requiredText(TEXT.note).describe('Why you think the decision is wrong.'),
    supportingEvidence: optionalText(TEXT.note).describe('The evidence for the appeal.'),
  },
});

export const finalizeAppeal = transition('finalizeAppeal', {
  body: {
    finalDecision: requiredText(TEXT.note).describe('The final decision in one sentence.'),
    ruling: requiredText(TEXT.note).describe('The full ruling.'),
  },
});

export const completeJob = transition('complete', {
  body: {
    reason: requiredText(TEXT.note).describe('Why you’re skipping the normal flow.'),
    creditContractor: z
      .boolean()
      .nullish()
      // False is the default and becomes undefined, so an idempotency key treats false and an omitted value the same.
      .transform((credits) => (credits ? true : undefined))
      .describe(
        'True to give the contractor credit for the work. Allowed only for a job in review. Repeating the call ' +
          'changes nothing.',
      ),
  },
});

export const cancelJob = transition('cancel', {
  body: { reason: optionalText(TEXT.note).describe('Why you’re cancelling the job.') },
});

export const TRANSITIONS = {
  publishJob,
  awardJob,
  declineAward,
  reopenJob,
  checkInJob,
  submitJobForReview,
  approveJob,
  requestChanges,
  disputeJob,
  escalateJob,
  resolveDispute,
  acceptResolution,
  reachDecision,
  acceptDecision,
  fileAppeal,
  finalizeAppeal,
  completeJob,
  cancelJob,
} satisfies Record<JobTransitionName, object>;

/** A job's transitions, one for each lifecycle row: the input of each, and what it adds to its row. */
import { z } from 'zod';
import { disputeFrom, resolutionMove, type ResolutionMove } from '../../rules/jobs/disputes.js';
import type { JobTransitionName } from '../../rules/lifecycle.js';
import { TEXT } from '../../rules/market-limits.js';
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

export const awardJob = transition('award', { body: { bidId: idOf('bid').describe('The bid that gets the job.') } });

export const checkInJob = transition('checkIn', {
  body: { notes: optionalText(TEXT.note).describe('What there is to say at the start.') },
});

export const submitJobForReview = transition('submitForReview', {
  body: { completionNotes: optionalText(TEXT.note).describe('What there is to say about the finished work.') },
});

export const approveJob = transition('approve', {
  body: {
    rating: rating.nullish().describe('From 1 to 5; enters the contractor’s average.'),
    review: optionalText(TEXT.note).describe('What others should know about the work.'),
  },
});

export const disputeJob = transition('dispute', {
  body: {
    reason: requiredText(TEXT.note).describe('What is wrong.'),
    details: optionalText(TEXT.note).describe('More about it.'),
  },
});

export const escalateJob = transition('escalate', {
  body: { escalationReason: requiredText(TEXT.note).describe('Why the parties cannot settle it themselves.') },
});

export const resolveDispute = transition('resolveDispute', {
  body: {
    resolution: requiredText(TEXT.note).describe(
      'How to settle it. The same text as the other party’s proposal agrees to it.',
    ),
    agreedBy: optionalText(TEXT.line).describe('Who agrees; kept as it is written. What counts is who is logged in.'),
  },
  facts: ['disputeEvents'],
  outcomeOf({ viewer, facts: { disputeEvents } }, { resolution }) {
    const proposal = disputeFrom(disputeEvents)?.proposal ?? null;
    return OUTCOMES[resolutionMove(proposal, viewer.userId, resolution)];
  },
});

/** A proposal keeps the job disputed. If a party repeats its own proposal, nothing changes. */
const OUTCOMES: Readonly<Record<ResolutionMove, TransitionOutcome>> = {
  propose: 'keep',
  counter: 'keep',
  repeat: 'nothing',
  agree: 'move',
};

export const acceptResolution = transition('acceptResolution', {
  body: {
    proposalId: idOf('proposal').describe(
      'The proposal to accept, from `Dispute.proposal`. If another one has replaced it, you get STALE_VERSION.',
    ),
  },
});

export const acceptDecision = transition('acceptDecision');

export const reachDecision = transition('reachDecision', {
  body: {
    decision: requiredText(TEXT.note).describe('What is decided.'),
    ruling: requiredText(TEXT.note).describe('The ruling in full.'),
    resolutionTerms: optionalText(TEXT.note).describe('What the parties have to do.'),
  },
});

export const fileAppeal = transition('fileAppeal', {
  body: {
    appealReason: requiredText(TEXT.note).describe('Why the decision is wrong.'),
    supportingEvidence: optionalText(TEXT.note).describe('What supports the appeal.'),
  },
});

export const finalizeAppeal = transition('finalizeAppeal', {
  body: {
    finalDecision: requiredText(TEXT.note).describe('What is decided for good.'),
    ruling: requiredText(TEXT.note).describe('The ruling in full.'),
  },
});

export const completeJob = transition('complete', {
  body: {
    reason: requiredText(TEXT.note).describe('Why the normal flow is skipped.'),
    creditContractor: z
      .boolean()
      .nullish()
      // False is the default, so an idempotency key treats an omitted value and false the same.
      .transform((credits) => (credits ? true : undefined))
      .describe(
        'Whether the contractor gets credit for the work. Can be true only for a job in review. Repeating the call ' +
          'changes nothing.',
      ),
  },
});

export const cancelJob = transition('cancel', { body: { reason: optionalText(TEXT.note).describe('Why.') } });

export const TRANSITIONS = {
  publishJob,
  awardJob,
  checkInJob,
  submitJobForReview,
  approveJob,
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

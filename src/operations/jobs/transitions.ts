/**
 * The transitions of a job as operations: one for each row of the lifecycle. Here is what comes with each call, and
 * its sentence, where that says more than its row; a row that is not here takes nothing but the job.
 */
import type { z } from 'zod';
import { resolutionMove, type ResolutionMove } from '../../rules/disputes.js';
import { JOB_TRANSITIONS, type JobTransitionKey } from '../../rules/lifecycle.js';
import { TEXT } from '../../rules/limits.js';
import { idOf, rating, requiredText } from '../../rules/values.js';
import type { Operation } from '../operation.js';
import { optionalText } from '../shapes.js';
import type { Addressed } from './addressed.js';
import { readDisputes } from './disputes.js';
import type { ReadableJob } from './readable.js';
import { transition, type Parts } from './transition.js';
import type { Decision } from './with-effects.js';

export interface Publication {
  job: ReadableJob;
  tokensCharged: number;
  remainingBalance: number;
}

const PARTS = {
  publish: {
    description: 'Publishes a draft: contractors see it from now on, and tokens are charged by urgency.',
    answer: (job, { job: { mostTokensPaid }, available }): Publication => {
      return { job, tokensCharged: mostTokensPaid, remainingBalance: available ?? 0 };
    },
  },
  award: {
    description: 'Awards the job to one bid; the other live bids are rejected.',
    body: { bidId: idOf('bid').describe('The bid that gets the job.') },
  },
  checkIn: {
    description: 'The awarded contractor starts the work.',
    body: { notes: optionalText(TEXT.note).describe('What there is to say at the start.') },
  },
  submitForReview: {
    description: 'The awarded contractor hands the work over for review.',
    body: { completionNotes: optionalText(TEXT.note).describe('What there is to say about the finished work.') },
  },
  approve: {
    description:
      'The homeowner accepts the work: the job is completed, holds are released, and the contractor is credited.',
    body: {
      rating: rating.nullish().describe('From 1 to 5; enters the contractor’s average.'),
      review: optionalText(TEXT.note).describe('What others should know about the work.'),
    },
  },
  dispute: {
    description: 'The homeowner does not accept the work, which begins a dispute.',
    body: {
      reason: requiredText(TEXT.note).describe('What is wrong.'),
      details: optionalText(TEXT.note).describe('More about it.'),
    },
  },
  escalate: {
    description: 'Either party asks an admin to decide the dispute.',
    body: { escalationReason: requiredText(TEXT.note).describe('Why the parties cannot settle it themselves.') },
  },
  resolveDispute: {
    description:
      'Proposes how to settle the dispute, or agrees: the job is completed once both parties have named the ' +
      'same resolution.',
    body: {
      resolution: requiredText(TEXT.note).describe(
        'How to settle it. The same text as the other party’s proposal agrees to it.',
      ),
      agreedBy: optionalText(TEXT.line).describe('Who agrees; kept as it is written. What counts is who is logged in.'),
    },
    async decide(tx, viewer, { id, resolution = '' }) {
      const dispute = (await readDisputes(tx, [id])).get(id);
      return DECISIONS[resolutionMove(dispute?.proposal ?? null, viewer.userId, resolution)];
    },
  },
  reachDecision: {
    description: 'An admin decides an escalated dispute.',
    body: {
      decision: requiredText(TEXT.note).describe('What is decided.'),
      ruling: requiredText(TEXT.note).describe('The ruling in full.'),
      resolutionTerms: optionalText(TEXT.note).describe('What the parties have to do.'),
    },
  },
  fileAppeal: {
    description: 'The awarded contractor appeals against the decision.',
    body: {
      appealReason: requiredText(TEXT.note).describe('Why the decision is wrong.'),
      supportingEvidence: optionalText(TEXT.note).describe('What supports the appeal.'),
    },
  },
  finalizeAppeal: {
    description: 'An admin gives the final ruling, which completes the job; there is no further appeal.',
    body: {
      finalDecision: requiredText(TEXT.note).describe('What is decided for good.'),
      ruling: requiredText(TEXT.note).describe('The ruling in full.'),
    },
  },
  complete: {
    description:
      'Ends a job past the normal flow: holds are released, the contractor gets no credit. On a completed job ' +
      'it changes nothing.',
    body: { reason: requiredText(TEXT.note).describe('Why the normal flow is passed over.') },
  },
  cancel: {
    description:
      'Calls the job off. What was paid for publishing returns only if the job was open and never had a bid.',
    body: { reason: optionalText(TEXT.note).describe('Why.') },
  },
} satisfies PartsOfSome;

/** A proposal keeps the dispute going; repeating one's own changes nothing. */
const DECISIONS: Readonly<Record<ResolutionMove, Decision>> = {
  propose: 'keep',
  counter: 'keep',
  repeat: 'nothing',
  agree: 'move',
};

type PartsOfSome = { readonly [Key in JobTransitionKey]?: Parts };

const partsOf: PartsOfSome = PARTS;

type BodyOf<Key> = Key extends keyof typeof PARTS
  ? (typeof PARTS)[Key] extends { readonly body: infer Shape extends z.ZodRawShape }
    ? z.infer<z.ZodObject<Shape>>
    : object
  : object;

type Transitions = {
  readonly [Key in JobTransitionKey as (typeof JOB_TRANSITIONS)[Key]['operation']]: Operation<
    Addressed & BodyOf<Key>,
    Key extends 'publish' ? Publication : ReadableJob
  >;
};

/** By the names of their operations. */
export const TRANSITIONS = Object.fromEntries(
  (Object.keys(JOB_TRANSITIONS) as JobTransitionKey[]).map((key) => [
    JOB_TRANSITIONS[key].operation,
    transition(key, partsOf[key]),
  ]),
) as unknown as Transitions;

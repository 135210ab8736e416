/**
 * The transitions of a job as operations, one for each row of the lifecycle. This file has the input of each; a row
 * that is missing here takes only the job.
 */
import type { z } from 'zod';
import { resolutionMove, type ResolutionMove } from '../../rules/disputes.js';
import { JOB_TRANSITION_KEYS, JOB_TRANSITIONS, type JobTransitionKey } from '../../rules/lifecycle.js';
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
    answer: (job, { job: { mostTokensPaid }, available }): Publication => {
      return { job, tokensCharged: mostTokensPaid, remainingBalance: available ?? 0 };
    },
  },
  award: { body: { bidId: idOf('bid').describe('The bid that gets the job.') } },
  checkIn: { body: { notes: optionalText(TEXT.note).describe('What there is to say at the start.') } },
  submitForReview: {
    body: { completionNotes: optionalText(TEXT.note).describe('What there is to say about the finished work.') },
  },
  approve: {
    body: {
      rating: rating.nullish().describe('From 1 to 5; enters the contractor’s average.'),
      review: optionalText(TEXT.note).describe('What others should know about the work.'),
    },
  },
  dispute: {
    body: {
      reason: requiredText(TEXT.note).describe('What is wrong.'),
      details: optionalText(TEXT.note).describe('More about it.'),
    },
  },
  escalate: {
    body: { escalationReason: requiredText(TEXT.note).describe('Why the parties cannot settle it themselves.') },
  },
  resolveDispute: {
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
    body: {
      decision: requiredText(TEXT.note).describe('What is decided.'),
      ruling: requiredText(TEXT.note).describe('The ruling in full.'),
      resolutionTerms: optionalText(TEXT.note).describe('What the parties have to do.'),
    },
  },
  fileAppeal: {
    body: {
      appealReason: requiredText(TEXT.note).describe('Why the decision is wrong.'),
      supportingEvidence: optionalText(TEXT.note).describe('What supports the appeal.'),
    },
  },
  finalizeAppeal: {
    body: {
      finalDecision: requiredText(TEXT.note).describe('What is decided for good.'),
      ruling: requiredText(TEXT.note).describe('The ruling in full.'),
    },
  },
  complete: { body: { reason: requiredText(TEXT.note).describe('Why the normal flow is passed over.') } },
  cancel: { body: { reason: optionalText(TEXT.note).describe('Why.') } },
} satisfies PartsOfSome;

/** A proposal keeps the job disputed; a party that repeats its own proposal changes nothing. */
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

/** Keyed by the names of their operations. */
export const TRANSITIONS = Object.fromEntries(
  JOB_TRANSITION_KEYS.map((key) => [JOB_TRANSITIONS[key].operation, transition(key, partsOf[key])]),
) as unknown as Transitions;

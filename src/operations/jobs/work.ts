/** From the award to the homeowner's word on the work. */
import { z } from 'zod';
import { TEXT } from '../../rules/limits.js';
import { creditCompletion } from '../../store/accounts.js';
import { optionalText } from '../shapes.js';
import { endJob } from './ending.js';
import { transition } from './transition.js';

export const checkInJob = transition('checkIn', {
  says: 'The awarded contractor starts the work.',
  body: { notes: optionalText(TEXT.note).describe('What there is to say at the start.') },
});

export const submitJobForReview = transition('submitForReview', {
  says: 'The awarded contractor hands the work over for review.',
  body: { completionNotes: optionalText(TEXT.note).describe('What there is to say about the finished work.') },
});

export const approveJob = transition('approve', {
  says: 'The homeowner accepts the work: the job is completed, holds are released, and the contractor is credited.',
  body: {
    rating: z
      .int()
      .min(1, 'must be from 1 to 5')
      .max(5, 'must be from 1 to 5')
      .nullish()
      .describe('From 1 to 5; enters the contractor’s average.'),
    review: optionalText(TEXT.note).describe('What others should know about the work.'),
  },
  effects(at, { rating }) {
    const { tx, job } = at;
    const { events, beside } = endJob(at);
    const credit =
      job.awardedContractorId === null
        ? []
        : [creditCompletion(tx, { id: job.awardedContractorId, rating: rating ?? null })];
    return { events, beside: [...beside, ...credit] };
  },
});

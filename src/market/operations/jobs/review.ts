/** Rates work that was approved without a rating. This rating counts the same as a rating given with the approval. */
import { z } from 'zod';
import { JOB_ACTIONS } from '../../rules/lifecycle.js';
import { TEXT } from '../../rules/market-limits.js';
import { allowedRoles } from '../../rules/parties.js';
import { factsForPolicies, jobDenial } from '../../rules/policies.js';
import { rating } from '../../../platform/fields/values.js';
import { addRating } from '../../store/accounts/accounts.js';
import { logEvents } from '../../store/events/events.js';
import { factsReader, updateJob } from '../../store/jobs/jobs.js';
import { operation } from '../operation.js';
import { optionalText } from '../../../platform/fields/shapes.js';
import { ofJob } from './inputs.js';
import { assertJobAllowed, lockVisibleJob, readableJob, type ReadableJob } from './visible-job.js';

const readFacts = factsReader((role) => factsForPolicies('review', role));

export const reviewJob = operation({
  name: JOB_ACTIONS.review.operation,
  description: JOB_ACTIONS.review.description,
  allows: allowedRoles(JOB_ACTIONS.review.actor),
  budget: 'write',
  input: z.strictObject({
    ...ofJob,
    rating: rating.describe('The rating, from 1 to 5. It counts toward the contractor’s average.'),
    review: optionalText(TEXT.note).describe(
      'A review of the work. Other users can read it. Omit it to keep the review that you wrote when you approved ' +
        'the job.',
    ),
  }),
  run: ({ db, viewer }, input): Promise<ReadableJob> =>
    db.inTransaction(async (tx) => {
      const lockedJob = await lockVisibleJob(tx, viewer, input, readFacts);
      await assertJobAllowed(lockedJob, jobDenial('review', lockedJob.policyInput));
      const { job } = lockedJob;
      const { awardedContractorId: id, status, version, eventCount } = job;
      if (id === null) throw new Error('An approved job has no awarded contractor.');
      const review = { rating: input.rating, ...(input.review && { review: input.review }) };
      const event = { type: JOB_ACTIONS.review.event, actorId: viewer.userId, fromStatus: status, toStatus: status };
      const [row] = await tx.commitWith(
        updateJob(tx, job, { ...review, version: version + 1, eventCount: eventCount + 1 }),
        logEvents(tx, job, [{ ...event, data: review }]),
        addRating(tx, { id, rating: review.rating }),
      );
      return readableJob(viewer, row);
    }),
});

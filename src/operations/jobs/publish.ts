/** Publishing puts a whole draft before contractors, and charges for how urgent it is. */
import { z } from 'zod';
import { basesAtPublication } from '../../rules/edit-bases.js';
import { refuse } from '../../rules/errors.js';
import { JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import { missingToPublish } from '../../rules/publishing.js';
import { spend, spending } from '../tokens/spending.js';
import { operation } from '../operation.js';
import { findAndLockJob } from './job.js';
import { readableJob, type ReadableJob } from './readable.js';
import { judge, move, ofJob } from './transition.js';

export interface Publication {
  job: ReadableJob;
  tokensCharged: number;
  remainingBalance: number;
}

export const publishJob = operation({
  name: JOB_TRANSITIONS.publish.operation,
  says: 'Publishes a draft: contractors see it from now on, and tokens are charged by urgency.',
  allows: allowedRoles('owner'),
  budget: 'write',
  input: z.strictObject(ofJob),
  run: ({ db, viewer }, input): Promise<Publication> =>
    spending(db, viewer.userId, async (tx) => {
      const { job, ...found } = await findAndLockJob(tx, viewer, input.id);
      judge(JOB_TRANSITIONS.publish, { job, ...found }, input);
      const missing = missingToPublish(job);
      if (missing.length > 0 || job.urgency === null) throw missingFields(missing);

      const { mostTokensPaid: tokensCharged } = basesAtPublication({ ...job, urgency: job.urgency });
      const payment = spend(tx, { userId: viewer.userId, change: -tokensCharged, reason: 'publish', jobId: job.id });
      const published = await move('publish', tx, viewer, input, job.status, { tokensPaid: tokensCharged, data: { tokensCharged }, beside: [payment] });
      const paid = await payment;
      if (!paid) throw new Error('A homeowner has no balance.');
      return { job: readableJob(viewer, published), tokensCharged, remainingBalance: paid.available };
    }),
});

function missingFields(missing: readonly string[]) {
  return refuse('MISSING_FIELDS', {
    message: 'To publish the job, fill in the missing fields first.',
    fields: Object.fromEntries(missing.map((field) => [field, 'is required to publish'])),
  });
}

/** Publishing puts a whole draft before contractors, and charges for how urgent it is. */
import { z } from 'zod';
import { basesAtPublication } from '../../rules/edit-bases.js';
import { refuse } from '../../rules/errors.js';
import { JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import { missingToPublish, REQUIRED_TO_PUBLISH } from '../../rules/publishing.js';
import { asTransfer } from '../../store/ledger.js';
import { publishAsLooked } from '../../store/moves.js';
import { operation } from '../operation.js';
import { withinBalance } from '../tokens/spending.js';
import { asLooked } from './as-looked.js';
import { readableJob, type ReadableJob } from './readable.js';
import { ofJob } from './transition.js';

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
  run: asLooked('publish', {
    look: { fields: [...REQUIRED_TO_PUBLISH, 'budgetMin', 'budgetMax'] },
    decide({ job }) {
      const missing = missingToPublish(job);
      if (missing.length > 0 || job.urgency === null) throw missingFields(missing);
      const { mostTokensPaid: tokensCharged } = basesAtPublication({ ...job, urgency: job.urgency });
      return { tokensCharged, data: { tokensCharged } };
    },
    async move({ db, viewer, values }, { tokensCharged }): Promise<Publication | undefined> {
      const charge = asTransfer(db, { userId: viewer.userId, change: -tokensCharged, reason: 'publish', jobId: values.id });
      const [published] = await withinBalance(tokensCharged, () => publishAsLooked(db, { ...values, ...charge, tokensPaid: tokensCharged }));
      if (!published) return undefined;
      const { moved, changed } = published;
      return { job: readableJob(viewer, moved), tokensCharged, remainingBalance: changed.available };
    },
  }),
});

function missingFields(missing: readonly string[]) {
  return refuse('MISSING_FIELDS', {
    message: 'To publish the job, fill in the missing fields first.',
    fields: Object.fromEntries(missing.map((field) => [field, 'is required to publish'])),
  });
}

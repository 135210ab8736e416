/** Publishing puts a whole draft before contractors, and charges for how urgent it is. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import { missingToPublish, publishCost } from '../../rules/publishing.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../store/database.js';
import { asPayment } from '../../store/ledger.js';
import { publishDraft, selectToPublish } from '../../store/publishing.js';
import { idsOf } from '../../store/visibility.js';
import { operation } from '../operation.js';
import { COVERED } from '../tokens/spending.js';
import { atOnce, type Acting } from './at-once.js';
import { foundBy } from './job.js';
import { readableJob, type ReadableJob } from './readable.js';
import { judge, movement, ofJob, onlyStateBefore, type Addressed } from './transition.js';

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
  run: atOnce({ jobId: ({ id }) => id, act: publish, judge: judgeDraft, mayFailBy: [COVERED] }),
});

async function publish(acting: Acting, input: Addressed): Promise<Publication | undefined> {
  const { db, viewer, beside } = acting;
  const payment = asPayment({ userId: viewer.userId, reason: 'publish', jobId: input.id });
  const [published] = await publishDraft(beside)(
    db,
    Object.assign({}, payment, movement('publish', acting, input, onlyStateBefore('publish'))),
  );
  if (!published) return undefined;
  const { moved, changed } = published;
  db.journal?.charged(viewer.userId, moved.mostTokensPaid, payment.reason);
  return { job: readableJob(viewer, moved), tokensCharged: moved.mostTokensPaid, remainingBalance: changed.available };
}

async function judgeDraft(db: Db, viewer: Viewer, input: Addressed): Promise<void> {
  const [seen] = await selectToPublish(db, { id: input.id, userId: viewer.userId, ...idsOf(viewer) });
  const found = foundBy(viewer, seen);
  judge(JOB_TRANSITIONS.publish, found, input);
  const { urgency } = found.job;
  const missing = missingToPublish(found.job);
  if (missing.length > 0 || urgency === null) throw missingFields(missing);
  const [required, available] = [publishCost(urgency), seen?.available ?? 0];
  if (available < required) throw refuse('INSUFFICIENT_TOKENS', { details: { required, available } });
}

function missingFields(missing: readonly string[]) {
  return refuse('MISSING_FIELDS', {
    message: 'To publish the job, fill in the missing fields first.',
    fields: Object.fromEntries(missing.map((field) => [field, 'is required to publish'])),
  });
}

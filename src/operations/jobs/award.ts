/** Awarding: one bid is accepted, and every other that still hoped is let go. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import { idOf } from '../../rules/values.js';
import type { Viewer } from '../../rules/viewer.js';
import { awardToBid, selectToAward } from '../../store/awarding.js';
import type { Db } from '../../store/database.js';
import { idsOf } from '../../store/visibility.js';
import { operation } from '../operation.js';
import { atOnce, type Acting } from './at-once.js';
import { foundBy } from './job.js';
import { readableJob, type ReadableJob } from './readable.js';
import { judge, movement, ofJob, onlyStateBefore } from './transition.js';

const input = z.strictObject({ ...ofJob, bidId: idOf('bid').describe('The bid that gets the job.') });
type Input = z.infer<typeof input>;

export const awardJob = operation({
  name: JOB_TRANSITIONS.award.operation,
  says: 'Awards the job to one bid; the other live bids are rejected.',
  allows: allowedRoles('owner'),
  budget: 'write',
  input,
  run: atOnce({ jobId: ({ id }) => id, act: award, judge: judgeAward }),
});

async function award(acting: Acting, input: Input): Promise<ReadableJob | undefined> {
  const { db, viewer, beside } = acting;
  const [awarded] = await awardToBid(beside)(db, {
    bidId: input.bidId,
    ...movement('award', acting, input, onlyStateBefore('award')),
  });
  if (!awarded) return undefined;
  if (db.journal) for (const type of awarded.told) db.journal.happened({ type });
  return readableJob(viewer, awarded.job);
}

async function judgeAward(db: Db, viewer: Viewer, { bidId, ...input }: Input): Promise<void> {
  const [seen] = await selectToAward(db, { id: input.id, bidId, ...idsOf(viewer) });
  judge(JOB_TRANSITIONS.award, foundBy(viewer, seen), input);
  if (!seen?.isLive) throw refuse('UNKNOWN_BID', { fields: { bidId: 'is no bid on this job that could be awarded' } });
}

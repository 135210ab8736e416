/** Awarding: one bid is accepted, and every other that still hoped is let go. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { JOB_TRANSITIONS } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import { awardAsLooked } from '../../store/moves.js';
import { operation } from '../operation.js';
import { idInBody } from '../shapes.js';
import { asLooked } from './as-looked.js';
import { tellOfBids } from './ending.js';
import { readableJob } from './readable.js';
import { ofJob } from './transition.js';

const input = z.strictObject({ ...ofJob, bidId: idInBody('bid').describe('The bid that gets the job.') });

export const awardJob = operation({
  name: JOB_TRANSITIONS.award.operation,
  says: 'Awards the job to one bid; the other live bids are rejected.',
  allows: allowedRoles('owner'),
  budget: 'write',
  input,
  run: asLooked('award', {
    look: { fields: [], liveBids: true },
    decide({ viewer, liveBids }, { bidId }: z.infer<typeof input>) {
      const accepted = liveBids.find(({ id }) => id === bidId);
      if (!accepted) throw refuse('UNKNOWN_BID', { fields: { bidId: 'is no bid on this job that could be awarded' } });
      const others = liveBids.filter((bid) => bid !== accepted);
      return { bidId, awardedTo: accepted.contractorId, events: [...tellOfBids(viewer, [accepted], 'accept'), ...tellOfBids(viewer, others, 'passOver')] };
    },
    async move({ db, viewer, values }, { bidId, awardedTo }) {
      const [awarded] = await awardAsLooked(db, { ...values, bidId, awardedTo });
      return awarded && readableJob(viewer, awarded);
    },
  }),
});

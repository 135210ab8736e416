/** Awarding: one bid is accepted, and every other that still hoped is let go. */
import { BID_CONSEQUENCES } from '../../rules/bids.js';
import { refuse } from '../../rules/errors.js';
import { acceptBid } from '../../store/bids.js';
import { idInBody } from '../shapes.js';
import { endLiveBids } from './ending.js';
import { transition } from './transition.js';

export const awardJob = transition('award', {
  says: 'Awards the job to one bid; the other live bids are rejected.',
  body: { bidId: idInBody('bid').describe('The bid that gets the job.') },
  async effects({ tx, viewer, job }, { bidId }) {
    const [accepted] = await acceptBid(tx, { id: bidId, jobId: job.id });
    if (!accepted) throw refuse('UNKNOWN_BID', { fields: { bidId: 'is no bid on this job that could be awarded' } });
    const { contractorId } = accepted;
    const chosen = { type: BID_CONSEQUENCES.accept.event, actorId: viewer.userId, bidderId: contractorId, data: { bidId } };
    const passedOver = await endLiveBids(tx, viewer, job, 'passOver');
    return { bidId, awardedTo: contractorId, events: [chosen, ...passedOver] };
  },
});

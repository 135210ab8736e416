/** Awarding: one bid is accepted, and every other that still hoped is let go. */
import { BID_CONSEQUENCES } from '../../rules/bids.js';
import { refuse } from '../../rules/errors.js';
import { markBid } from '../../store/bids.js';
import { idInBody } from '../shapes.js';
import { endLiveBids, lookAtLiveBids } from './ending.js';
import { transition } from './transition.js';

export const awardJob = transition('award', {
  says: 'Awards the job to one bid; the other live bids are rejected.',
  body: { bidId: idInBody('bid').describe('The bid that gets the job.') },
  look: lookAtLiveBids,
  effects({ tx, viewer, job, looked: live }, { bidId }) {
    const accepted = live.find(({ id }) => id === bidId);
    if (!accepted) throw refuse('UNKNOWN_BID', { fields: { bidId: 'is no bid on this job that could be awarded' } });
    const { contractorId } = accepted;
    const { event, to } = BID_CONSEQUENCES.accept;
    const chosen = { type: event, actorId: viewer.userId, bidderId: contractorId, data: { bidId } };
    const others = endLiveBids(tx, viewer, job, live.filter(({ id }) => id !== bidId), 'passOver');
    return { bidId, awardedTo: contractorId, events: [chosen, ...others.events], beside: [markBid(tx, { id: bidId, to }), ...others.beside] };
  },
});

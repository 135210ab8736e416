/** Views, shortlists, rejects, and withdraws a bid. `market/rules/bids.ts` has the rows. */
import { z } from 'zod';
import { BID_TRANSITIONS, changeOfCounts, type BidTransition, type BidTransitionKey } from '../../rules/bids.js';
import type { BidEffect } from '../../rules/jobs/effects.js';
import type { EventType } from '../../rules/events.js';
import { allowedRoles } from '../../rules/parties.js';
import { assertAllowed, bidDenial } from '../../rules/policies.js';
import { moveBids, type Bid } from '../../store/bids/bids.js';
import { releaseHolds } from '../../store/bids/holds.js';
import type { Transaction } from '../../../platform/db/database.js';
import { logEvents } from '../../store/events/events.js';
import { updateJob } from '../../store/jobs/jobs.js';
import { operation } from '../operation.js';
import { lockBid, ofBid } from './locked-bid.js';

export const viewBid = bidTransition('view');
export const shortlistBid = bidTransition('shortlist');
export const rejectBid = bidTransition('reject');
export const withdrawBid = bidTransition('withdraw');

const EFFECTS: Readonly<Record<BidEffect, (tx: Transaction, bid: Bid) => Promise<unknown>>> = {
  releaseHold: (tx, bid) => (bid.holdId === null ? Promise.resolve() : releaseHolds(tx, [bid.id])),
};

/** Viewers who can't see the bid and viewers who can't change it get the same refusal. */
function bidTransition(key: BidTransitionKey) {
  const row: BidTransition<EventType> = BID_TRANSITIONS[key];
  return operation({
    name: row.operation,
    description: row.description,
    allows: allowedRoles(row.actor),
    budget: 'write',
    input: z.strictObject(ofBid),
    run: ({ db, viewer }, { id, jobId }): Promise<Bid> =>
      db.inTransaction(async (tx) => {
        const lockedBid = await lockBid(tx, viewer, { id, jobId });
        assertAllowed(bidDenial(row, { ...lockedBid, viewer }));
        const { job, bid } = lockedBid;
        const event = { type: row.event, actorId: viewer.userId, bidderId: bid.contractorId, data: { bidId: id } };
        const { liveBids, countedBids } = changeOfCounts(bid.status, row.to);
        const [[after]] = await tx.commitWith(
          moveBids(tx, [id], row.to),
          updateJob(tx, job, {
            liveBidCount: job.liveBidCount + liveBids,
            bidCount: job.bidCount + countedBids,
            eventCount: job.eventCount + 1,
          }),
          logEvents(tx, job, [event]),
          ...row.effects.map((effect) => EFFECTS[effect](tx, bid)),
        );
        if (!after) throw new Error('A locked bid is missing.');
        return after;
      }),
  });
}

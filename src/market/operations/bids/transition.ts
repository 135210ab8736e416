import { z } from 'zod';
import { BID_TRANSITIONS, changeOfCounts, type BidTransition, type BidTransitionKey } from '../../rules/bids.js';
import type { BidEffect } from '../../rules/jobs/effects.js';
import { refuse } from '../../rules/errors.js';
import type { EventType } from '../../rules/events.js';
import { allowedRoles } from '../../rules/parties.js';
import { assertAllowed, bidDenial } from '../../rules/policies.js';
import { moveBids, releaseHolds, selectBids, type Bid } from '../../store/bids/bids.js';
import { asArray } from '../../../platform/db/statement.js';
import { pipelined, type Transaction } from '../../../platform/db/database.js';
import { logEvents } from '../../store/events/events.js';
import { lockJobOfBid, updateJob } from '../../store/jobs/jobs.js';
import { operation } from '../operation.js';
import { idInPath } from '../../rules/id-fields.js';

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
    input: z.strictObject({
      id: idInPath('bid').describe('The bid.'),
      jobId: idInPath('job')
        .nullish()
        .meta({ parameter: true, implied: true })
        .describe('The bid’s job, if it’s part of the URL.'),
    }),
    run: ({ db, viewer }, { id, jobId }): Promise<Bid> =>
      db.inTransaction(async (tx) => {
        const [[job], [bidRow]] = await pipelined(lockJobOfBid(tx, { id }), selectBids(tx, { ids: asArray([id]) }));
        if (!job || !bidRow || (jobId != null && bidRow.bid.jobId !== jobId))
          throw refuse('NOT_FOUND', { message: 'Bid not found.' });
        const { bid } = bidRow;
        assertAllowed(bidDenial(row, { viewer, job, bid }));
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

/** What happens to a bid: read, kept among the few, declined, taken back. */
import { z } from 'zod';
import { BID_TRANSITIONS, type BidTransition, type BidTransitionKey } from '../../rules/bids.js';
import { refuse } from '../../rules/errors.js';
import type { JobId } from '../../rules/ids.js';
import { allowedRoles, mayActOnBid, PARTY_WORDS } from '../../rules/parties.js';
import type { Role, Viewer } from '../../rules/viewer.js';
import { markBid, selectBid, settleBids, type Bid } from '../../store/bids.js';
import { together } from '../../store/database.js';
import { asParameter } from '../../store/events.js';
import { lockJobOfBid, noteOnJob, UNCHANGED_COUNTS, type BidCounts } from '../../store/jobs.js';
import { asArray } from '../../store/statement.js';
import { idsOf } from '../../store/visibility.js';
import { operation } from '../operation.js';
import { idInPath } from '../shapes.js';

/**
 * How a transition that ends the bid changes its job's counts: a rejected bid is still counted, a withdrawn one is not.
 */
const COUNTS: { readonly [Key in BidTransitionKey]: BidCounts } = {
  view: UNCHANGED_COUNTS,
  shortlist: UNCHANGED_COUNTS,
  reject: { live: -1, counted: 0, ever: 0 },
  withdraw: { live: -1, counted: -1, ever: 0 },
};

export const viewBid = bidTransition('view');
export const shortlistBid = bidTransition('shortlist');
export const rejectBid = bidTransition('reject');
export const withdrawBid = bidTransition('withdraw');

function bidTransition(key: BidTransitionKey) {
  const row: BidTransition = BID_TRANSITIONS[key];
  return operation({
    name: row.operation,
    says: row.says,
    allows: allowedRoles(row.by),
    budget: 'write',
    input: z.strictObject({
      id: idInPath('bid').describe('The bid.'),
      jobId: idInPath('job')
        .nullish()
        .meta({ parameter: true, implied: true })
        .describe('The job that the bid must be on, where the address names it.'),
    }),
    run: ({ db, viewer }, { id, jobId }): Promise<Bid> =>
      db.inTransaction(async (tx) => {
        const [, [seen]] = await together(
          lockJobOfBid(tx, { id }),
          selectBid[viewer.role](tx, { id, ...idsOf(viewer) }),
        );
        const bid = judgeBid(seen, viewer, row, jobId);
        const ends = COUNTS[key].live < 0;
        const happened = {
          type: BID_TRANSITIONS[key].event,
          actorId: viewer.userId,
          bidderId: bid.contractorId,
          data: { bidId: id },
        };
        const [[moved]] = await together(
          ends
            ? settleBids(tx, { jobId: bid.jobId, bidIds: asArray([id]), to: row.to })
            : markBid(tx, { id, to: row.to }),
          noteOnJob(tx, { id: bid.jobId, ...COUNTS[key], events: asParameter(tx, [happened]) }),
        );
        if (!moved) throw new Error('A bid that was locked and judged did not move.');
        return moved;
      }),
  });
}

type SeenBid = Awaited<ReturnType<(typeof selectBid)[Role]>>[number];

/** Is it there, may this caller do this to it, and does its state allow it: the first no is the answer. */
function judgeBid(seen: SeenBid | undefined, viewer: Viewer, row: BidTransition, jobId: JobId | null | undefined): Bid {
  if (!seen || (jobId != null && seen.bid.jobId !== jobId))
    throw refuse('NOT_FOUND', { message: 'There is no such bid.' });
  const { homeownerId, bid } = seen;
  if (!seen.visible || !mayActOnBid(row.by, viewer, { homeownerId, contractorId: bid.contractorId })) {
    throw refuse('FORBIDDEN', { message: `Only ${PARTY_WORDS[row.by].says} may do this.` });
  }
  if (!row.from.includes(bid.status)) throw notFrom(bid);
  return bid;
}

function notFrom({ status }: Bid) {
  return refuse('INVALID_TRANSITION', {
    message: `A bid that is ${status} does not allow this.`,
    details: {
      fromState: status,
      allowedOperations: Object.values(BID_TRANSITIONS)
        .filter((row) => (row.from as readonly string[]).includes(status))
        .map((row) => row.operation),
    },
  });
}

/** The transitions of a bid: viewed, shortlisted, rejected, withdrawn. */
import { z } from 'zod';
import { BID_TRANSITIONS, changeOfCounts, type BidTransition, type BidTransitionKey } from '../../rules/bids.js';
import { assertAllowed, checksOfBid } from '../../rules/checks.js';
import { refuse } from '../../rules/errors.js';
import type { JobId } from '../../rules/ids.js';
import { allowedRoles } from '../../rules/parties.js';
import type { Role, Viewer } from '../../rules/viewer.js';
import { moveBids, selectBid, type Bid } from '../../store/bids.js';
import { pipelined, type Db } from '../../store/database.js';
import { asParameter } from '../../store/events.js';
import { lockJobOfBid, noteOnJob } from '../../store/jobs.js';
import { asArray } from '../../store/statement.js';
import { idsOf } from '../../store/visibility.js';
import { behindLock } from '../jobs/checked.js';
import { operation } from '../operation.js';
import { idInPath } from '../shapes.js';

export const viewBid = bidTransition('view');
export const shortlistBid = bidTransition('shortlist');
export const rejectBid = bidTransition('reject');
export const withdrawBid = bidTransition('withdraw');

function bidTransition(key: BidTransitionKey) {
  const row: BidTransition = BID_TRANSITIONS[key];
  return operation({
    name: row.operation,
    description: row.description,
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
      behindLock(db, viewer, {
        lock: (tx) => lockJobOfBid(tx, { id }),
        look: (tx) => selectBid[viewer.role](tx, { id, ...idsOf(viewer) }),
        act: (tx, [seen]) => move(key, tx, viewer, checked(row, seen, viewer, jobId)),
      }),
  });
}

async function move(key: BidTransitionKey, tx: Db, viewer: Viewer, bid: Bid): Promise<Bid> {
  const { event, to } = BID_TRANSITIONS[key];
  const { id, jobId, contractorId, status } = bid;
  const happened = { type: event, actorId: viewer.userId, bidderId: contractorId, data: { bidId: id } };
  const [[moved]] = await pipelined(
    moveBids[to](tx, { jobId, bidIds: asArray([id]) }),
    noteOnJob(tx, { id: jobId, ...changeOfCounts(status, to), events: asParameter([happened]) }),
  );
  if (!moved) throw new Error('A bid that was locked and checked did not move.');
  return moved;
}

type SeenBid = Awaited<ReturnType<(typeof selectBid)[Role]>>[number];

/** The first refusal. It is the same for viewers who may not see the bid and for those who may not do this to it. */
function checked(row: BidTransition, seen: SeenBid | undefined, viewer: Viewer, jobId: JobId | null | undefined): Bid {
  if (!seen || (jobId != null && seen.bid.jobId !== jobId))
    throw refuse('NOT_FOUND', { message: 'There is no such bid.' });
  const { bid, job } = seen;
  assertAllowed(checksOfBid(row), { viewer, job, bid, ownBids: [] });
  return bid;
}

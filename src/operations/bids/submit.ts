/** A contractor offers to do the work, and may stake tokens to be seen first. */
import { z } from 'zod';
import { BID } from '../../rules/entities/bid.js';
import { INITIAL_BID_STATE, JOB_ACTIONS } from '../../rules/lifecycle.js';
import { mayBid } from '../../rules/bids.js';
import { refuse } from '../../rules/errors.js';
import { newId } from '../../rules/ids.js';
import { allowedRoles } from '../../rules/parties.js';
import { GUARANTEED_VIEW_STAKE } from '../../rules/tokens.js';
import type { ViewerWith } from '../../rules/viewer.js';
import { placeBid, selectToBid } from '../../store/bidding.js';
import type { Bid } from '../../store/bids.js';
import type { Db } from '../../store/database.js';
import { asParameter } from '../../store/events.js';
import { idsOf } from '../../store/visibility.js';
import { atOnce, type Acting } from '../jobs/at-once.js';
import { foundBy } from '../jobs/job.js';
import { judge } from '../jobs/transition.js';
import { operation } from '../operation.js';
import { idInPath } from '../shapes.js';
import { COVERED } from '../tokens/spending.js';
import { writtenInputs } from '../written.js';

const fields = writtenInputs(BID);

const input = z.strictObject({
  jobId: idInPath('job').describe('The job.'),
  ...fields,
  amount: fields.amount.unwrap(),
  guaranteedView: fields.guaranteedView.nullable(),
});
type Offer = z.infer<typeof input>;
type Contractor = ViewerWith<'contractor'>;

export const submitBid = operation({
  name: JOB_ACTIONS.submitBid.operation,
  says: 'Bids on an open job. A contractor has one bid on a job, and may bid again only after withdrawing it.',
  allows: allowedRoles(JOB_ACTIONS.submitBid.by),
  budget: 'write',
  input,
  run: atOnce({
    jobId: ({ jobId }) => jobId,
    act: submit,
    judge: judgeOffer,
    mayFailBy: [COVERED, 'bids_one_for_each_contractor'],
  }),
});

const NOTHING_ELSE = {
  estimatedDurationDays: null,
  message: null,
  proposedStartDate: null,
  materialsIncluded: null,
  paymentTerms: null,
};

async function submit({ db, viewer }: Acting<Contractor>, offer: Offer): Promise<Bid | undefined> {
  const id = newId('bid');
  const { userId, contractorId } = viewer;
  const guaranteedView = offer.guaranteedView === true;
  const submitted = {
    type: JOB_ACTIONS.submitBid.event,
    actorId: userId,
    bidderId: contractorId,
    data: { bidId: id, status: INITIAL_BID_STATE },
  };
  const holdId = guaranteedView ? newId('hold') : null;
  const values = Object.assign({}, NOTHING_ELSE, offer, {
    id,
    contractorId,
    userId,
    guaranteedView,
    holdId,
    events: asParameter(db, [submitted]),
  });
  const [bid] = await placeBid[guaranteedView ? 'staked' : 'plain'](db, values);
  if (bid && guaranteedView) db.journal?.staked(userId, GUARANTEED_VIEW_STAKE);
  return bid;
}

async function judgeOffer(db: Db, viewer: Contractor, { jobId, guaranteedView }: Offer): Promise<void> {
  const [seen] = await selectToBid(db, { id: jobId, userId: viewer.userId, ...idsOf(viewer) });
  const found = foundBy(viewer, seen);
  judge(JOB_ACTIONS.submitBid, found, {});
  if (!mayBid(found.ownBids)) throw refuse('DUPLICATE_BID');
  const [required, available] = [GUARANTEED_VIEW_STAKE, seen?.available ?? 0];
  if (guaranteedView && available < required) throw refuse('INSUFFICIENT_TOKENS', { details: { required, available } });
}

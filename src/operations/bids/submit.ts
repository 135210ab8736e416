/** A contractor offers to do the work, and may stake tokens to be seen first. */
import { z } from 'zod';
import { ONE_BID_MORE } from '../../rules/bids.js';
import { BID } from '../../rules/entities/bid.js';
import type { JobId } from '../../rules/ids.js';
import { newId } from '../../store/new-id.js';
import { JOB_ACTIONS } from '../../rules/lifecycle.js';
import { INITIAL_BID_STATE } from '../../rules/states.js';
import { allowedRoles } from '../../rules/parties.js';
import { GUARANTEED_VIEW_STAKE } from '../../rules/tokens.js';
import type { ViewerWith } from '../../rules/viewer.js';
import { insertBid, stakeTokens } from '../../store/bidding.js';
import type { Bid } from '../../store/bids.js';
import { pipelined } from '../../store/database.js';
import { asParameter } from '../../store/events.js';
import { noteOnJob } from '../../store/jobs.js';
import { underLock } from '../jobs/checked.js';
import { executed } from '../jobs/effects.js';
import { operation } from '../operation.js';
import { idInPath } from '../shapes.js';
import { withinBalance } from '../tokens/spending.js';
import { writtenInputs } from '../written.js';

const fields = writtenInputs(BID);

const input = z.strictObject({
  jobId: idInPath('job').describe('The job.'),
  ...fields,
  amount: fields.amount.unwrap(),
  // A missing stake and a stake of none are the same input, so that an idempotency key treats them alike.
  guaranteedView: fields.guaranteedView.nullable().transform((isStaked) => isStaked ?? false),
});
type Offer = z.infer<typeof input>;
type Contractor = ViewerWith<'contractor'>;

export const submitBid = operation({
  name: JOB_ACTIONS.submitBid.operation,
  description: JOB_ACTIONS.submitBid.description,
  allows: allowedRoles(JOB_ACTIONS.submitBid.by),
  budget: 'write',
  input,
  run: (call, { jobId, ...offer }) => bidUnderLock(call, { id: jobId, ...offer }),
});

type Addressed = Omit<Offer, 'jobId'> & { id: JobId };

const bidUnderLock = underLock<Contractor, Addressed, Bid>('submitBid', {
  facts: ({ guaranteedView }) => ({ cost: guaranteedView ? GUARANTEED_VIEW_STAKE : 0 }),
  async act({ db, viewer, job }, { id: jobId, guaranteedView, ...offer }) {
    const { userId, contractorId } = viewer;
    const [id, amount] = [newId('bid'), GUARANTEED_VIEW_STAKE];
    const holdId = guaranteedView ? newId('hold') : null;
    const submitted = {
      type: JOB_ACTIONS.submitBid.event,
      actorId: userId,
      bidderId: contractorId,
      data: { bidId: id, status: INITIAL_BID_STATE },
    };
    const values = Object.assign({}, NOTHING_ELSE, offer, { id, jobId, contractorId, holdId });
    const made = insertBid(db, { ...values, guaranteedView: holdId !== null });
    const effects = executed<'submitBid'>({
      makeBid: made,
      stakeHold:
        holdId !== null && withinBalance(amount, () => stakeTokens(db, { bidId: id, jobId, holdId, userId, amount })),
    });
    await pipelined(...effects, noteOnJob(db, { id: job.id, ...ONE_BID_MORE, events: asParameter([submitted]) }));
    const [bid] = await made;
    if (!bid) throw new Error('A new bid was not stored.');
    return bid;
  },
});

const NOTHING_ELSE = {
  estimatedDurationDays: null,
  message: null,
  proposedStartDate: null,
  materialsIncluded: null,
  paymentTerms: null,
};

/** A contractor offers to do the work, and may stake tokens to be seen first. */
import { z } from 'zod';
import { ONE_BID_MORE } from '../../rules/bids.js';
import { newId, type JobId } from '../../rules/ids.js';
import { INITIAL_BID_STATE, JOB_ACTIONS } from '../../rules/lifecycle.js';
import { TEXT } from '../../rules/limits.js';
import { allowedRoles } from '../../rules/parties.js';
import { GUARANTEED_VIEW_STAKE } from '../../rules/tokens.js';
import type { ViewerWith } from '../../rules/viewer.js';
import { insertBid, stakeTokens } from '../../store/bidding.js';
import type { Bid } from '../../store/bids.js';
import { together } from '../../store/database.js';
import { asParameter } from '../../store/events.js';
import { noteOnJob } from '../../store/jobs.js';
import { underLock } from '../jobs/checked.js';
import { executed } from '../jobs/effects.js';
import { day, money } from '../jobs/shape.js';
import { operation } from '../operation.js';
import { idInPath, optionalText } from '../shapes.js';
import { withinBalance } from '../tokens/spending.js';

const input = z.strictObject({
  jobId: idInPath('job').describe('The job.'),
  amount: money.refine((amount) => amount > 0, 'must be more than 0').describe('What the work would cost.'),
  estimatedDurationDays: z.int().min(1).max(36_500).nullish().describe('How many days it would take.'),
  message: optionalText(TEXT.long).describe('What the contractor has to say to the homeowner.'),
  proposedStartDate: day.nullish().describe('When the work could begin.'),
  materialsIncluded: z.boolean().nullish().describe('Whether the amount covers the materials.'),
  paymentTerms: optionalText(TEXT.note).describe('How and when to pay.'),
  guaranteedView: z
    .boolean()
    .nullish()
    .describe(
      `Stakes ${GUARANTEED_VIEW_STAKE} tokens, so that the bid comes first in the homeowner’s list. They are free again when the bid or the job ends.`,
    ),
});
type Offer = z.infer<typeof input>;
type Contractor = ViewerWith<'contractor'>;

export const submitBid = operation({
  name: JOB_ACTIONS.submitBid.operation,
  says: 'Bids on an open job. A contractor has one bid on a job, and may bid again only after withdrawing it.',
  allows: allowedRoles(JOB_ACTIONS.submitBid.by),
  budget: 'write',
  input,
  run: (call, { jobId, ...offer }) => bidUnderLock(call, { id: jobId, ...offer }),
});

type Addressed = Omit<Offer, 'jobId'> & { id: JobId };

const bidUnderLock = underLock<Contractor, Addressed, Bid>('submitBid', {
  facts: ({ guaranteedView }) => ({ stake: guaranteedView ? GUARANTEED_VIEW_STAKE : 0 }),
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
    await together(...effects, noteOnJob(db, { id: job.id, ...ONE_BID_MORE, events: asParameter(db, [submitted]) }));
    if (holdId !== null) db.journal?.staked(userId, amount);
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

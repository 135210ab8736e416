/** A contractor offers to do the work, and may stake tokens to be seen first. */
import { z } from 'zod';
import { INITIAL_BID_STATE, JOB_ACTIONS } from '../../rules/lifecycle.js';
import { mayBid } from '../../rules/bids.js';
import { refuse } from '../../rules/errors.js';
import { newId } from '../../rules/ids.js';
import { TEXT } from '../../rules/limits.js';
import { allowedRoles } from '../../rules/parties.js';
import { GUARANTEED_VIEW_STAKE } from '../../rules/tokens.js';
import { insertBid, stakeTokens, type Bid } from '../../store/bids.js';
import { violatedConstraint } from '../../store/database-errors.js';
import { together } from '../../store/database.js';
import { asParameter } from '../../store/events.js';
import { noteOnJob } from '../../store/jobs.js';
import { findAndLockJob } from '../jobs/job.js';
import { day, money } from '../jobs/shape.js';
import { judge } from '../jobs/transition.js';
import { operation } from '../operation.js';
import { idInPath, optionalText } from '../shapes.js';
import { spending, withinBalance } from '../tokens/spending.js';

const ONE_MORE_LIVE_BID = { live: 1, counted: 1, ever: 1 };

export const submitBid = operation({
  name: JOB_ACTIONS.submitBid.operation,
  says: 'Bids on an open job. A contractor has one bid on a job, and may bid again only after withdrawing it.',
  allows: allowedRoles(JOB_ACTIONS.submitBid.by),
  budget: 'write',
  input: z.strictObject({
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
      .describe(`Stakes ${GUARANTEED_VIEW_STAKE} tokens, so that the bid comes first in the homeowner’s list. They are free again when the bid or the job ends.`),
  }),
  async run({ db, viewer }, { jobId, ...offer }): Promise<Bid> {
    try {
      return await spending(db, viewer.userId, async (tx) => {
        const found = await findAndLockJob(tx, viewer, jobId);
        judge(JOB_ACTIONS.submitBid, found, {});
        if (!mayBid(found.ownBids)) throw refuse('DUPLICATE_BID');

        const id = newId('bid');
        const guaranteedView = offer.guaranteedView === true;
        const holdId = guaranteedView ? newId('hold') : null;
        const { contractorId, userId } = viewer;
        const submitted = { type: JOB_ACTIONS.submitBid.event, actorId: userId, bidderId: contractorId, data: { bidId: id, status: INITIAL_BID_STATE } };
        const stored = insertBid(tx, {
          id, jobId, contractorId, guaranteedView, holdId, jobCreatedAt: found.job.createdAt,
          amount: offer.amount,
          estimatedDurationDays: offer.estimatedDurationDays ?? null,
          message: offer.message ?? null,
          proposedStartDate: offer.proposedStartDate ?? null,
          materialsIncluded: offer.materialsIncluded ?? null,
          paymentTerms: offer.paymentTerms ?? null,
        });
        const staked = holdId ? withinBalance(GUARANTEED_VIEW_STAKE, () => stakeTokens(tx, { id: holdId, bidId: id, jobId, userId, amount: GUARANTEED_VIEW_STAKE })) : Promise.resolve();
        const [[bid]] = await together(stored, staked, noteOnJob(tx, { id: jobId, ...ONE_MORE_LIVE_BID, events: asParameter(tx, [submitted]) }));
        if (!bid) throw new Error('A new bid was not stored.');
        return bid;
      });
    } catch (error) {
      // The same contractor's other call was first, and was not to be seen before the lock was had.
      if (violatedConstraint(error) === 'bids_one_for_each_contractor') throw refuse('DUPLICATE_BID');
      throw error;
    }
  },
});

/** Submits a contractor's bid on a job. The contractor may stake tokens to be listed first. */
import { BID } from '../../rules/entities/bid.js';
import { FIRST_STAKE_CHECK_SECONDS } from '../../rules/jobs/deadlines.js';
import { JOB_ACTIONS } from '../../rules/lifecycle.js';
import { allowedRoles } from '../../rules/parties.js';
import { factsForPolicies, jobDenial } from '../../rules/policies.js';
import { INITIAL_BID_STATE } from '../../rules/states.js';
import { GUARANTEED_VIEW_STAKE } from '../../rules/tokens.js';
import { insertBid, type Bid } from '../../store/bids/bids.js';
import { stakeTokens } from '../../store/bids/holds.js';
import { logEvents } from '../../store/events/events.js';
import { factsReader, updateJob } from '../../store/jobs/jobs.js';
import { newId } from '../../store/new-id.js';
import { assertJobAllowed, lockVisibleJob } from '../jobs/visible-job.js';
import { operation } from '../operation.js';
import { idInPath } from '../../rules/id-fields.js';
import { entityInput, writtenInputs } from '../../../platform/fields/entity.js';

const fields = writtenInputs(BID);

const input = entityInput(BID, {
  jobId: idInPath('job').describe('The job.'),
  ...fields,
  amount: fields.amount.unwrap(),
  // An omitted stake and `false` both mean no stake, so an idempotency key treats them as the same input.
  guaranteedView: fields.guaranteedView.nullable().transform((isStaked) => isStaked ?? false),
});

const readFactsOfFreeBid = factsReader((role) => factsForPolicies('submitBid', role, { isPlain: true }));
const readFactsWithBalance = factsReader((role) => factsForPolicies('submitBid', role));

export const submitBid = operation({
  name: JOB_ACTIONS.submitBid.operation,
  description: JOB_ACTIONS.submitBid.description,
  allows: allowedRoles(JOB_ACTIONS.submitBid.actor),
  budget: 'write',
  input,
  run: ({ db, viewer }, { jobId, guaranteedView, ...offer }): Promise<Bid> =>
    db.inTransaction(async (tx) => {
      const stake = guaranteedView ? GUARANTEED_VIEW_STAKE : 0;
      const readFacts = guaranteedView ? readFactsWithBalance : readFactsOfFreeBid;
      const lockedJob = await lockVisibleJob(tx, viewer, { id: jobId }, readFacts);
      await assertJobAllowed(lockedJob, jobDenial('submitBid', { ...lockedJob.policyInput, cost: stake }));
      const { job } = lockedJob;
      const { userId, contractorId } = viewer;
      const id = newId('bid');
      const holdId = guaranteedView ? newId('hold') : null;
      const type = JOB_ACTIONS.submitBid.event;
      const event = { type, actorId: userId, bidderId: contractorId, data: { bidId: id, status: INITIAL_BID_STATE } };
      const [[bid]] = await tx.commitWith(
        insertBid(tx, {
          ...NO_OPTIONAL_FIELDS,
          ...offer,
          id,
          jobId,
          contractorId,
          holdId,
          guaranteedView,
          jobCreatedAt: job.createdAt,
          jobPublicEditCount: job.publicEditCount,
        }),
        updateJob(
          tx,
          job,
          {
            liveBidCount: job.liveBidCount + 1,
            bidCount: job.bidCount + 1,
            bidsEver: job.bidsEver + 1,
            eventCount: job.eventCount + 1,
          },
          guaranteedView ? { is: 'within', seconds: FIRST_STAKE_CHECK_SECONDS } : undefined,
        ),
        logEvents(tx, job, [event]),
        ...(holdId === null ? [] : [stakeTokens(tx, { bidId: id, jobId, holdId, userId, amount: stake })]),
      );
      if (!bid) throw new Error('A new bid was not stored.');
      return bid;
    }),
});

const NO_OPTIONAL_FIELDS = {
  estimatedDurationDays: null,
  message: null,
  proposedStartDate: null,
  materialsIncluded: null,
  paymentTerms: null,
};

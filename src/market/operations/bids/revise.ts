/** Revises a contractor's offer while the homeowner hasn't decided on it. */
import { z } from 'zod';
import { OTHER_BID_ACTIONS } from '../../rules/bids.js';
import { BID } from '../../rules/entities/bid.js';
import { refuse } from '../../rules/errors.js';
import { allowedRoles } from '../../rules/parties.js';
import { assertAllowed, bidDenial } from '../../rules/policies.js';
import type { Bid } from '../../store/bids/bids.js';
import { OFFER, reviseBid as reviseRow, type Offer } from '../../store/bids/bid-revisions.js';
import { logEvents } from '../../store/events/events.js';
import { updateJob } from '../../store/jobs/jobs.js';
import { entityInput, settledFields, writtenInputs } from '../../../platform/fields/entity.js';
import { changedReadOnly, readOnly } from '../../../platform/fields/read-only.js';
import { operation } from '../operation.js';
import { lockBid, ofBid } from './locked-bid.js';

const { guaranteedView: _settled, ...offer } = writtenInputs(BID);

/** The fields that a client may send back unchanged. `ofBid` has the other ones. */
const READ_ONLY_FIELDS = [...settledFields(BID).filter((name) => name !== 'id' && name !== 'jobId'), 'guaranteedView'];

export const reviseBid = operation({
  name: OTHER_BID_ACTIONS.revise.operation,
  description: OTHER_BID_ACTIONS.revise.description,
  allows: allowedRoles(OTHER_BID_ACTIONS.revise.actor),
  budget: 'write',
  input: entityInput(BID, {
    ...ofBid,
    expectedVersion: z
      .int32()
      .nullish()
      .meta({ parameter: true })
      .describe('Fails with `STALE_VERSION` if the bid has been revised since this version.'),
    ...offer,
    amount: offer.amount.nullable(),
    ...readOnly(READ_ONLY_FIELDS),
  }),
  nullClears: true,
  run: ({ db, viewer }, { id, jobId, expectedVersion, ...patch }): Promise<Bid> =>
    db.inTransaction(async (tx) => {
      const lockedBid = await lockBid(tx, viewer, { id, jobId });
      assertAllowed(bidDenial(OTHER_BID_ACTIONS.revise, { ...lockedBid, viewer, expectedVersion }));
      const { job, bid } = lockedBid;
      const changedFields = changedReadOnly(READ_ONLY_FIELDS, patch, bid);
      if (changedFields.length > 0)
        throw refuse('VALIDATION_FAILED', { fields: each(changedFields, 'can’t be changed') });
      if (patch.amount === null) throw refuse('VALIDATION_FAILED', { fields: { amount: 'must not be blank' } });
      const changes = changesOf(bid, patch as Partial<Offer>);
      const fields = Object.keys(changes);
      if (fields.length === 0) return bid;

      const event = {
        type: OTHER_BID_ACTIONS.revise.event,
        actorId: viewer.userId,
        bidderId: bid.contractorId,
        data: { bidId: id, version: bid.version + 1, fields },
      };
      const [[revised]] = await tx.commitWith(
        reviseRow(tx, { ...bid, ...changes, jobPublicEditCount: job.publicEditCount }),
        updateJob(tx, job, { eventCount: job.eventCount + 1 }),
        logEvents(tx, job, [event]),
      );
      if (!revised) throw new Error('A locked bid is missing.');
      return revised;
    }),
});

function changesOf(bid: Bid, patch: Partial<Offer>): Partial<Offer> {
  const changed = OFFER.filter((field) => patch[field] !== undefined && patch[field] !== bid[field]);
  return Object.fromEntries(changed.map((field) => [field, patch[field]]));
}

function each(fields: readonly string[], problem: string): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, problem]));
}

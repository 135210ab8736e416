/** Reads any object by its identifier. The checks are the same as in the query for that kind of object. */
import { z } from 'zod';
import { refuse } from '../rules/errors.js';
import { isId, kindOfId, siblingOf } from '../rules/ids.js';
import { readSession } from './sessions/sessions.js';
import { readAdminAction } from './admins/admin-actions.js';
import { readApiKey } from './sessions/api-keys.js';
import { findPerson } from './people/directory.js';
import { readMe } from './accounts/me.js';
import { findReview } from './people/reviews.js';
import { findHold, readBid } from './bids/read.js';
import { findAccountEvent, findEvent, findProposal } from './events/events.js';
import { readJob } from './jobs/read.js';
import { requireSession } from '../../platform/call/operation.js';
import { operation } from './operation.js';
import { readPurchase } from './purchases/purchases.js';
import { readTransfer } from './tokens/tokens.js';
import { findSavedSearch } from './searches/saved-searches.js';
import { findDelivery } from './webhooks/deliveries.js';
import { readableEndpoint } from './webhooks/endpoints.js';

export const readNode = operation({
  name: 'node',
  description: 'Returns any object by its ID.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({
    id: z
      .string()
      .transform((value) => (kindOfId(value) ? value : ''))
      .describe('The ID, including its prefix.'),
  }),
  async run(call, { id }): Promise<object> {
    const { db, viewer, caller } = call;
    if (isId('job', id)) return readJob.run(call, { id });
    if (isId('bid', id)) return readBid.run(call, { id });
    for (const part of PERSON_ID_KINDS) if (isId(part, id)) return (await findPerson(call, id, part)).part;
    if (isId('transfer', id)) return readTransfer.run(call, { id });
    if (isId('purchase', id)) return readPurchase.run(call, { id });
    if (isId('hold', id)) return findHold(db, viewer, id);
    if (isId('adminAction', id)) {
      if (viewer.role !== 'admin') throw refuse('FORBIDDEN', { message: 'Only admins can see admin actions.' });
      return readAdminAction.run(Object.assign({}, call, { viewer }), { id });
    }
    if (isId('event', id)) return findEvent(db, viewer, id);
    if (isId('accountEvent', id)) return findAccountEvent(db, viewer, id);
    if (isId('proposal', id)) return findProposal(db, viewer, id);
    if (isId('review', id)) return findReview(db, id);
    if (isId('savedSearch', id)) return findSavedSearch(db, viewer, id);
    if (isId('webhookEndpoint', id)) return readableEndpoint(db, viewer, id);
    if (isId('webhookDelivery', id)) return findDelivery(db, viewer, id);
    if (isId('apiKey', id)) {
      await requireSession(caller);
      return readApiKey.run(call, { id });
    }
    if (isId('session', id)) {
      await requireSession(caller);
      return readSession.run(call, { id });
    }
    if (id === siblingOf('viewer', viewer.userId)) return { ...(await readMe.run(call, {})), id };
    throw refuse('NOT_FOUND', { message: 'No object has this ID.' });
  },
});

/** A person has several identifiers: the account and each profile have their own. */
const PERSON_ID_KINDS = ['user', 'homeowner', 'contractor'] as const;

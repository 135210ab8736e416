/** Reads the log of admin actions, for admins. Each operation on someone else writes to it with `recordAdminAction`. */
import { z } from 'zod';
import { ADMIN_ACTION } from '../../rules/entities/admin-action.js';
import { refuse } from '../../rules/errors.js';
import { TEXT } from '../../rules/market-limits.js';
import { requiredText } from '../../../platform/fields/values.js';
import {
  listAdminActions as actionsNewestFirst,
  selectAdminAction,
  type AdminAction,
} from '../../store/accounts/admin-actions.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { optionalText } from '../../../platform/fields/shapes.js';
import { idInPath, idOf } from '../../rules/id-fields.js';

const WHY = 'The reason. It’s stored in the log of admin actions.';
export const requiredReason = requiredText(TEXT.note).describe(WHY);
export const optionalReason = optionalText(TEXT.note).describe(WHY);

const NEWEST_FIRST = ['time', 'text'] as const;

const { adminId, userId, action } = ADMIN_ACTION.schema.shape;

export const adminActionFilter = z.strictObject({
  adminId: adminId.nullish().describe('What this admin did.'),
  userId: userId.nullish().describe('Actions that concern this user. A decision about a job concerns both parties.'),
  jobId: idOf('job').nullish().describe('Actions on this job.'),
  action: action.nullish().describe('What was done by the operation of this name, as GraphQL spells it.'),
});

export const listAdminActions = operation({
  name: 'adminActions',
  description: 'Lists what admins did to others, newest first, for admins.',
  allows: ['admin'],
  budget: 'read',
  input: z.strictObject({ ...adminActionFilter.shape, ...pageShape }),
  run: ({ db, include }, input) => actionsNewestFirst(db, input, pageRequest(input, NEWEST_FIRST, include)),
});

export const readAdminAction = operation({
  name: 'adminAction',
  description: 'Reads one thing that an admin did to somebody, for admins.',
  allows: ['admin'],
  budget: 'read',
  input: z.strictObject({ id: idInPath('adminAction').describe('What was done.') }),
  async run({ db }, { id }): Promise<AdminAction> {
    const [row] = await selectAdminAction(db, { id });
    if (!row) throw refuse('NOT_FOUND', { message: 'There is no such action of an admin.' });
    return row;
  },
});

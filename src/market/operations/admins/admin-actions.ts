/** Lists the log of admin actions, which every admin operation on another person writes to. */
import { z } from 'zod';
import { ADMIN_ACTION, RECORDED_OPERATIONS } from '../../rules/entities/admin-action.js';
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
import { mustBeOneOf } from '../../../platform/call/validation.js';
import { optionalText } from '../../../platform/fields/shapes.js';
import { idInPath, idOf } from '../../rules/id-fields.js';

const WHY = 'The reason. It’s stored in the log of admin actions.';
export const requiredReason = requiredText(TEXT.note).describe(WHY);
export const optionalReason = optionalText(TEXT.note).describe(WHY);

const NEWEST_FIRST = ['time', 'text'] as const;

const { adminId, userId, action } = ADMIN_ACTION.schema.shape;

export const adminActionFilter = z.strictObject({
  adminId: adminId.nullish().describe('Only actions by this admin.'),
  userId: userId
    .nullish()
    .describe('Only actions that concern this user. A decision about a job concerns both parties.'),
  jobId: idOf('job').nullish().describe('Only actions on this job.'),
  action: action
    .refine((name) => RECORDED_OPERATIONS.includes(name), mustBeOneOf(RECORDED_OPERATIONS))
    .nullish()
    .describe('Only actions with this GraphQL operation.'),
});

export const listAdminActions = operation({
  name: 'adminActions',
  description: 'Lists actions by admins, newest first. Only admins can read them.',
  allows: ['admin'],
  budget: 'read',
  input: z.strictObject({ ...adminActionFilter.shape, ...pageShape }),
  run: ({ db, include }, input) => actionsNewestFirst(db, input, pageRequest(input, NEWEST_FIRST, include)),
});

export const readAdminAction = operation({
  name: 'adminAction',
  description: 'Returns an admin action. Only admins can read it.',
  allows: ['admin'],
  budget: 'read',
  input: z.strictObject({ id: idInPath('adminAction').describe('The admin’s action.') }),
  async run({ db }, { id }): Promise<AdminAction> {
    const [row] = await selectAdminAction(db, { id });
    if (!row) throw refuse('NOT_FOUND', { message: 'Admin action not found.' });
    return row;
  },
});

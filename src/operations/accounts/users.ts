/** Every account, for admins: they adjust tokens by user, verify contractors, and must be able to find anybody. */
import { z } from 'zod';
import { USER } from '../../rules/entities/people.js';
import { TEXT } from '../../rules/limits.js';
import { listUsers as usersNewestFirst } from '../../store/user-lists.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../paging.js';
import { optionalText } from '../shapes.js';

const NEWEST_FIRST = ['time', 'text'] as const;

export const userFilter = z.strictObject({
  search: optionalText(TEXT.title).describe('Text that the full name or the email contains, whatever the case.'),
  userType: USER.schema.shape.userType.nullish().describe('Accounts of this kind.'),
  verified: z.boolean().nullish().describe('Contractors whom an admin has verified, or those whom none has.'),
});

export const listUsers = operation({
  name: 'users',
  description: 'Lists accounts, newest first, for admins.',
  allows: ['admin'],
  budget: 'read',
  input: z.strictObject({ ...userFilter.shape, ...pageShape }),
  run: ({ db, include }, input) => usersNewestFirst(db, input, pageRequest(input, NEWEST_FIRST, include)),
});

/** Every account, for admins: they adjust tokens by user, and must be able to find one. */
import { z } from 'zod';
import { listUsers as usersNewestFirst } from '../../store/accounts.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../paging.js';

const NEWEST_FIRST = ['time', 'text'] as const;

export const listUsers = operation({
  name: 'users',
  says: 'Lists every account, newest first.',
  allows: ['admin'],
  budget: 'read',
  input: z.strictObject(pageShape),
  run: ({ db, beside }, input) => usersNewestFirst(db, {}, pageRequest(input, NEWEST_FIRST, beside)),
});

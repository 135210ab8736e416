/**
 * Reads people by their identifiers, with the fields that each signed-in user may see. Also lists all accounts, for
 * admins, who adjust tokens by user and verify contractors.
 */
import { z } from 'zod';
import { EMAIL_UNDO_STATES } from '../../rules/people/email-undo.js';
import { USER } from '../../rules/entities/people.js';
import type { ContractorId, HomeownerId } from '../../rules/ids.js';
import { TEXT } from '../../rules/market-limits.js';
import { enumOf } from '../../../platform/fields/values.js';
import { listUsers as usersNewestFirst } from '../../store/people/user-lists.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { optionalText } from '../../../platform/fields/shapes.js';
import { idInPath } from '../../rules/id-fields.js';
import { findPerson } from './directory.js';
import type { ReadableHomeowner, ReadableUser } from '../../store/people/people.js';

const NEWEST_FIRST = ['time', 'text'] as const;

export const userFilter = z.strictObject({
  search: optionalText(TEXT.title).describe(
    'Text that the full name, the email or the phone contains, whatever the case. Seven digits or more find a phone ' +
      'number however it is punctuated, and with the 1 of North America or without it.',
  ),
  userType: USER.schema.shape.userType.nullish().describe('Accounts of this kind.'),
  suspended: z.boolean().nullish().describe('If true, only suspended accounts. If false, only the others.'),
  emailVerified: z
    .boolean()
    .nullish()
    .describe('If true, only accounts with a confirmed email. If false, only the others.'),
  emailUndeliverable: z
    .boolean()
    .nullish()
    .describe(
      'If true, only accounts whose mail server permanently rejected our last email. If false, only the others.',
    ),
  verified: z.boolean().nullish().describe('Contractors whom an admin has verified, or those whom none has.'),
  emailUndo: enumOf(EMAIL_UNDO_STATES, 'EmailUndo')
    .nullish()
    .describe('Only accounts whose email undo is in this state. Pending ones are waiting for support.'),
});

export const listUsers = operation({
  name: 'users',
  description: 'Lists accounts, newest first, for admins.',
  allows: ['admin'],
  budget: 'read',
  input: z.strictObject({ ...userFilter.shape, ...pageShape }),
  run: ({ db, include }, input) => usersNewestFirst(db, input, pageRequest(input, NEWEST_FIRST, include)),
});

export interface UserWithProfile extends ReadableUser {
  homeownerId: HomeownerId | null;
  contractorId: ContractorId | null;
}

export const readUser = operation({
  name: 'user',
  description: 'Reads a person. Email and phone are for themselves, admins, and the other side of an award.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('user').describe('The person.') }),
  async run(call, { id }): Promise<UserWithProfile> {
    const { part, person } = await findPerson(call, id, 'user');
    const { homeowner, contractor } = person;
    return { ...part, homeownerId: homeowner?.id ?? null, contractorId: contractor?.id ?? null };
  },
});

export const readHomeowner = operation({
  name: 'homeowner',
  description: 'Reads a homeowner’s profile. The address is for themselves, admins, and whom they awarded a job to.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('homeowner').describe('The homeowner.') }),
  run: async (call, { id }): Promise<ReadableHomeowner> => (await findPerson(call, id, 'homeowner')).part,
});

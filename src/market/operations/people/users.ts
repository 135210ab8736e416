/** Reads people by their identifiers. Lists all accounts for admins. */
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
    'Only accounts whose full name, email address, or phone number contains this text, ignoring case. Seven or more ' +
      'digits match a phone number regardless of its punctuation, with or without the country code 1. While an email ' +
      'undo is pending, the former address matches too.',
  ),
  userType: USER.schema.shape.userType.nullish().describe('Only accounts of this type.'),
  suspended: z.boolean().nullish().describe('If true, only suspended accounts. If false, only the others.'),
  emailVerified: z
    .boolean()
    .nullish()
    .describe('If true, only accounts with a confirmed email. If false, only the others.'),
  emailUndeliverable: z
    .boolean()
    .nullish()
    .describe(
      'If true, only accounts whose last email from us was permanently rejected by the mail server. If false, only ' +
        'the others.',
    ),
  verified: z.boolean().nullish().describe('If true, only verified contractors. If false, only the other contractors.'),
  emailUndo: enumOf(EMAIL_UNDO_STATES, 'EmailUndo')
    .nullish()
    .describe('Only accounts whose email undo has this status. Pending ones are waiting for support.'),
});

export const listUsers = operation({
  name: 'users',
  description: 'Lists accounts, newest first. Only admins can read them.',
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
  description:
    'Returns a user. Only the user, the other party to an awarded job, and admins can see the email address and ' +
    'phone number.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('user').describe('The user.') }),
  async run(call, { id }): Promise<UserWithProfile> {
    const { part, person } = await findPerson(call, id, 'user');
    const { homeowner, contractor } = person;
    return { ...part, homeownerId: homeowner?.id ?? null, contractorId: contractor?.id ?? null };
  },
});

export const readHomeowner = operation({
  name: 'homeowner',
  description:
    'Returns a homeowner’s profile. Only the homeowner, contractors they awarded a job to, and admins can see the ' +
    'street address and the ZIP code.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('homeowner').describe('The homeowner.') }),
  run: async (call, { id }): Promise<ReadableHomeowner> => (await findPerson(call, id, 'homeowner')).part,
});

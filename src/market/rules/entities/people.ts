/** People: the account that logs in, and the profile of its role. */
import { z } from 'zod';
import { EMAIL_UNDO_STATES } from '../people/email-undo.js';
import { entity } from '../../../platform/fields/entity.js';
import { TEXT } from '../market-limits.js';
import { ADMINS, CREDENTIALS, OWN, PERSONAL } from '../reading/readers.js';
import {
  enumOf,
  email,
  timestamp,
  nullableText,
  nullableWebAddress,
  requiredText,
  untrimmedText,
  integer,
} from '../../../platform/fields/values.js';
import { idOf, identifier } from '../id-fields.js';
import { ROLES } from '../viewer.js';

export const USER = entity('User', 'A person with an account.', {
  id: identifier('user'),
  email: { type: email, description: 'The address to log in with.', example: 'hanna@example.com', readBy: PERSONAL },
  emailVerified: {
    type: z.boolean(),
    description: 'Whether a link that was sent to the address was used, be it for a new password.',
    example: true,
    readBy: OWN,
  },
  emailUndeliverable: {
    type: z.boolean(),
    description: 'Whether the last mail to the address was refused for good.',
    example: false,
    readBy: OWN,
  },
  userType: { type: enumOf(ROLES, 'UserType'), description: 'Which kind of account it is.', example: 'homeowner' },
  firstName: { type: requiredText(TEXT.name), description: 'The given name.', example: 'Hanna', written: true },
  lastName: { type: requiredText(TEXT.name), description: 'The family name.', example: 'Hill', written: true },
  phone: {
    type: untrimmedText(TEXT.line).nullable(),
    description: 'A phone number, as it was written.',
    inputDescription: 'A phone number, kept as it is written.',
    example: '+1 512 555 0100',
    readBy: PERSONAL,
    written: true,
  },
  profilePictureUrl: {
    type: nullableWebAddress,
    description: 'Where a picture of the person is.',
    example: null,
    written: true,
  },
  emailUndo: {
    type: enumOf(EMAIL_UNDO_STATES, 'EmailUndo').nullable(),
    description: 'The state of the last request to undo an email change. Null if there was none.',
    example: null,
    readBy: ADMINS,
  },
  emailUndoAddress: {
    type: email.nullable(),
    description:
      'The other address in that undo: the former address, which claims the account, while the undo is pending. ' +
      'After that, the address that didn’t get the account.',
    example: null,
    readBy: ADMINS,
  },
  suspendedAt: {
    type: timestamp.nullable(),
    description: 'Since when the person is suspended.',
    example: null,
    readBy: ADMINS,
  },
  suspendedUntil: {
    type: timestamp.nullable(),
    description: 'When the suspension ends by itself, where it does.',
    example: null,
    readBy: ADMINS,
  },
  createdAt: { type: timestamp, description: 'When the account was opened.' },
  updatedAt: { type: timestamp, description: 'When the person’s fields last changed.' },
});

export const HOMEOWNER = entity('Homeowner', 'A homeowner’s profile.', {
  id: identifier('homeowner'),
  userId: { type: idOf('user'), description: 'Whose profile this is.' },
  addressLine1: {
    type: nullableText(TEXT.line),
    description: 'Street and number.',
    example: '1200 Barton Springs Road',
    readBy: PERSONAL,
    written: true,
  },
  addressLine2: {
    type: nullableText(TEXT.line),
    description: 'More of the address.',
    example: null,
    readBy: PERSONAL,
    written: true,
  },
  city: { type: nullableText(TEXT.line), description: 'The city.', example: 'Austin', written: true },
  state: { type: nullableText(TEXT.line), description: 'The state.', example: 'TX', written: true },
  zipCode: {
    type: nullableText(TEXT.line),
    description: 'The postal code.',
    example: '78704',
    readBy: PERSONAL,
    written: true,
  },
  country: { type: nullableText(TEXT.line), description: 'The country.', example: 'US', written: true },
  propertyType: {
    type: nullableText(TEXT.kind),
    description: 'What kind of property it is.',
    inputDescription: 'What kind of property it is; `catalog` suggests values.',
    example: 'single_family',
    written: true,
  },
  createdAt: { type: timestamp, description: 'When the profile was made.' },
  updatedAt: { type: timestamp, description: 'When the profile last changed.' },
});

/** The orders of the contractor directory. Among equals, the newest comes first. */
export const CONTRACTOR_ORDERS = ['newest', 'best_rated', 'most_completed', 'nearest'] as const;
export type ContractorOrder = (typeof CONTRACTOR_ORDERS)[number];

const listOf = (entry: string) => z.array(requiredText(TEXT.listItem).describe(entry)).max(TEXT.listItems);

export const CONTRACTOR = entity('Contractor', 'A contractor’s profile and record.', {
  id: identifier('contractor'),
  userId: { type: idOf('user'), description: 'Whose profile this is.' },
  companyName: {
    type: nullableText(TEXT.line),
    description: 'The company.',
    example: 'Carl’s Pipes LLC',
    written: true,
  },
  businessType: {
    type: nullableText(TEXT.kind),
    description: 'What kind of business it is.',
    inputDescription: 'What kind of business it is; `catalog` suggests values.',
    example: 'llc',
    written: true,
  },
  licenseNumber: {
    type: nullableText(TEXT.line),
    description: 'The licence number.',
    example: 'M-40417',
    readBy: CREDENTIALS,
    written: true,
  },
  licenseState: {
    type: nullableText(TEXT.line),
    description: 'The state that gave the licence.',
    example: 'TX',
    written: true,
  },
  insuranceProvider: {
    type: nullableText(TEXT.line),
    description: 'Who insures the work.',
    example: 'Lone Star Mutual',
    written: true,
  },
  insurancePolicyNumber: {
    type: nullableText(TEXT.line),
    description: 'The policy number.',
    example: 'LS-2210-77',
    readBy: CREDENTIALS,
    written: true,
  },
  yearsInBusiness: {
    type: z.int().min(0).max(500).nullable(),
    description: 'For how many years the business exists.',
    example: 12,
    written: true,
  },
  serviceAreas: {
    type: listOf('A place.'),
    description:
      'Where the contractor works. What is a postal code or a town with its state, such as `Austin, TX`, is found by ' +
      'distance.',
    example: ['Austin, TX'],
    written: true,
  },
  specialties: {
    type: listOf('A kind of work.'),
    description: 'What the contractor is best at.',
    example: ['plumbing'],
    written: true,
  },
  bio: {
    type: nullableText(TEXT.long),
    description: 'How the contractor presents the business.',
    example: 'Leaks found and fixed since 2014.',
    written: true,
  },
  website: {
    type: nullableWebAddress,
    description: 'The business on the web.',
    example: 'https://carlspipes.example.com',
    written: true,
  },
  verified: { type: z.boolean(), description: 'Whether an admin has verified the contractor.', example: true },
  completedJobs: { type: integer(), description: 'How many jobs were done and approved.', example: 31 },
  ratingAverage: {
    type: z.number().min(1).max(5).nullable(),
    description: 'The mean of all ratings, from 1 to 5; null before the first.',
    example: 4.75,
  },
  ratingCount: { type: integer(), description: 'How many ratings there are.', example: 24 },
  suspended: {
    type: z.boolean().nullable(),
    description:
      'A suspended contractor is listed only for admins, and their bids can’t be awarded. True while the contractor ' +
      'is suspended.',
    example: false,
    readBy: CREDENTIALS,
  },
  createdAt: { type: timestamp, description: 'When the profile was made.' },
  updatedAt: { type: timestamp, description: 'When the profile last changed.' },
});

/** A contractor's distance in a list. It belongs to the search, not to the contractor. */
export const CONTRACTOR_DISTANCE = {
  type: z.number().min(0).nullable(),
  description:
    'How far the nearest of their service areas is from the place that the list asks for, in miles to a tenth; null ' +
    'where it asks for none.',
  example: 4.2,
} as const;

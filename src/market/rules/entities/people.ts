/** People: the account that a person logs in with, and the profile for the person's role. */
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
  email: {
    type: email,
    description: 'The email address that the user logs in with.',
    example: 'hanna@example.com',
    readBy: PERSONAL,
  },
  emailVerified: {
    type: z.boolean(),
    description:
      'True if the user has used a link that we sent to this address, such as a confirmation or a password reset.',
    example: true,
    readBy: OWN,
  },
  emailUndeliverable: {
    type: z.boolean(),
    description: 'True if the mail server permanently rejected our last email to this address.',
    example: false,
    readBy: OWN,
  },
  userType: { type: enumOf(ROLES, 'UserType'), description: 'The type of the account.', example: 'homeowner' },
  firstName: { type: requiredText(TEXT.name), description: 'The first name.', example: 'Hanna', written: true },
  lastName: { type: requiredText(TEXT.name), description: 'The last name.', example: 'Hill', written: true },
  phone: {
    type: untrimmedText(TEXT.line).nullable(),
    description: 'The phone number, as the user wrote it.',
    inputDescription: 'The phone number, stored as you write it.',
    example: '+1 512 555 0100',
    readBy: PERSONAL,
    written: true,
  },
  profilePictureUrl: {
    type: nullableWebAddress,
    description: 'The URL of a profile picture.',
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
      'The other address in the last request to undo an email change. While the request is pending, it’s the former ' +
      'address. Otherwise, it’s the address that didn’t get the account.',
    example: null,
    readBy: ADMINS,
  },
  suspendedAt: {
    type: timestamp.nullable(),
    description: 'When the user was suspended. Null if they aren’t suspended.',
    example: null,
    readBy: ADMINS,
  },
  suspendedUntil: {
    type: timestamp.nullable(),
    description: 'When the suspension ends automatically. Null if it has no end.',
    example: null,
    readBy: ADMINS,
  },
  createdAt: { type: timestamp, description: 'When the account was created.' },
  updatedAt: { type: timestamp, description: 'When the user’s fields last changed.' },
});

export const HOMEOWNER = entity('Homeowner', 'A homeowner’s profile.', {
  id: identifier('homeowner'),
  userId: { type: idOf('user'), description: 'The user that this profile belongs to.' },
  addressLine1: {
    type: nullableText(TEXT.line),
    description: 'The street and number.',
    example: '1200 Barton Springs Road',
    readBy: PERSONAL,
    written: true,
  },
  addressLine2: {
    type: nullableText(TEXT.line),
    description: 'The second line of the address.',
    example: null,
    readBy: PERSONAL,
    written: true,
  },
  city: { type: nullableText(TEXT.line), description: 'The city.', example: 'Austin', written: true },
  state: { type: nullableText(TEXT.line), description: 'The state.', example: 'TX', written: true },
  zipCode: {
    type: nullableText(TEXT.line),
    description: 'The ZIP code.',
    example: '78704',
    readBy: PERSONAL,
    written: true,
  },
  country: { type: nullableText(TEXT.line), description: 'The country.', example: 'US', written: true },
  propertyType: {
    type: nullableText(TEXT.kind),
    description: 'The type of property.',
    inputDescription: 'The type of property. `catalog` suggests values.',
    example: 'single_family',
    written: true,
  },
  createdAt: { type: timestamp, description: 'When the profile was created.' },
  updatedAt: { type: timestamp, description: 'When the profile last changed.' },
});

/** Contractors with equal values are sorted newest first. */
export const CONTRACTOR_ORDERS = ['newest', 'best_rated', 'most_completed', 'nearest'] as const;
export type ContractorOrder = (typeof CONTRACTOR_ORDERS)[number];

const listOf = (entry: string) => z.array(requiredText(TEXT.listItem).describe(entry)).max(TEXT.listItems);

export const CONTRACTOR = entity('Contractor', 'A contractor’s profile, completed jobs, and ratings.', {
  id: identifier('contractor'),
  userId: { type: idOf('user'), description: 'The user that this profile belongs to.' },
  companyName: {
    type: nullableText(TEXT.line),
    description: 'The company’s name.',
    example: 'Carl’s Pipes LLC',
    written: true,
  },
  businessType: {
    type: nullableText(TEXT.kind),
    description: 'The type of business.',
    inputDescription: 'The type of business. `catalog` suggests values.',
    example: 'llc',
    written: true,
  },
  licenseNumber: {
    type: nullableText(TEXT.line),
    description: 'The license number.',
    example: 'M-40417',
    readBy: CREDENTIALS,
    written: true,
  },
  licenseState: {
    type: nullableText(TEXT.line),
    description: 'The state that issued the license.',
    example: 'TX',
    written: true,
  },
  insuranceProvider: {
    type: nullableText(TEXT.line),
    description: 'The insurance provider.',
    example: 'Lone Star Mutual',
    written: true,
  },
  insurancePolicyNumber: {
    type: nullableText(TEXT.line),
    description: 'The insurance policy number.',
    example: 'LS-2210-77',
    readBy: CREDENTIALS,
    written: true,
  },
  yearsInBusiness: {
    type: z.int().min(0).max(500).nullable(),
    description: 'The number of years in business.',
    example: 12,
    written: true,
  },
  serviceAreas: {
    type: listOf('A place.'),
    description:
      'The places where the contractor works. Searches by distance find only ZIP codes and cities with their state, ' +
      'such as `Austin, TX`.',
    example: ['Austin, TX'],
    written: true,
  },
  specialties: {
    type: listOf('A kind of work.'),
    description: 'The kinds of work that the contractor is best at.',
    example: ['plumbing'],
    written: true,
  },
  bio: {
    type: nullableText(TEXT.long),
    description: 'The contractor’s description of the business.',
    example: 'Leaks found and fixed since 2014.',
    written: true,
  },
  website: {
    type: nullableWebAddress,
    description: 'The URL of the business’s website.',
    example: 'https://carlspipes.example.com',
    written: true,
  },
  verified: { type: z.boolean(), description: 'True if an admin has verified the contractor.', example: true },
  completedJobs: {
    type: integer(),
    description: 'The number of jobs that were approved, or completed by an admin with credit.',
    example: 31,
  },
  ratingAverage: {
    type: z.number().min(1).max(5).nullable(),
    description: 'The average of all ratings, from 1 to 5. Null until the first rating.',
    example: 4.75,
  },
  ratingCount: { type: integer(), description: 'The number of ratings.', example: 24 },
  suspended: {
    type: z.boolean().nullable(),
    description:
      'True while the contractor is suspended. Only admins see a suspended contractor in lists, and the ' +
      'contractor’s bids can’t be awarded.',
    example: false,
    readBy: CREDENTIALS,
  },
  createdAt: { type: timestamp, description: 'When the profile was created.' },
  updatedAt: { type: timestamp, description: 'When the profile last changed.' },
});

/** The distance isn't one of the contractor's fields, because it depends on the search. */
export const CONTRACTOR_DISTANCE = {
  type: z.number().min(0).nullable(),
  description:
    'The distance in miles from the place in the filter to the contractor’s nearest service area, rounded to a ' +
    'tenth. Null if you don’t filter by place.',
  example: 4.2,
} as const;

/** A job, with the fields that its homeowner fills in and the fields that the service sets. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { TEXT } from '../market-limits.js';
import { JOB_STATES } from '../states.js';
import { URGENCIES } from '../jobs/publishing.js';
import { OWNER_AND_ADMINS, PARTIES_AND_ADMINS } from '../reading/readers.js';
import {
  enumOf,
  timestamp,
  money,
  nullableDay,
  nullableText,
  rating,
  requiredText,
  integer,
} from '../../../platform/fields/values.js';
import { idOf, identifier } from '../id-fields.js';

/** The distance isn't one of the job's fields, because it depends on the place in the list's filter. */
export const JOB_DISTANCE = {
  type: z.number().min(0).nullable(),
  description:
    'The distance in miles from the place in the filter to the center of the job’s city, rounded to a tenth. Null ' +
    'if you don’t filter by place.',
  example: 4.2,
};

export const WARNING_CODES = ['UNKNOWN_CATEGORY', 'UNKNOWN_PLACE', 'PLACE_MISMATCH', 'DATE_IN_PAST'] as const;

/** This is long enough for a sentence that quotes two of the job's values. */
const WARNING_CHARACTERS_MAX = 3 * TEXT.line;

export const JOB_WARNING = entity(
  'JobWarning',
  'A problem that may keep contractors from finding a job. A warning never blocks a call.',
  {
    code: { type: enumOf(WARNING_CODES, 'JobWarningCode'), description: 'The problem.', example: 'UNKNOWN_CATEGORY' },
    field: { type: z.string(), description: 'The name of the field to check.', example: 'category' },
    message: {
      type: z.string().meta({ maxLength: WARNING_CHARACTERS_MAX }),
      description: 'A message for the user that says what’s wrong and how to fix it.',
      example: '“plumming” is not a category in the catalog. Did you mean “plumbing”?',
    },
  },
);

/** Warnings are computed when the job is read. REST omits them from lists. */
export const JOB_WARNINGS = {
  type: z.array(JOB_WARNING.schema),
  description: 'Problems that may keep contractors from finding the job. Empty once the job is awarded or has ended.',
  example: [],
  readBy: OWNER_AND_ADMINS,
} as const;

export const JOB = entity('Job', 'Work that a homeowner wants done.', {
  id: identifier('job'),
  title: {
    type: requiredText(TEXT.title),
    description: 'A one-line summary of the work.',
    example: 'Repair the kitchen sink',
    written: true,
  },
  description: {
    type: requiredText(TEXT.long),
    description: 'A full description of the work.',
    example: 'It drips day and night, and the cabinet below is wet.',
    written: true,
  },
  status: { type: enumOf(JOB_STATES, 'JobStatus'), description: 'The job’s status.', example: 'open' },
  category: {
    type: nullableText(TEXT.kind),
    description: 'The trade. It can’t change after the job is published.',
    inputDescription: 'The trade, such as `plumbing`. `catalog` suggests values.',
    example: 'plumbing',
    written: true,
  },
  budgetMin: {
    type: money.nullable(),
    description: 'The least that the homeowner expects to pay, in the market’s currency.',
    example: 150,
    written: true,
  },
  budgetMax: {
    type: money.nullable(),
    description: 'The most that the homeowner wants to pay, in the market’s currency.',
    example: 400.5,
    written: true,
  },
  urgency: {
    type: enumOf(URGENCIES, 'Urgency').nullable(),
    description: 'How soon the work should be done.',
    inputDescription: 'How soon the work should be done. It sets the price of publishing.',
    example: 'standard',
    written: true,
  },
  addressLine1: {
    type: nullableText(TEXT.line),
    description: 'The street and number.',
    example: '1200 Barton Springs Road',
    readBy: PARTIES_AND_ADMINS,
    written: true,
  },
  addressLine2: {
    type: nullableText(TEXT.line),
    description: 'The second line of the address.',
    example: null,
    readBy: PARTIES_AND_ADMINS,
    written: true,
  },
  city: { type: nullableText(TEXT.line), description: 'The city.', example: 'Austin', written: true },
  state: { type: nullableText(TEXT.line), description: 'The state.', example: 'TX', written: true },
  zipCode: {
    type: nullableText(TEXT.line),
    description: 'The ZIP code.',
    example: '78704',
    readBy: PARTIES_AND_ADMINS,
    written: true,
  },
  country: { type: nullableText(TEXT.line), description: 'The country.', example: 'US', written: true },
  latitude: {
    type: z.number().min(-90).max(90).nullable(),
    description:
      'The latitude, looked up from the ZIP code. If the ZIP code is unknown or far from the city, it’s looked up ' +
      'from the city and state. Null if the place is unknown.',
    example: 30.2428,
    readBy: PARTIES_AND_ADMINS,
  },
  longitude: {
    type: z.number().min(-180).max(180).nullable(),
    description:
      'The longitude, looked up from the ZIP code. If the ZIP code is unknown or far from the city, it’s looked up ' +
      'from the city and state. Null if the place is unknown.',
    example: -97.7658,
    readBy: PARTIES_AND_ADMINS,
  },
  desiredStartDate: {
    type: nullableDay,
    description: 'The date when the work should start.',
    example: '2026-03-09',
    written: true,
  },
  desiredCompletionDate: {
    type: nullableDay,
    description: 'The date when the work should be finished.',
    example: '2026-03-20',
    written: true,
  },
  requirements: {
    type: nullableText(TEXT.long),
    description: 'What the contractor must bring or know.',
    example: 'Bring a replacement faucet.',
    written: true,
  },
  homeownerId: { type: idOf('homeowner'), description: 'The homeowner who posted the job.' },
  awardedBidId: {
    type: idOf('bid').nullable(),
    description: 'The awarded bid. Null until the job is awarded.',
    example: null,
  },
  rating: {
    type: rating.nullable(),
    description: 'The homeowner’s rating of the work, from 1 to 5. Null until they give one.',
    example: null,
  },
  review: {
    type: nullableText(TEXT.note),
    description: 'The homeowner’s review of the work. Other users can read it. Null if the homeowner didn’t write one.',
    example: null,
  },
  version: {
    type: integer(1),
    description:
      'The job’s version, which increases with every change. To change only the version you’ve read, pass it as ' +
      '`expectedVersion`. In REST, it’s the `ETag`: send it as `If-Match`.',
    example: 3,
  },
  statusChangedAt: { type: timestamp, description: 'When the job entered its current status. Edits don’t change it.' },
  createdAt: { type: timestamp, description: 'When the draft was created.' },
  updatedAt: {
    type: timestamp,
    description: 'When the job last changed. Bids, and proposals in a dispute, don’t change the job.',
  },
});

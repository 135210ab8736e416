/** A homeowner's review of finished work, for anyone looking for a contractor. */
import { entity } from '../../../platform/fields/entity.js';
import { identifier } from '../id-fields.js';
import { TEXT } from '../market-limits.js';
import { timestamp, nullableText, rating, requiredText } from '../../../platform/fields/values.js';

export const REVIEW = entity('Review', 'What a homeowner said of a contractor when approving the work.', {
  id: identifier('review'),
  rating: { type: rating.nullable(), description: 'From 1 to 5; null where none was given.', example: 4 },
  review: {
    type: nullableText(TEXT.note),
    description: 'What others should know about the work; null where only a rating was given.',
    example: 'Quick and clean.',
  },
  category: { type: nullableText(TEXT.kind), description: 'The trade of the job.', example: 'plumbing' },
  homeownerFirstName: {
    type: requiredText(TEXT.name),
    description: 'The given name of the homeowner.',
    example: 'Hanna',
  },
  createdAt: { type: timestamp, description: 'When the work was approved.' },
});

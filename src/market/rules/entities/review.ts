/** A homeowner's review of finished work. Anyone looking for a contractor can read it. */
import { entity } from '../../../platform/fields/entity.js';
import { identifier } from '../id-fields.js';
import { TEXT } from '../market-limits.js';
import { timestamp, nullableText, rating, requiredText } from '../../../platform/fields/values.js';

export const REVIEW = entity('Review', 'A homeowner’s rating and review of a contractor’s work.', {
  id: identifier('review'),
  rating: {
    type: rating.nullable(),
    description: 'The rating, from 1 to 5. Null if the homeowner gave none.',
    example: 4,
  },
  review: {
    type: nullableText(TEXT.note),
    description: 'The text of the review. Other users can read it. Null if the homeowner gave only a rating.',
    example: 'Quick and clean.',
  },
  category: { type: nullableText(TEXT.kind), description: 'The trade of the job.', example: 'plumbing' },
  homeownerFirstName: { type: requiredText(TEXT.name), description: 'The homeowner’s first name.', example: 'Hanna' },
  createdAt: {
    type: timestamp,
    description: 'When the work was approved or, if the approval had no rating and no review, when it was rated.',
  },
});

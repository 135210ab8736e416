/** Lists a contractor's reviews. Any logged-in user can read them. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { selectContractor } from '../../store/accounts/accounts.js';
import type { Page } from '../../../platform/db/pages/page.js';
import type { ReviewId } from '../../rules/ids.js';
import type { Db } from '../../../platform/db/database.js';
import { listReviews as reviewsNewestFirst, selectReview, type Review } from '../../store/people/reviews.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { idInPath } from '../../rules/id-fields.js';

export const REVIEWS_NEWEST_FIRST = ['time', 'text'] as const;

export const listReviews = operation({
  name: 'contractorReviews',
  description: 'Lists a contractor’s reviews, newest first. Any logged-in user can read them.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('contractor').describe('The contractor.'), ...pageShape }),
  async run({ db, include }, { id, ...page }): Promise<Page<Review>> {
    const request = pageRequest(page, REVIEWS_NEWEST_FIRST, include);
    const [contractor] = await selectContractor(db, { id });
    if (!contractor) throw refuse('NOT_FOUND', { message: 'Contractor not found.' });
    return reviewsNewestFirst(db, { contractorId: id }, request);
  },
});

export async function findReview(db: Db, id: ReviewId): Promise<Review> {
  const [review] = await selectReview(db, { id });
  if (!review) throw refuse('NOT_FOUND', { message: 'Review not found.' });
  return review;
}

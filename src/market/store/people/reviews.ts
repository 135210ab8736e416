/** Lists reviews of contractors, newest first: one contractor's list, or a page for each of many. */
import { and, eq, sql } from 'drizzle-orm';
import type { REVIEW } from '../../rules/entities/review.js';
import type { RowOf } from '../../../platform/fields/entity.js';
import type { ContractorId, ReviewId } from '../../rules/ids.js';
import type { Db } from '../../../platform/db/database.js';
import { pagedList, type SamePageRequest } from '../../../platform/db/pages/page.js';
import { EACH_PARENT, pagesOfMany } from '../../../platform/db/pages/pages-of-many.js';
import { asArray, type Placeholders, selectFrom, mayBeStale, statement } from '../../../platform/db/statement.js';
import { reviews } from '../tables/reviews.js';

const { id, rating, review, createdAt } = reviews;

/** The job and the homeowner are joined after the limit, so they are read only for the page's rows. */
const shape = {
  id,
  rating,
  review,
  category: sql<string | null>`(select j.category from jobs j where j.id = "reviews"."job_id")`.as('category'),
  homeownerFirstName: sql<string>`(select u.first_name from users u where u.id = "reviews"."author_id")`.as(
    'homeowner_first_name',
  ),
  createdAt,
};

export type Review = RowOf<
  typeof REVIEW,
  Pick<typeof reviews.$inferSelect, 'id' | 'rating' | 'review' | 'createdAt'> & {
    category: string | null;
    homeownerFirstName: string;
  }
>;

export const listReviews = pagedList({
  name: 'listReviews',
  mayBeStale: true,
  keys: { createdAt, id },
  direction: 'desc',
  fields: shape,
  rows: ($: Placeholders<{ contractorId: ContractorId }>, fields, condition) =>
    selectFrom(reviews, fields, and(eq(reviews.contractorId, $('contractorId')), condition)),
});

const page = pagesOfMany<ContractorId, { ids: string }, Review>({
  name: 'reviewsOfMany',
  mayBeStale: true,
  shape: {
    ...shape,
    category: sql<string | null>`"reviews"."category"`.as('category'),
    homeownerFirstName: sql<string>`"reviews"."homeowner_first_name"`.as('homeowner_first_name'),
  },
  partOf: ($, request) => listReviews.partOf({ contractorId: EACH_PARENT }, $, request),
  totalOf: ($) => listReviews.totalOf({ contractorId: EACH_PARENT }, $),
  pageOf: listReviews.pageOf,
});

export const selectReview = mayBeStale(
  statement('selectReview', shape, ($: Placeholders<{ id: ReviewId }>, fields) =>
    selectFrom(reviews, fields, eq(reviews.id, $('id'))),
  ),
);

export function reviewsOfMany(db: Db, contractorIds: readonly ContractorId[], request: SamePageRequest) {
  return page(db, { ids: asArray(contractorIds) }, request);
}

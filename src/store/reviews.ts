/** Reviews of contractors, the newest first: of one, or a page of each of many at once. */
import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { REVIEW } from '../rules/entities/review.js';
import type { RowOf } from '../rules/entity.js';
import type { ContractorId } from '../rules/ids.js';
import type { Db } from './database.js';
import { listing, positionValues, totalOf, type Page, type SamePageRequest } from './page.js';
import { asJson, jsonReader } from './rows.js';
import { asArray, remembering, statement, type Values } from './statement.js';
import { reviews } from './tables/reviews.js';

const { id, rating, review, createdAt } = reviews;

/** The job and the homeowner are joined after the page was cut, for its rows alone. */
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

export const listReviews = listing({
  keys: { createdAt, id },
  order: 'newest first',
  rows: (db, $: Values<{ contractorId: ContractorId }>, within) =>
    db
      .select(shape)
      .from(reviews)
      .where(and(eq(reviews.contractorId, $.contractorId), within))
      .$dynamic(),
});

type Rows = (db: Db, values: { contractorIds: string }) => Promise<{ id: ContractorId; found: unknown[][] }[]>;

const pages = remembering<Rows>();
/** As the page's own select names its columns. */
const ofPage = {
  ...shape,
  category: sql<string | null>`"reviews"."category"`.as('category'),
  homeownerFirstName: sql<string>`"reviews"."homeowner_first_name"`.as('homeowner_first_name'),
};
const read = jsonReader<Review>(ofPage);

const EACH = sql`asked.id`;

function pagesOf(size: number, isAfter: boolean): Rows {
  return pages(
    `${size} ${isAfter}`,
    () =>
      statement((db, $: Values<{ contractorIds: string }>) => {
        const { from, order } = listReviews.partOf({ contractorId: EACH }, $, { size, isAfter });
        const found = sql<
          unknown[][]
        >`(select coalesce(json_agg(${asJson(ofPage)} order by ${order}), '[]') from ${from})`;
        return db.select({ id: sql<ContractorId>`${EACH}`.as('id'), found: found.as('found') }).from(askedFor($));
      }, 'json') as Rows,
  );
}

const countReviews = statement((db, $: Values<{ contractorIds: string }>) =>
  db
    .select({
      id: sql<ContractorId>`${EACH}`.as('id'),
      count: sql<number>`${listReviews.totalOf({ contractorId: EACH }, $)}::int`.as('count'),
    })
    .from(askedFor($)),
);

function askedFor($: Values<{ contractorIds: string }>): SQL {
  return sql`unnest(${$.contractorIds}::text[]) as asked(id)`;
}

/**
 * The same page of each contractor’s reviews, in one statement. How many there are is one statement more for all of
 * them, if somebody asks.
 */
export async function reviewsOfMany(
  db: Db,
  contractorIds: readonly ContractorId[],
  { size, after }: SamePageRequest,
): Promise<Map<ContractorId, Page<Review>>> {
  const asked = { contractorIds: asArray(contractorIds) };
  const isAfter = after !== undefined;
  let counted: Promise<Map<ContractorId, number>> | undefined;
  const count = async () => new Map((await countReviews(db, asked)).map((row) => [row.id, row.count]));
  const rows = await pagesOf(size, isAfter)(db, { ...asked, ...positionValues(after) });
  return new Map(
    rows.map((row) => [
      row.id,
      listReviews.pageOf(row.found.map(read), { size, isAfter }, async () =>
        totalOf((await (counted ??= count())).get(row.id)),
      ),
    ]),
  );
}

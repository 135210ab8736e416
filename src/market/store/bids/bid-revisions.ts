/** Replaces a bid's offer, keeps the earlier one, and lists a bid's earlier offers. */
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { BID_REVISION } from '../../rules/entities/bid.js';
import type { RowOf } from '../../../platform/fields/entity.js';
import type { BidId } from '../../rules/ids.js';
import type { Db } from '../../../platform/db/database.js';
import { pagedList, type SamePageRequest } from '../../../platform/db/pages/page.js';
import { EACH_PARENT, pagesOfMany } from '../../../platform/db/pages/pages-of-many.js';
import {
  asArray,
  builder,
  columns,
  insertedRow,
  type Placeholders,
  selectFrom,
  statement,
} from '../../../platform/db/statement.js';
import { bidRevisions, bids } from '../tables/bids.js';
import { bidColumns } from './bids.js';

export const OFFER = [
  'amount',
  'estimatedDurationDays',
  'message',
  'proposedStartDate',
  'materialsIncluded',
  'paymentTerms',
] as const;

export type Offer = Pick<typeof bids.$inferSelect, (typeof OFFER)[number]>;

const { bidId: _whose, ...shape } = getTableColumns(bidRevisions);

export type BidRevision = RowOf<typeof BID_REVISION, Omit<typeof bidRevisions.$inferSelect, 'bidId'>>;

/** Replaces the offer of a bid whose job is locked. */
export const reviseBid = statement(
  'reviseBid',
  bidColumns,
  ($: Placeholders<Offer & { id: BidId; jobPublicEditCount: number }>, fields) => {
    const earlierOffer = {
      bidId: sql`${bids.id}`,
      version: sql`${bids.version}`,
      ...Object.fromEntries(OFFER.map((name) => [name, sql`${bids[name]}`])),
      replacedAt: sql`now()`,
    };
    const values = insertedRow(getTableColumns(bidRevisions), earlierOffer);
    const earlier = builder.$with('earlier').as(
      builder
        .insert(bidRevisions)
        .select(sql`select ${values} from ${bids} where ${bids.id} = ${$('id')}`)
        .returning({ bidId: bidRevisions.bidId }),
    );
    return builder
      .with(earlier)
      .update(bids)
      .set({
        ...columns($, [...OFFER, 'jobPublicEditCount']),
        version: sql`${bids.version} + 1`,
        updatedAt: sql`now()`,
      })
      .where(eq(bids.id, $('id')))
      .returning(fields);
  },
);

/** Lists a bid's earlier offers. The caller has checked that the viewer may see the bid. */
export const listBidRevisions = pagedList({
  name: 'listBidRevisions',
  mayBeStale: true,
  keys: { version: bidRevisions.version },
  direction: 'desc',
  fields: shape,
  rows: ($: Placeholders<{ bidId: BidId }>, fields, condition) =>
    selectFrom(bidRevisions, fields, and(eq(bidRevisions.bidId, $('bidId')), condition)),
});

const page = pagesOfMany<BidId, { ids: string }, BidRevision>({
  name: 'bidRevisionsOfMany',
  mayBeStale: true,
  shape,
  partOf: ($, request) => listBidRevisions.partOf({ bidId: EACH_PARENT }, $, request),
  totalOf: ($) => listBidRevisions.totalOf({ bidId: EACH_PARENT }, $),
  pageOf: listBidRevisions.pageOf,
});

/** Reads the same page of each bid's earlier offers. */
export function bidRevisionsOfMany(db: Db, bidIds: readonly BidId[], request: SamePageRequest) {
  return page(db, { ids: asArray(bidIds) }, request);
}

/** Reads a bid, and its bidder if selected, as one JSON value in another row. */
import { sql, type SQL } from 'drizzle-orm';
import type { Role, Viewer } from '../../rules/viewer.js';
import { bidColumns, type Bid } from './bids.js';
import {
  narrow,
  profileAsJson,
  profileReader,
  type PersonFields,
  type ProfileJson,
  type ReadableContractor,
} from '../people/people.js';
import { asJson, jsonReader, type RowShape } from '../../../platform/db/rows.js';
import type { Placeholders } from '../../../platform/db/statement.js';
import type { ViewerIds } from '../visibility.js';

export interface BidFields {
  /** Defaults to all fields. The columns that other code needs are always read. */
  readonly fields?: readonly string[];
  readonly bidder?: PersonFields;
}

export type BidWithBidder = Bid & { bidder?: ReadableContractor };

export type BidJson = readonly [bid: readonly unknown[], bidder?: ProfileJson | null];

const ALWAYS = ['id', 'jobId', 'contractorId', 'status', 'version', 'guaranteedView', 'createdAt'];

function shapeOf({ fields }: BidFields): RowShape {
  if (!fields) return bidColumns;
  return narrow<RowShape>(bidColumns, fields.includes('hold') ? [...fields, 'holdId'] : fields, ALWAYS);
}

export function bidAsJson(selection: BidFields, role: Role, $: Placeholders<ViewerIds>): SQL {
  const bid = asJson(shapeOf(selection));
  if (!selection.bidder) return sql`json_build_array(${bid})`;
  const bidder = profileAsJson('contractor', sql`"bids"."contractor_id"`, role, $, selection.bidder);
  return sql`json_build_array(${bid}, ${bidder})`;
}

export function bidReader(selection: BidFields, role: Role): (json: BidJson, viewer: Viewer) => BidWithBidder {
  const readBid = jsonReader<BidWithBidder>(shapeOf(selection));
  if (!selection.bidder) return ([values]) => readBid(values);
  const readBidder = profileReader('contractor', selection.bidder, role);
  return ([values, bidder], viewer) => {
    const bid = readBid(values);
    if (bidder) bid.bidder = readBidder(bidder, viewer);
    return bid;
  };
}

/** Reads the parts of jobs: for many jobs at once, or from the column that a select of jobs has for them. */
import { getTableColumns, sql } from 'drizzle-orm';
import type { DisputeEvent } from '../rules/disputes.js';
import type { ContractorId, JobId } from '../rules/ids.js';
import type { BidState } from '../rules/states.js';
import type { Role, Viewer } from '../rules/viewer.js';
import type { Bid } from './bids.js';
import { bySelection } from './by-selection.js';
import type { Db } from './database.js';
import { eventShape, type EventRow } from './events.js';
import {
  bidFields,
  includedAsJson,
  PART_NAMES,
  type IncludeColumns,
  type JobInclude,
  type OfStatus,
  type PartName,
} from './job-include.js';
import { positionValues, type Position } from './page.js';
import { bidderReader, homeownerOf, type PersonFields, type PersonRow } from './people.js';
import { jsonReader } from './rows.js';
import { asArray, statement, type Values } from './statement.js';
import { events } from './tables/events.js';
import { jobs } from './tables/jobs.js';
import { forEachRole, idsOf, type ViewerIds } from './visibility.js';

/** The rows that were read, including fields that the viewer may not read. */
export interface Included {
  readonly homeowner?: PersonRow;
  readonly ownBids?: readonly Bid[];
  /** Null where there is none, or none that the viewer may see. */
  readonly awardedBid?: Bid | null;
  /** One more than the page holds, if there are more. */
  readonly bids?: readonly Bid[];
  readonly bidsTotal?: number;
  readonly events?: readonly EventRow[];
  readonly eventsTotal?: number;
  readonly disputeEvents?: readonly DisputeEvent[];
  /** The contractors of these bids, by their ids. */
  readonly bidders: ReadonlyMap<ContractorId, PersonRow>;
}

const readEvent = jsonReader<EventRow>(eventShape);
const readDisputeEvent = jsonReader<DisputeEvent>(getTableColumns(events));

const selectParts = forEachRole((role) =>
  bySelection((include) =>
    statement((db, $: Values<ViewerIds & OfStatus & { jobIds: string }>) => {
      const included = includedAsJson({ include, role, $, jobId: sql`asked.id` });
      return db
        .select({ id: sql<JobId>`asked.id`, included })
        .from(sql`unnest(${$.jobIds}::text[]) as asked(id)`)
        .leftJoin(jobs, sql`"jobs"."id" = asked.id`);
    }, 'json'),
  ),
);

/**
 * The position after which a list begins, and the state of its bids, where the include has `isAfter` and `ofStatus`.
 */
export interface PartsOfMany {
  readonly after?: Position | undefined;
  readonly status?: BidState | null;
}

/**
 * Reads the parts of many jobs, which the viewer may see, in one statement. For each job it reads at most one row more
 * than the page's size; the caller limits the number of jobs.
 */
export async function readIncluded(
  db: Db,
  viewer: Viewer,
  jobIds: readonly JobId[],
  include: JobInclude,
  { after, status = null }: PartsOfMany = {},
): Promise<Map<JobId, Included>> {
  const { role } = viewer;
  const values = { jobIds: asArray([...new Set(jobIds)]), status, ...idsOf(viewer), ...positionValues(after) };
  const rows = await selectParts[role](include)(db, values);
  const read = includeReader(include, role);
  return new Map(rows.map(({ id, included }) => [id, read({ included })]));
}

type PersonJson = Parameters<ReturnType<typeof bidderReader>>[0];
type BidJson = readonly [bid: readonly unknown[], bidder?: PersonJson];

type ReadIncluded = (row: IncludeColumns) => Included;

const readers = forEachRole((role) => bySelection((include) => readerFor(include, role)));

/** Reads the columns of `includeColumns` for this include. */
export function includeReader(include: JobInclude, role: Role): ReadIncluded {
  return readers[role](include);
}

type Bidders = Map<ContractorId, PersonRow>;
type Readers = { readonly [Name in PartName]: (part: never, bidders: Bidders) => Included[Name] };

const NO_BIDDERS: Bidders = new Map();
const NO_BIDS: readonly Bid[] = [];
const NO_FIELDS: PersonFields = { user: [], profile: [] };

function readerFor(include: JobInclude, role: Role): ReadIncluded {
  const readBid = jsonReader<Bid>(bidFields(include));
  const readBidder = bidderReader(include.bidders ?? NO_FIELDS, role);
  const bidFrom = ([values, bidder]: BidJson, bidders: Bidders): Bid => {
    const bid = readBid(values);
    if (bidder) bidders.set(bid.contractorId, readBidder(bidder));
    return bid;
  };
  const bidsFrom = (list: BidJson[], bidders: Bidders) =>
    list.length === 0 ? NO_BIDS : list.map((bid) => bidFrom(bid, bidders));
  const read: Readers = {
    ownBids: bidsFrom,
    awardedBid: (bid: BidJson | null, bidders) => bid && bidFrom(bid, bidders),
    bids: bidsFrom,
    bidsTotal: (count: number) => count,
    eventsTotal: (count: number) => count,
    events: (list: unknown[][]) => list.map(readEvent),
    disputeEvents: (list: unknown[][]) => list.map(readDisputeEvent),
  };
  const asked = PART_NAMES.filter((name) => include[name] !== undefined);
  return (row) => {
    const bidders: Bidders = include.bidders ? new Map() : NO_BIDDERS;
    const found: { bidders: Bidders } & Record<string, unknown> = { bidders, homeowner: homeownerOf(row) };
    // The database has written each part with the same columns.
    for (let at = 0; at < asked.length; at += 1)
      found[asked[at] as PartName] = read[asked[at] as PartName](row.included?.[at] as never, bidders);
    return found;
  };
}

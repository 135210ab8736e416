/**
 * What is read beside a job, in the job's own statement: whoever asks for a page of jobs with their homeowners and bids
 * costs one round trip. Each part stands in the row as JSON, and only what is asked for stands in the statement at all.
 */
import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { ContractorId } from '../rules/ids.js';
import { PAGE } from '../rules/limits.js';
import type { Role } from '../rules/viewer.js';
import {
  bidderAsJson,
  bidderReader,
  homeownerColumns,
  homeownerOf,
  narrowed,
  type HomeownerColumns,
  type PersonFields,
  type PersonRow,
} from './accounts.js';
import { bidColumns, type Bid } from './bids.js';
import { isOfDispute, reachOnJob, type JobEvent } from './events.js';
import { asJson, jsonReader, type RowShape } from './rows.js';
import { remembering, type Values } from './statement.js';
import { homeowners, users } from './tables/accounts.js';
import { events } from './tables/events.js';
import { forEachRole, visibleBids, type ViewerIds } from './visibility.js';

/** What somebody asks for. Lists are asked for by the size of their first page. */
export interface Beside {
  /** Of a list: how many entries it has in all. */
  readonly total?: true;
  /** Of the job itself; all of it, unless told. */
  readonly job?: readonly string[];
  readonly homeowner?: PersonFields;
  /** The viewer's own bids, the newest first. */
  readonly ownBids?: true;
  readonly awardedBid?: true;
  readonly bids?: number;
  /** Of any of these bids; what they are found by and ordered by is always there. */
  readonly bid?: readonly string[];
  /** How many there are in all. */
  readonly bidsTotal?: true;
  /** Who made the bids, wherever bids are asked for. */
  readonly bidders?: PersonFields;
  readonly events?: number;
  readonly eventsTotal?: true;
  readonly disputeEvents?: true;
}

/** What was found: the rows as they are, before anyone has said what of them the viewer may read. */
export interface Found {
  readonly homeowner?: PersonRow;
  readonly ownBids?: readonly Bid[];
  /** Null where there is none, or none that the viewer may see. */
  readonly awardedBid?: Bid | null;
  /** One more than the page holds, if there are more. */
  readonly bids?: readonly Bid[];
  readonly bidsTotal?: number;
  readonly events?: readonly JobEvent[];
  readonly eventsTotal?: number;
  readonly disputeEvents?: readonly JobEvent[];
  /** Those who made any of these bids, by their profile. */
  readonly bidders: ReadonlyMap<ContractorId, PersonRow>;
}

type PartName = Exclude<keyof Beside, 'total' | 'job' | 'homeowner' | 'bid' | 'bidders'>;

const eventColumns = getTableColumns(events);
const readEvent = jsonReader<JobEvent>(eventColumns);

interface Asked {
  readonly beside: Beside;
  readonly role: Role;
  readonly $: Values<ViewerIds>;
}

const THIS_JOB = sql`"jobs"."id"`;
const NEWEST_FIRST = sql`"bids"."created_at" desc, "bids"."id" desc`;
const BIDS_IN_ORDER = sql`"bids"."guaranteed_view" desc, ${NEWEST_FIRST}`;
const EVENTS_IN_ORDER = sql`"events"."sequence"`;

/** Of every part, how the database finds it. */
const PARTS: { readonly [Name in PartName]-?: (asked: Asked) => SQL } = {
  ownBids: (asked) =>
    asked.role === 'contractor' ? listOf(bidJson(asked), ownBidsOn(asked.$), NEWEST_FIRST) : sql`'[]'::json`,
  awardedBid: (asked) =>
    sql`(select ${bidJson(asked)} from bids where "bids"."id" = "jobs"."awarded_bid_id" and ${visibleBids(asked.role, asked.$)})`,
  bids: (asked) =>
    listOf(bidJson(asked), firstOf('bids', bidsOnJob(asked), BIDS_IN_ORDER, asked.beside.bids), BIDS_IN_ORDER),
  bidsTotal: (asked) => countOf(bidsOnJob(asked)),
  events: (asked) =>
    listOf(
      asJson(eventColumns),
      firstOf('events', eventsOfJob(asked), EVENTS_IN_ORDER, asked.beside.events),
      EVENTS_IN_ORDER,
    ),
  eventsTotal: (asked) => countOf(eventsOfJob(asked)),
  disputeEvents: () =>
    listOf(asJson(eventColumns), sql`events where "events"."job_id" = ${THIS_JOB} and ${isOfDispute}`, EVENTS_IN_ORDER),
};

function bidsOnJob({ role, $ }: Asked): SQL {
  return role === 'contractor' ? ownBidsOn($) : sql`bids where "bids"."job_id" = ${THIS_JOB}`;
}

/**
 * With the moment in which the job was made, the index of a contractor's jobs leads to these bids alone, however many
 * others there are.
 */
function ownBidsOn($: Values<ViewerIds>): SQL {
  return sql`bids where "bids"."job_id" = ${THIS_JOB} and "bids"."contractor_id" = ${$.contractorId} and "bids"."job_created_at" = "jobs"."created_at"`;
}

function eventsOfJob({ role, $ }: Asked): SQL {
  return sql`events where "events"."job_id" = ${THIS_JOB} and ${reachOnJob(role, $)}`;
}

/** One more than the page holds tells whether more follow. */
function firstOf(table: 'bids' | 'events', rows: SQL, order: SQL, size = 0): SQL {
  return sql`(select * from ${rows} order by ${order} limit ${sql.raw(String(size + 1))}) ${sql.identifier(table)}`;
}

function countOf(rows: SQL): SQL {
  return sql`(select count(*) from (select from ${rows} limit ${sql.raw(String(PAGE.exactTotalMax + 1))}) counted)`;
}

const PART_NAMES = Object.keys(PARTS) as PartName[];

const BID_ALWAYS = ['id', 'jobId', 'contractorId', 'status', 'createdAt'];

function bidFields({ bid = [], bids }: Beside): RowShape {
  return narrowed<RowShape>(
    bidColumns,
    [...bid, ...(bid.includes('hold') ? ['holdId'] : []), ...(bids === undefined ? [] : ['guaranteedView'])],
    BID_ALWAYS,
  );
}

function bidJson({ beside, role, $ }: Asked): SQL {
  const bid = asJson(bidFields(beside));
  return beside.bidders
    ? sql`json_build_array(${bid}, ${bidderAsJson(sql`"bids"."contractor_id"`, role, $, beside.bidders)})`
    : sql`json_build_array(${bid})`;
}

function listOf(entry: SQL, from: SQL, order: SQL): SQL {
  return sql`(select coalesce(json_agg(${entry} order by ${order}), '[]') from ${from})`;
}

/**
 * What a select of jobs has beside them: the homeowner in columns of their own, since every job has one, and lists and
 * what may be absent as JSON.
 */
export function besideColumns(beside: Beside, role: Role, $: Values<ViewerIds>) {
  return {
    ...(beside.homeowner && homeownerColumns(role, $, beside.homeowner)),
    beside: besideAsJson(beside, role, $),
  };
}

/** As such a select gives it. */
export interface BesideColumns extends Partial<HomeownerColumns> {
  readonly beside: BesideJson;
}

interface Joinable {
  innerJoin(table: PgTable, on: SQL): Joinable;
}

/** Drizzle gives a select another type with each join; what was selected stays the same. */
export function joiningBeside<Select extends object>(select: Select, beside: Beside): Select {
  if (!beside.homeowner) return select;
  return (select as Joinable)
    .innerJoin(homeowners, sql`homeowners.id = "jobs"."homeowner_id"`)
    .innerJoin(users, sql`users.id = homeowners.user_id`) as Select;
}

/** The other parts that are asked for, as one column; null if there are none. */
function besideAsJson(beside: Beside, role: Role, $: Values<ViewerIds>): SQL<BesideJson> {
  const parts = PART_NAMES.filter((name) => beside[name] !== undefined).map((name) => PARTS[name]({ beside, role, $ }));
  return parts.length === 0 ? sql`null::json` : sql`json_build_array(${sql.join(parts, sql`, `)})`;
}

type BesideJson = readonly unknown[] | null;

type PersonJson = Parameters<ReturnType<typeof bidderReader>>[0];
type BidJson = readonly [bid: readonly unknown[], bidder?: PersonJson];

type ReadBeside = (row: BesideColumns) => Found;

/** What is made for each way of asking, when somebody first asks so. */
export function asAsked<Made extends object>(make: (beside: Beside) => Made): (beside: Beside) => Made {
  const made = remembering<Made>();
  return (beside) => made(besideKey(beside), () => make(beside));
}

const readers = forEachRole((role) => asAsked((beside) => readerFor(beside, role)));

/** Reads what `besideColumns` gave for this way of asking. */
export function besideReader(beside: Beside, role: Role): ReadBeside {
  return readers[role](beside);
}

type Bidders = Map<ContractorId, PersonRow>;
type Readers = { readonly [Name in PartName]: (part: never, bidders: Bidders) => Found[Name] };

const NOBODY: Bidders = new Map();
const NO_BIDS: readonly Bid[] = [];
const NO_FIELDS: PersonFields = { user: [], profile: [] };

function readerFor(beside: Beside, role: Role): ReadBeside {
  const readBid = jsonReader<Bid>(bidFields(beside));
  const readBidder = bidderReader(beside.bidders ?? NO_FIELDS, role);
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
    disputeEvents: (list: unknown[][]) => list.map(readEvent),
  };
  const asked = PART_NAMES.filter((name) => beside[name] !== undefined);
  return (row) => {
    const bidders: Bidders = beside.bidders ? new Map() : NOBODY;
    const found: { bidders: Bidders } & Record<string, unknown> = { bidders, homeowner: homeownerOf(row) };
    // The database wrote each part by the very shape that it is read by.
    for (let at = 0; at < asked.length; at += 1)
      found[asked[at] as PartName] = read[asked[at] as PartName](row.beside?.[at] as never, bidders);
    return found;
  };
}

const keys = new WeakMap<Beside, string>();

/** Tells one way of asking from another. */
export function besideKey(beside: Beside): string {
  const known = keys.get(beside);
  if (known !== undefined) return known;
  const key = keyOf(beside);
  keys.set(beside, key);
  return key;
}

function keyOf(beside: Beside): string {
  return JSON.stringify(beside, ['job', 'homeowner', 'bid', 'bidders', ...PART_NAMES, 'user', 'profile']);
}

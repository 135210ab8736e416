/**
 * The parts that can be read with a job: its bids, its events, its homeowner. Each part is defined once, and read in
 * two ways: in the same statement as the job, where the selection is known before, or for many jobs at once. Each part
 * is a column of JSON, and a statement contains only the included parts.
 */
import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { BidState } from '../rules/states.js';
import type { Role } from '../rules/viewer.js';
import { bidColumns, listBidsOnJob } from './bids.js';
import { eventShape, isOfDispute, listEventsOfJob } from './events.js';
import type { PartOfList } from './page.js';
import { bidderAsJson, homeownerColumns, narrowed, type HomeownerColumns, type PersonFields } from './people.js';
import { asJson, type RowShape } from './rows.js';
import type { Values } from './statement.js';
import { homeowners, users } from './tables/accounts.js';
import { events } from './tables/events.js';
import { visibleBids, type ViewerIds } from './visibility.js';

/** The parts that are read with a job or for many jobs. Lists are included by the size of their page. */
interface Parts {
  /** The viewer's own bids, the newest first. */
  readonly ownBids?: true;
  readonly awardedBid?: true;
  readonly bids?: number;
  /** How many bids there are in all. */
  readonly bidsTotal?: true;
  readonly events?: number;
  readonly eventsTotal?: true;
  readonly disputeEvents?: true;
}

/** What a statement includes. */
export interface JobInclude extends Parts {
  /** The total of a list of jobs. */
  readonly total?: true;
  /** The fields of the job itself; all of them by default. */
  readonly job?: readonly string[];
  readonly homeowner?: PersonFields;
  /** The fields of bids; the columns that they are found and ordered by are always included. */
  readonly bid?: readonly string[];
  /** The fields of the bidders, wherever bids are included. */
  readonly bidders?: PersonFields;
  /** Bids and their total are filtered by a state. Only where parts are read for many jobs. */
  readonly ofStatus?: true;
  /** The one included list begins after a position. Only where parts are read for many jobs. */
  readonly isAfter?: true;
}

export const ALL_OF_A_BID: readonly string[] = Object.keys(bidColumns);

export type PartName = keyof Parts;

const eventColumns = getTableColumns(events);
export interface OfStatus {
  status: BidState | null;
}

interface Asked {
  readonly include: JobInclude;
  readonly role: Role;
  /** Includes the state of the bids, where the include has `ofStatus`. */
  readonly $: Values<ViewerIds> & Partial<Values<OfStatus>>;
  /** The job's identifier, since a deleted draft has no row. */
  readonly jobId: SQL;
}

const NEWEST_FIRST = sql`"bids"."created_at" desc, "bids"."id" desc`;

/** The SQL of every part. */
const PARTS: { readonly [Name in PartName]-?: (asked: Asked) => SQL } = {
  ownBids: (asked) =>
    asked.role === 'contractor' ? listOf(bidJson(asked), ownBidsOn(asked), NEWEST_FIRST) : sql`'[]'::json`,
  awardedBid: (asked) =>
    sql`(select ${bidJson(asked)} from bids where "bids"."id" = "jobs"."awarded_bid_id"
      and ${visibleBids(asked.role, asked.$)})`,
  bids: (asked) => {
    const { from, order } = bidsIn(asked).partOf(ofJobAndStatus(asked), asked.$, pageIn(asked, asked.include.bids));
    return listOf(bidJson(asked), from, order);
  },
  bidsTotal: (asked) => bidsIn(asked).totalOf(ofJobAndStatus(asked), asked.$, sooner(asked)),
  events: (asked) => {
    const list = listEventsOfJob[asked.role];
    const { from, order } = list.partOf(ofJob(asked), asked.$, {
      ...pageIn(asked, asked.include.events),
      sooner: undefined,
    });
    return listOf(asJson(eventShape), from, order);
  },
  eventsTotal: (asked) => listEventsOfJob[asked.role].totalOf(ofJob(asked), asked.$),
  disputeEvents: ({ jobId }) =>
    listOf(
      asJson(eventColumns),
      sql`events where "events"."job_id" = ${jobId} and ${isOfDispute}`,
      sql`"events"."sequence"`,
    ),
};

const bidsIn = ({ role, include }: Asked) => listBidsOnJob[role][include.ofStatus ? 'filtered' : 'all'];

const ofJob = ({ jobId }: Asked) => ({ jobId });

const ofJobAndStatus = ({ jobId, $ }: Asked) => ({ jobId, status: sql`${$.status ?? null}` });

function pageIn(asked: Asked, size = 0): PartOfList {
  return { size, isAfter: asked.include.isAfter === true, sooner: sooner(asked) };
}

const OF_THIS_TIME = sql`"bids"."job_created_at" = "jobs"."created_at"`;

/**
 * With the job's creation time, the index of a contractor's jobs finds only their bids, however many other bids there
 * are.
 */
function sooner({ role }: Asked): SQL | undefined {
  return role === 'contractor' ? OF_THIS_TIME : undefined;
}

function ownBidsOn({ $, jobId }: Asked): SQL {
  return sql`bids where "bids"."job_id" = ${jobId} and "bids"."contractor_id" = ${$.contractorId} and ${OF_THIS_TIME}`;
}

export const PART_NAMES = Object.keys(PARTS) as PartName[];

const BID_ALWAYS = ['id', 'jobId', 'contractorId', 'status', 'createdAt'];

export function bidFields({ bid = [], bids }: JobInclude): RowShape {
  return narrowed<RowShape>(
    bidColumns,
    [...bid, ...(bid.includes('hold') ? ['holdId'] : []), ...(bids === undefined ? [] : ['guaranteedView'])],
    BID_ALWAYS,
  );
}

function bidJson({ include, role, $ }: Asked): SQL {
  const bid = asJson(bidFields(include));
  return include.bidders
    ? sql`json_build_array(${bid}, ${bidderAsJson(sql`"bids"."contractor_id"`, role, $, include.bidders)})`
    : sql`json_build_array(${bid})`;
}

function listOf(entry: SQL, from: SQL, order: SQL): SQL {
  return sql`(select coalesce(json_agg(${entry} order by ${order}), '[]') from ${from})`;
}

/**
 * The columns of a select of jobs for the parts: the homeowner in separate columns, since every job has one, and lists
 * and nullable parts as JSON.
 */
export function includeColumns(include: JobInclude, role: Role, $: Values<ViewerIds>) {
  return {
    ...(include.homeowner && homeownerColumns(role, $, include.homeowner)),
    included: includedAsJson({ include, role, $, jobId: sql`"jobs"."id"` }),
  };
}

export type IncludedJson = readonly unknown[] | null;

/** The result of such columns. */
export interface IncludeColumns extends Partial<HomeownerColumns> {
  readonly included: IncludedJson;
}

interface Joinable {
  innerJoin(table: PgTable, on: SQL): Joinable;
}

/** Drizzle changes the type of a select with each join, although its columns stay the same. */
export function joiningInclude<Select extends object>(select: Select, include: JobInclude): Select {
  if (!include.homeowner) return select;
  return (select as Joinable)
    .innerJoin(homeowners, sql`homeowners.id = "jobs"."homeowner_id"`)
    .innerJoin(users, sql`users.id = homeowners.user_id`) as Select;
}

/** The other included parts as one column; null if there are none. */
export function includedAsJson(asked: Asked): SQL<IncludedJson> {
  const parts = PART_NAMES.filter((name) => asked.include[name] !== undefined).map((name) => PARTS[name](asked));
  return parts.length === 0 ? sql`null::json` : sql`json_build_array(${sql.join(parts, sql`, `)})`;
}

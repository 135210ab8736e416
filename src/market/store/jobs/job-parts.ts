/**
 * A job's parts, each defined once as one JSON value in a row of `jobs`. If the selection is known in advance, the
 * statement that reads the job also reads the part. Otherwise, one statement reads the part for many jobs together. In
 * both cases, only data that the viewer can see is read.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { JobTimer, JobTimers, StakeTimer } from '../../rules/jobs/deadlines.js';
import { disputeFrom, type Dispute } from '../../rules/jobs/disputes.js';
import type { BidId, JobId } from '../../rules/ids.js';
import type { JobFacts } from '../../rules/jobs/facts.js';
import { partyOf, STATES_OPEN_TO_BIDS, type JobParties, type Party } from '../../rules/parties.js';
import { factsForAvailableActions } from '../../rules/policies.js';
import type { BidState } from '../../rules/states.js';
import { eventFor, readsAs, readsDispute } from '../../rules/reading/timeline.js';
import type { Role, Viewer } from '../../rules/viewer.js';
import { bidAsJson, bidReader, type BidFields, type BidJson, type BidWithBidder } from '../bids/bids-with-bidders.js';
import { listBidsOnJob } from '../bids/bids.js';
import type { Db } from '../../../platform/db/database.js';
import { disputeEventsOfJob, eventShape, listEventsOfJob, readDisputeEvent } from '../events/events.js';
import type { EventRow, JobEvent } from '../events/events.js';
import { positionValues, type Position } from '../../../platform/db/pages/keyset.js';
import { totalOf, type Page, type PageStart, type PartOfList, type Total } from '../../../platform/db/pages/page.js';
import {
  profileAsJson,
  profileReader,
  type PersonFields,
  type ProfileJson,
  type ReadableHomeowner,
} from '../people/people.js';
import { asJson, jsonReader } from '../../../platform/db/rows.js';
import {
  asArray,
  builder,
  cachedByKey,
  mayBeStale,
  statement,
  type Placeholders,
} from '../../../platform/db/statement.js';
import { jobs } from '../tables/jobs.js';
import { isPendingStake, jobTimer, stakeTimer } from './timers.js';
import { factColumns } from './job-facts.js';
import { forEachRole, idsOf, visibleBids, type ViewerIds } from '../visibility.js';

/** A part that isn't included here isn't read. */
export interface JobInclude {
  readonly total?: true;
  /** Defaults to all of the job's own fields. */
  readonly job?: readonly string[];
  readonly homeowner?: PersonFields;
  readonly ownBid?: BidFields;
  readonly awardedBid?: BidFields;
  readonly bids?: BidFields & ListFields;
  readonly timeline?: ListFields;
  readonly dispute?: true;
  readonly facts?: true;
  readonly timers?: true;
}

interface ListFields {
  readonly size: number;
  readonly total?: boolean;
  /**
   * `ofStatus` limits the page to bids in one state. `start` and `ofStatus` are used only if parts are read for many
   * jobs together.
   */
  readonly start?: PageStart;
  readonly ofStatus?: boolean;
}

export type ListValues = { readonly position?: Position | undefined; readonly status?: BidState | null };

/** A part that wasn't read is undefined. A part is null if the job doesn't have it or this viewer can't see it. */
export interface JobParts {
  readonly homeowner?: ReadableHomeowner | null;
  /** The newest, because a contractor can withdraw a bid and bid again. */
  readonly ownBid?: BidWithBidder | null;
  readonly awardedBid?: BidWithBidder | null;
  readonly bids?: Page<BidWithBidder>;
  readonly timeline?: Page<JobEvent>;
  readonly dispute?: Dispute | null;
  readonly facts?: Partial<JobFacts>;
  readonly timers?: JobTimers | null;
}

type PartsValues = ViewerIds & { status: BidState | null };

interface JobOfStatement {
  readonly role: Role;
  /** `status` is used only if the include has `ofStatus`. */
  readonly $: Placeholders<PartsValues>;
  /** The ID isn't always read from `jobs`, because a deleted draft has no row there. */
  readonly jobId: SQL;
}

interface JobOfViewer {
  readonly viewer: Viewer;
  readonly party: Party;
  readonly awardedBidId: BidId | null;
}

type JobWithAward = JobParties & Pick<JobOfViewer, 'awardedBidId'>;

interface PartOfJob<Selection, Part> {
  sql(selection: Selection, job: JobOfStatement): SQL;
  reader(selection: Selection, role: Role): (json: never, job: JobOfViewer) => Part;
}

type PartName = keyof JobParts;

const JOB_PARTS: { readonly [Name in PartName]-?: PartOfJob<Required<JobInclude>[Name], JobParts[Name]> } = {
  homeowner: {
    sql: (fields, { role, $ }) => profileAsJson('homeowner', sql`"jobs"."homeowner_id"`, role, $, fields),
    reader(fields, role) {
      const read = profileReader('homeowner', fields, role);
      return (json: ProfileJson | null, { viewer }) => json && read(json, viewer);
    },
  },
  ownBid: {
    sql(fields, job) {
      if (job.role !== 'contractor') return sql`null::json`;
      return sql`(select ${bidAsJson(fields, job.role, job.$)} from bids where "bids"."job_id" = ${job.jobId}
        and "bids"."contractor_id" = ${job.$('contractorId')} and ${SAME_JOB_CREATION_TIME}
        order by "bids"."created_at" desc, "bids"."id" desc limit 1)`;
    },
    reader(fields, role) {
      const read = bidReader(fields, role);
      return (json: BidJson | null, { viewer }) => json && read(json, viewer);
    },
  },
  awardedBid: {
    sql: (fields, job) =>
      sql`(select ${bidAsJson(fields, job.role, job.$)} from bids where "bids"."id" = "jobs"."awarded_bid_id"
        and ${visibleBids(job.role, job.$)})`,
    reader(fields, role) {
      const read = bidReader(fields, role);
      return (json: BidJson | null, { viewer }) => json && read(json, viewer);
    },
  },
  bids: {
    sql(selection, job) {
      const list = listBidsOnJob[job.role][selection.ofStatus ? 'filtered' : 'all'];
      const parent = { jobId: job.jobId, status: selection.ofStatus ? sql`${job.$('status')}` : sql`null` };
      const indexCondition = job.role === 'contractor' ? SAME_JOB_CREATION_TIME : undefined;
      const { from, order } = list.partOf(parent, job.$, { ...sizeOf(selection), indexCondition });
      const total = selection.total ? list.totalOf(parent, job.$, indexCondition) : NO_TOTAL;
      return sql`json_build_array(${listAsJson(bidAsJson(selection, job.role, job.$), from, order)}, ${total})`;
    },
    reader(selection, role) {
      const read = bidReader(selection, role);
      const { pageOf } = listBidsOnJob[role].all;
      return ([list, total]: PageJson<BidJson>, { viewer }) => {
        const rows: BidWithBidder[] = list.map((json) => read(json, viewer));
        return pageOf(rows, sizeOf(selection), () => totalRead(total));
      };
    },
  },
  timeline: {
    sql(selection, { role, $, jobId }) {
      const { from, order } = listEventsOfJob[role].partOf({ jobId }, $, sizeOf(selection));
      const total = selection.total ? listEventsOfJob[role].totalOf({ jobId }, $) : NO_TOTAL;
      return sql`json_build_array(${listAsJson(asJson(eventShape), from, order)}, ${total})`;
    },
    reader(selection, role) {
      const { pageOf } = listEventsOfJob[role];
      return ([list, total]: PageJson<unknown[]>, { viewer, party, awardedBidId }) => {
        const rows = list.map((json) => {
          const event = readEvent(json);
          return eventFor(viewer, readsAs(party, event, awardedBidId), event);
        });
        return pageOf(rows, sizeOf(selection), () => totalRead(total)) as Page<JobEvent>;
      };
    },
  },
  dispute: { sql: () => disputeEventsOfJob, reader: () => readDispute },
  facts: {
    sql: (_, { role, $ }) => asJson(columnsOfActionFacts(role, $)),
    reader: (_, role) => jsonReader(columnsOfActionFacts(role, sql.placeholder)),
  },
  timers: {
    sql(_, { role, $, jobId }) {
      const own = sql`holds join bids on "bids"."id" = "holds"."bid_id" where "holds"."job_id" = ${jobId}
        and ${isPendingStake} and ${visibleBids(role, $)}`;
      return sql`json_build_array(${asJson(jobTimer)}, ${listAsJson(asJson(stakeTimer), own, sql`"holds"."id"`)})`;
    },
    reader: () => readTimers,
  },
};

const readJobTimer = jsonReader<JobTimer>(jobTimer);
const readStakeTimer = jsonReader<StakeTimer>(stakeTimer);

/** Bidders and other contractors see the deadline of an open job only. */
function readTimers([job, stakes]: [unknown[], unknown[][]], { party }: JobOfViewer): JobTimers | null {
  const timer = readJobTimer(job);
  const isReader = readsDispute(party) || STATES_OPEN_TO_BIDS.includes(timer.status);
  return isReader ? { job: timer, stakes: stakes.map(readStakeTimer) } : null;
}

function columnsOfActionFacts(role: Role, $: Placeholders<ViewerIds>) {
  return factColumns(factsForAvailableActions(role), { role, $, locksBalance: false });
}

const readEvent = jsonReader<EventRow>(eventShape);

function readDispute(list: unknown[][], { party }: JobOfViewer): Dispute | null {
  return readsDispute(party) ? disputeFrom(list.map(readDisputeEvent)) : null;
}

/**
 * With this condition, the index of a contractor's jobs finds the contractor's bids on a job without reading the job's
 * other bids.
 */
const SAME_JOB_CREATION_TIME = sql`"bids"."job_created_at" = "jobs"."created_at"`;

/** If there are more rows, the page has one extra row. The total is null if it wasn't counted. */
type PageJson<Entry> = readonly [rows: Entry[], total: number | null];

const NO_TOTAL = sql`null`;

async function totalRead(total: number | null): Promise<Total> {
  if (total === null) throw new Error('The total of a list was not read with its page.');
  return totalOf(total);
}

function sizeOf({ size, start = 'first' }: ListFields): PartOfList {
  return { size, start };
}

function listAsJson(entry: SQL, from: SQL, order: SQL): SQL {
  return sql`(select coalesce(json_agg(${entry} order by ${order}), '[]') from ${from})`;
}

function namesIn(include: JobInclude): PartName[] {
  return (Object.keys(JOB_PARTS) as PartName[]).filter((name) => include[name] !== undefined);
}

/** Null if the include doesn't name any parts. */
function partsAsJson(include: JobInclude, job: JobOfStatement): SQL<readonly unknown[] | null> {
  const parts = namesIn(include).map((name) => JOB_PARTS[name].sql(include[name] as never, job));
  return parts.length === 0 ? sql`null::json` : sql`json_build_array(${sql.join(parts, sql`, `)})`;
}

/** `readParts` reads this column. */
export function partsColumn(include: JobInclude, role: Role, $: Placeholders<ViewerIds>) {
  // The cast is safe because an include for this column never has `ofStatus`.
  const job = { role, $: $ as Placeholders<PartsValues>, jobId: sql`"jobs"."id"` };
  return { parts: partsAsJson(include, job).as('parts') };
}

export function readParts(
  viewer: Viewer,
  rows: readonly (JobWithAward & { parts?: unknown })[],
  include: JobInclude,
): void {
  const read = readerOf[viewer.role](include);
  for (const row of rows) if (row.parts) row.parts = read(row.parts as readonly unknown[], viewer, row);
}

/** A list's part is always its first page, without a filter by state. */
export function partsOf(job: object): JobParts {
  return (job as { parts?: JobParts | null }).parts ?? {};
}

const selectParts = forEachRole((role) =>
  byInclude((include) =>
    mayBeStale(
      statement(
        'selectParts',
        ($: Placeholders<PartsValues & { jobIds: string }>) => ({
          id: sql<JobId>`job.id`,
          parts: partsAsJson(include, { role, $, jobId: sql`job.id` }),
        }),
        ($, fields) =>
          builder
            .select(fields)
            .from(sql`unnest(${$('jobIds')}::text[]) as job(id)`)
            .leftJoin(jobs, sql`"jobs"."id" = job.id`),
        'json',
      ),
    ),
  ),
);

/**
 * The viewer must be allowed to see the jobs, and the caller must limit their number. For each job, the statement reads
 * at most one row more than the page's size.
 */
export async function readPartsOfMany<Job extends JobWithAward & { readonly id: JobId }>(
  db: Db,
  viewer: Viewer,
  ofJobs: readonly Job[],
  include: JobInclude,
  { position, status = null }: ListValues = {},
): Promise<Map<Job, JobParts>> {
  const { role } = viewer;
  const jobIds = asArray([...new Set(ofJobs.map(({ id }) => id))]);
  const rows = await selectParts[role](include)(db, { jobIds, status, ...idsOf(viewer), ...positionValues(position) });
  const parts = new Map(rows.map((row) => [row.id, row.parts ?? []]));
  const read = readerOf[role](include);
  return new Map(ofJobs.map((job) => [job, read(parts.get(job.id) ?? [], viewer, job)]));
}

const readerOf = forEachRole((role) => byInclude((include) => partsReader(include, role)));

function partsReader(include: JobInclude, role: Role) {
  const readers = namesIn(include).map((name) => ({
    name,
    read: JOB_PARTS[name].reader(include[name] as never, role),
  }));
  return (json: readonly unknown[], viewer: Viewer, job: JobWithAward): JobParts => {
    // Treating every contractor as a bidder is safe, because these parts contain only data that the viewer may see.
    const ofViewer = { viewer, party: partyOf(viewer, job, true), awardedBidId: job.awardedBidId };
    const parts: Record<string, unknown> = {};
    for (const [at, { name, read }] of readers.entries()) parts[name] = read(json[at] as never, ofViewer);
    return parts;
  };
}

/** Calls `make` once for each include, on first use. */
export function byInclude<Parts extends object>(make: (include: JobInclude) => Parts): (include: JobInclude) => Parts {
  const cachedByInclude = cachedByKey<Parts>();
  return (include) => cachedByInclude(includeKey(include), () => make(include));
}

const keys = new WeakMap<JobInclude, string>();

/** Returns a string that is the same for equal includes. */
export function includeKey(include: JobInclude): string {
  const key = keys.get(include) ?? JSON.stringify(Object.entries(include).toSorted());
  keys.set(include, key);
  return key;
}

/** The lists of jobs: what a viewer may see, narrowed by what they ask for. */
import { and, sql, type SQL } from 'drizzle-orm';
import type { HomeownerId } from '../rules/ids.js';
import { DEFAULT_JOB_ORDER, type JobOrder } from '../rules/job-orders.js';
import { JOB_STATES, type JobState } from '../rules/lifecycle.js';
import type { Urgency } from '../rules/publishing.js';
import type { Role, Viewer } from '../rules/viewer.js';
import type { Db } from './database.js';
import { jobFields, type JobRow } from './jobs.js';
import {
  includeColumns,
  includeKey,
  includeReader,
  joiningInclude,
  type IncludeColumns,
  type Included,
  type JobInclude,
} from './job-include.js';
import { listing, mapPage, type List, type Page, type PageRequest, type Reach } from './page.js';
import { inOrder, JOB_LIST_ORDERS } from './job-orders.js';
import { SEAM, SOUGHT, SOUGHT_NAMES, soughtJobs, type Seeking, type SoughtName, type SoughtValues } from './seeking.js';
import { remembering, type Values } from './statement.js';
import { jobs } from './tables/jobs.js';
import { idsOf, isOpenToBids, visibleJobs, type ViewerIds } from './visibility.js';

export interface JobFilter {
  search?: string | null | undefined;
  /** Any of these. */
  statuses?: readonly JobState[] | null | undefined;
  updatedSince?: Date | null | undefined;
  category?: string | null | undefined;
  urgency?: Urgency | null | undefined;
  homeownerId?: HomeownerId | null | undefined;
  near?: { box: string; latitude: number; longitude: number; miles: number } | null | undefined;
}

interface FilterValues extends ViewerIds, SoughtValues {
  category: string | null;
  urgency: Urgency | null;
  owner: HomeownerId | null;
  since: string | null;
}

/** What a job must be; only the conditions that are asked for stand in the statement. */
const FILTERS: {
  readonly [Name in Exclude<keyof JobFilter, SoughtName | 'statuses'> | 'seam']-?: ($: Values<FilterValues>) => SQL;
} = {
  category: ($) => sql`${jobs.category} = ${$.category}`,
  urgency: ($) => sql`${jobs.urgency} = ${$.urgency}::urgency`,
  homeownerId: ($) => sql`${jobs.homeownerId} = ${$.owner}`,
  updatedSince: ($) => sql`"jobs"."updated_at" >= ${$.since}::timestamptz`,
  seam: ($) => SOUGHT.search.fits($),
};
const FILTER_NAMES = Object.keys(FILTERS) as (keyof typeof FILTERS)[];

/** A job in a list, and what was asked for beside it. */
export interface ListedJob {
  readonly job: JobRow;
  readonly included: Included;
}

const lists = remembering<List<FilterValues, RawJob>>();

/** The jobs that the viewer may see and the filter lets through. */
export async function listJobs(
  db: Db,
  viewer: Viewer,
  filter: JobFilter,
  request: PageRequest,
  include: JobInclude = {},
  order: JobOrder = DEFAULT_JOB_ORDER,
): Promise<Page<ListedJob>> {
  const { role } = viewer;
  const asked: Asked = {
    role,
    order,
    names: FILTER_NAMES.filter((name) => (name === 'seam' ? filter.search?.includes(SEAM) : filter[name] != null)),
    sought: SOUGHT_NAMES.filter((name) => filter[name] != null),
    statuses: JOB_STATES.filter((state) => filter.statuses?.includes(state)),
  };
  const { names, sought, statuses } = asked;
  const list = (wanted: JobInclude) =>
    lists([role, order, ...statuses, ...names, ...sought, includeKey(wanted)].join(' '), () => listOf(asked, wanted));
  const { search, category = null, urgency = null, homeownerId: owner = null, updatedSince, near } = filter;
  const { box = null, latitude = null, longitude = null, miles = null } = near ?? {};
  const values = {
    pattern: search == null ? null : containing(search),
    category,
    urgency,
    owner,
    since: updatedSince?.toISOString() ?? null,
    box,
    latitude,
    longitude,
    miles,
    ...idsOf(viewer),
  };
  const on = sought.length > 0 ? (db.forLong?.() ?? db) : db;
  const page = await list(include)(on, values, request);
  const read = includeReader(include, role);
  // What stands beside the jobs has no part in their number.
  const total = request.counted ? page.total : () => list({}).total(on, values);
  return mapPage(page, (row): ListedJob => ({ job: row.job, included: read(row) }), total);
}

interface RawJob extends IncludeColumns {
  job: JobRow;
}

/** What tells one statement from another. */
interface Asked {
  readonly role: Role;
  readonly order: JobOrder;
  readonly names: readonly (keyof typeof FILTERS)[];
  readonly sought: readonly SoughtName[];
  /**
   * They stand in the statement as they are: there are few, some that most jobs are in and some that hardly one is, and
   * the planner should know which. None is any.
   */
  readonly statuses: readonly JobState[];
}

function listOf(asked: Asked, include: JobInclude): List<FilterValues, RawJob> {
  const { role } = asked;
  const gathered = gatheredFrom(asked);
  const counted = gatheredFrom({ ...asked, order: DEFAULT_JOB_ORDER });
  const { keys, direction, key } = JOB_LIST_ORDERS[asked.order];
  return listing({
    keys,
    order: direction,
    keyed: ({ job }) => job,
    rows: (db, $: Values<FilterValues>, within, reach) =>
      joiningInclude(
        db.select({ job: jobFields(include, key), ...includeColumns(include, role, $) }).from(jobs),
        include,
      )
        // As a list, so that nothing is left to the planner but to look each of them up.
        .where(
          gathered
            ? sql`${jobs.id} = any(array(${wantedOf(asked.order, gathered($, within, reach), reach)}))`
            : and(visible(asked, $), ...conditions(asked, $), within),
        )
        .$dynamic(),
    ...(gathered && { keepsToReach: true }),
    ...(counted && {
      counted: (_, $, reach) =>
        sql`select from (${counted($, undefined, { ...reach, isCount: true })}) g limit ${sql.raw(String(reach.atMost))}`,
    }),
  });
}

function wantedOf(order: JobOrder, gathered: SQL, { wanted, offset }: Reach): SQL {
  return sql`select g.id from (${gathered}) g order by ${inOrder(order, 'g')} limit ${sql.raw(String(wanted))}${offset ? sql` offset ${offset}` : sql``}`;
}

/** Whoever asks for open jobs by name needs no other reason to see them. */
function visible({ role, statuses }: Asked, $: Values<FilterValues>): SQL | undefined {
  return role === 'contractor' && asksFor(statuses) === 'open' ? undefined : visibleJobs(role, $);
}

/** Which of a contractor's two places the states lead to: the open market, their own jobs, or both. */
function asksFor(statuses: readonly JobState[]): 'open' | 'own' | 'both' {
  if (!statuses.includes('open')) return statuses.length === 0 ? 'both' : 'own';
  return statuses.length === 1 ? 'open' : 'both';
}

function isIn(statuses: readonly JobState[]): SQL {
  const list = statuses.map((status) => `'${status}'`);
  return sql`"jobs"."status" ${sql.raw(list.length === 1 ? `= ${list[0]}` : `in (${list.join(', ')})`)}`;
}

/** All that is asked of a job by looking at it. */
function conditions({ statuses, names, sought }: Asked, $: Values<FilterValues>): SQL[] {
  return [
    ...(statuses.length > 0 ? [isIn(statuses)] : []),
    ...names.map((name) => FILTERS[name]($)),
    ...sought.map((name) => SOUGHT[name].fits($)),
  ];
}

type Gathered = ($: Values<FilterValues>, within: SQL | undefined, reach: Reach & { isCount?: boolean }) => SQL;

/**
 * Where one index in the list's order would read far too much: the identifiers of the jobs that may be on the page, the
 * first of each place where they may be. A contractor's own jobs are never so many: whoever seeks among them looks at
 * each.
 */
function gatheredFrom(asked: Asked): Gathered | undefined {
  const { role, names, sought, statuses, order } = asked;
  const ofMarket: Gathered = ($, within, { atMost }) => firstOf(order, marketOf(asked, $), within, atMost);
  const own: Gathered = ($, within, reach) => ownJobs(asked, $, within, reach);
  const contractorAsks = role === 'contractor' ? asksFor(statuses) : undefined;
  if (contractorAsks === 'own') return own;
  const hasOwn = contractorAsks === 'both';
  if (sought.length > 0 && order === 'newest')
    return ($, within, reach) =>
      soughtJobs(seekingOf(asked, $, hasOwn ? own($, within, reach) : undefined), within, reach);
  const inMarket = sought.length > 0 ? soughtInOrder(asked) : ofMarket;
  if (hasOwn) return ($, within, reach) => sql`(${inMarket($, within, reach)}) union all (${own($, within, reach)})`;
  if (sought.length > 0) return inMarket;
  // The index of a trade tells who is next without a look at the jobs, which keeps the planner from walking through all
  // trades for a rare one.
  if (role !== 'homeowner' && names.includes('category')) return ofMarket;
  return role === 'admin' && statuses.length > 1 ? ofEachState(asked) : undefined;
}

/** The first of each state, by the index of the states: some states are so rare that the whole list would be read. */
function ofEachState(asked: Asked): Gathered {
  return ($, within, { atMost }) =>
    sql.join(
      asked.statuses.map(
        (status) => sql`(${firstOf(asked.order, marketOf({ ...asked, statuses: [status] }, $), within, atMost)})`,
      ),
      sql` union all `,
    );
}

/** So many of the first jobs are looked at one by one before the index of what is sought is asked. */
const LOOKED_AT_FIRST = 2_000;

/**
 * What is sought, in an order that the indexes of words and places do not know: among the first jobs of the list, which
 * fill the page if it is common, and else by its index, which leads to few.
 */
function soughtInOrder(asked: Asked): Gathered {
  const { sought, order } = asked;
  return ($, within, { atMost }) => {
    const all = sql.join(
      sought.map((name) => SOUGHT[name].fits($)),
      sql` and `,
    );
    const found = sql.join(
      sought.toReversed().map((name) => SOUGHT[name].found($)),
      sql` and `,
    );
    const market = and(...marketOf(asked, $), within) ?? sql`true`;
    const key = sql.raw(JOB_LIST_ORDERS[order].column);
    const limit = sql`order by ${inOrder(order, 'jobs')} limit ${sql.raw(String(atMost))}`;
    const first = sql`select * from jobs where ${market} order by ${inOrder(order, 'jobs')} limit ${sql.raw(String(LOOKED_AT_FIRST))}`;
    return sql`with common as materialized (select "jobs"."id", "jobs".${key} from (${first}) jobs where ${all} ${limit}),
        found as materialized (select s.job_id from job_search s where ${found} and (select count(*) from common) < ${sql.raw(String(atMost))})
      select id, ${key} from common where (select count(*) from common) >= ${sql.raw(String(atMost))}
      union all (select "jobs"."id", "jobs".${key} from found join jobs on "jobs"."id" = found.job_id where ${market} ${limit})`;
  };
}

function seekingOf(asked: Asked, $: Values<FilterValues>, beside: SQL | undefined): Seeking {
  const { role, names, sought, statuses } = asked;
  const asksMore = names.length > 0 || (statuses.length > 0 && role !== 'contractor');
  const seen = [
    role === 'admin' ? undefined : visible(asked, $),
    ...(statuses.length > 0 ? [isIn(statuses)] : []),
    ...names.map((name) => FILTERS[name]($)),
  ];
  return {
    $,
    names: sought,
    market: marketOf(asked, $),
    seen: seen.filter((condition) => condition !== undefined),
    sees: asksMore ? 'little' : role === 'admin' ? 'all' : 'much',
    beside,
    isOwn: role === 'homeowner',
  };
}

function firstOf(order: JobOrder, where: readonly SQL[], within: SQL | undefined, atMost: number): SQL {
  const key = sql.raw(JOB_LIST_ORDERS[order].column);
  return sql`select "jobs"."id", "jobs".${key} from jobs where ${and(...where, within) ?? sql`true`} order by ${inOrder(order, 'jobs')} limit ${sql.raw(String(atMost))}`;
}

/** The part of the market that the viewer sees and asks for, but for what they seek in it. */
function marketOf({ role, statuses, names }: Asked, $: Values<FilterValues>): SQL[] {
  const inState = statuses.length > 0 ? [isIn(statuses)] : [];
  const seen = role === 'homeowner' ? [visibleJobs(role, $)] : [];
  return [...seen, ...(role === 'contractor' ? [isOpenToBids] : inState), ...names.map((name) => FILTERS[name]($))];
}

/**
 * Jobs that are open no more, but that the contractor has bid on; there is an index of these in the order of the jobs.
 */
function ownJobs(asked: Asked, $: Values<FilterValues>, within: SQL | undefined, { atMost, behind }: Reach): SQL {
  if (asked.order === 'recently_updated') return ownByUpdate(asked, $, within, atMost);
  const position = behind([sql`own.job_created_at`, sql`own.job_id`]);
  const order = sql.raw(
    asked.order === 'oldest' ? 'own.job_created_at, own.job_id' : 'own.job_created_at desc, own.job_id desc',
  );
  return sql`select j.id, own.job_created_at as created_at from (
      select distinct own.job_created_at, own.job_id from bids own where ${and(sql`own.contractor_id = ${$.contractorId}`, position)} order by ${order}
    ) own cross join lateral (select "jobs"."id" from jobs where ${and(sql`"jobs"."id" = own.job_id and not ${isOpenToBids}`, ...conditions(asked, $))} offset 0) j
    order by ${order} limit ${sql.raw(String(atMost))}`;
}

/** When a job last changed is known by the job alone: each of the contractor's own is looked at. */
function ownByUpdate(asked: Asked, $: Values<FilterValues>, within: SQL | undefined, atMost: number): SQL {
  return sql`select j.id, j.updated_at from (select distinct own.job_id from bids own where own.contractor_id = ${$.contractorId}) own
    cross join lateral (select "jobs"."id", "jobs"."updated_at" from jobs where ${and(sql`"jobs"."id" = own.job_id and not ${isOpenToBids}`, within, ...conditions(asked, $))} offset 0) j
    order by ${inOrder(asked.order, 'j')} limit ${sql.raw(String(atMost))}`;
}

/** `%` and `_` stand for themselves. */
function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

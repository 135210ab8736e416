/** The lists of jobs: what a viewer may see, narrowed by what they ask for. */
import { and, sql, type SQL } from 'drizzle-orm';
import type { HomeownerId } from '../rules/ids.js';
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
import {
  NEWEST_FIRST,
  SEAM,
  SOUGHT,
  SOUGHT_NAMES,
  soughtJobs,
  type Seeking,
  type SoughtName,
  type SoughtValues,
} from './seeking.js';
import { remembering, type Values } from './statement.js';
import { jobs } from './tables/jobs.js';
import { idsOf, isOpenToBids, visibleJobs, type ViewerIds } from './visibility.js';

export interface JobFilter {
  search?: string | null | undefined;
  status?: JobState | null | undefined;
  category?: string | null | undefined;
  urgency?: Urgency | null | undefined;
  homeownerId?: HomeownerId | null | undefined;
  near?: { box: string; latitude: number; longitude: number; miles: number } | null | undefined;
}

interface FilterValues extends ViewerIds, SoughtValues {
  category: string | null;
  urgency: Urgency | null;
  owner: HomeownerId | null;
}

/** What a job must be; only the conditions that are asked for stand in the statement. */
const FILTERS: {
  readonly [Name in Exclude<keyof JobFilter, SoughtName | 'status'> | 'seam']-?: ($: Values<FilterValues>) => SQL;
} = {
  category: ($) => sql`${jobs.category} = ${$.category}`,
  urgency: ($) => sql`${jobs.urgency} = ${$.urgency}::urgency`,
  homeownerId: ($) => sql`${jobs.homeownerId} = ${$.owner}`,
  seam: ($) => SOUGHT.search.fits($),
};
const FILTER_NAMES = Object.keys(FILTERS) as (keyof typeof FILTERS)[];

/** A job in a list, and what was asked for beside it. */
export interface ListedJob {
  readonly job: JobRow;
  readonly included: Included;
}

const lists = remembering<List<FilterValues, RawJob>>();

/** The jobs that the viewer may see and the filter lets through, newest first. */
export async function listJobs(
  db: Db,
  viewer: Viewer,
  filter: JobFilter,
  request: PageRequest,
  include: JobInclude = {},
): Promise<Page<ListedJob>> {
  const { role } = viewer;
  const asked: Asked = {
    role,
    names: FILTER_NAMES.filter((name) => (name === 'seam' ? filter.search?.includes(SEAM) : filter[name] != null)),
    sought: SOUGHT_NAMES.filter((name) => filter[name] != null),
    status: JOB_STATES.find((state) => state === filter.status),
  };
  const { names, sought, status } = asked;
  const list = (wanted: JobInclude) =>
    lists([role, status, ...names, ...sought, includeKey(wanted)].join(' '), () => listOf(asked, wanted));
  const { search, category = null, urgency = null, homeownerId: owner = null, near } = filter;
  const { box = null, latitude = null, longitude = null, miles = null } = near ?? {};
  const values = {
    pattern: search == null ? null : containing(search),
    category,
    urgency,
    owner,
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
  readonly names: readonly (keyof typeof FILTERS)[];
  readonly sought: readonly SoughtName[];
  /**
   * It stands in the statement as it is: there are few, some that most jobs are in and some that hardly one is, and the
   * planner should know which.
   */
  readonly status: JobState | undefined;
}

function listOf(asked: Asked, include: JobInclude): List<FilterValues, RawJob> {
  const { role } = asked;
  const gathered = gatheredFrom(asked);
  return listing({
    keys: { createdAt: jobs.createdAt, id: jobs.id },
    order: 'newest first',
    keyed: ({ job }) => job,
    rows: (db, $: Values<FilterValues>, within, reach) =>
      joiningInclude(db.select({ job: jobFields(include), ...includeColumns(include, role, $) }).from(jobs), include)
        // As a list, so that nothing is left to the planner but to look each of them up.
        .where(
          gathered
            ? sql`${jobs.id} = any(array(${wantedOf(gathered($, within, reach), reach)}))`
            : and(visible(asked, $), ...conditions(asked, $), within),
        )
        .$dynamic(),
    ...(gathered && {
      keepsToReach: true,
      counted: (_, $, reach) =>
        sql`select from (${gathered($, undefined, { ...reach, isCount: true })}) g limit ${sql.raw(String(reach.atMost))}`,
    }),
  });
}

function wantedOf(gathered: SQL, { wanted, offset }: Reach): SQL {
  return sql`select g.id from (${gathered}) g order by g.created_at desc, g.id desc limit ${sql.raw(String(wanted))}${offset ? sql` offset ${offset}` : sql``}`;
}

/** Whoever asks for open jobs by name needs no other reason to see them. */
function visible({ role, status }: Asked, $: Values<FilterValues>): SQL | undefined {
  return role === 'contractor' && status === 'open' ? undefined : visibleJobs(role, $);
}

const isIn = (status: JobState) => sql`"jobs"."status" = ${sql.raw(`'${status}'`)}`;

/** All that is asked of a job by looking at it. */
function conditions({ status, names, sought }: Asked, $: Values<FilterValues>): SQL[] {
  return [
    ...(status ? [isIn(status)] : []),
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
  const { role, names, sought, status } = asked;
  const ofMarket: Gathered = ($, within, { atMost }) => newest(marketOf(asked, $), within, atMost);
  const own: Gathered = ($, _, reach) => ownJobs(asked, $, reach);
  if (role === 'contractor' && status !== undefined && status !== 'open') return own;
  const hasOwn = role === 'contractor' && status === undefined;
  if (sought.length > 0)
    return ($, within, reach) =>
      soughtJobs(seekingOf(asked, $, hasOwn ? own($, within, reach) : undefined), within, reach);
  if (hasOwn) return ($, within, reach) => sql`(${ofMarket($, within, reach)}) union all (${own($, within, reach)})`;
  // The index of a trade tells who is next without a look at the jobs, which keeps the planner from walking through all
  // trades for a rare one.
  return role !== 'homeowner' && names.includes('category') ? ofMarket : undefined;
}

function seekingOf(asked: Asked, $: Values<FilterValues>, beside: SQL | undefined): Seeking {
  const { role, names, sought, status } = asked;
  const asksMore = names.length > 0 || (status !== undefined && role !== 'contractor');
  const seen = [
    role === 'admin' ? undefined : visible(asked, $),
    status && isIn(status),
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

function newest(where: readonly SQL[], within: SQL | undefined, atMost: number): SQL {
  return sql`select "jobs"."id", "jobs"."created_at" from jobs where ${and(...where, within) ?? sql`true`} order by ${NEWEST_FIRST} limit ${sql.raw(String(atMost))}`;
}

/** The part of the market that the viewer sees and asks for, but for what they seek in it. */
function marketOf({ role, status, names }: Asked, $: Values<FilterValues>): SQL[] {
  const inState = status && isIn(status);
  const seen = role === 'homeowner' ? [visibleJobs(role, $)] : [];
  return [
    ...seen,
    ...(role === 'contractor' ? [isOpenToBids] : inState ? [inState] : []),
    ...names.map((name) => FILTERS[name]($)),
  ];
}

/**
 * Jobs that are open no more, but that the contractor has bid on; there is an index of these in the order of the jobs.
 */
function ownJobs(asked: Asked, $: Values<FilterValues>, { atMost, behind }: Reach): SQL {
  const position = behind([sql`own.job_created_at`, sql`own.job_id`]);
  return sql`select j.id, own.job_created_at as created_at from (
      select distinct own.job_created_at, own.job_id from bids own where ${and(sql`own.contractor_id = ${$.contractorId}`, position)} order by own.job_created_at desc, own.job_id desc
    ) own cross join lateral (select "jobs"."id" from jobs where ${and(sql`"jobs"."id" = own.job_id and not ${isOpenToBids}`, ...conditions(asked, $))} offset 0) j
    order by own.job_created_at desc, own.job_id desc limit ${sql.raw(String(atMost))}`;
}

/** `%` and `_` stand for themselves. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

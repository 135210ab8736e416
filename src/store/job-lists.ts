/** The lists of jobs: what a viewer may see, narrowed by what they ask for. */
import { and, sql, type SQL } from 'drizzle-orm';
import type { HomeownerId } from '../rules/ids.js';
import { PAGE } from '../rules/limits.js';
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
  newestJobs,
  scanJobs,
  SEARCH_FILTERS,
  searchJobs,
  SEPARATOR,
  type SearchFilter,
  type SearchValues,
} from './job-search.js';
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

interface FilterValues extends ViewerIds, SearchValues {
  category: string | null;
  urgency: Urgency | null;
  owner: HomeownerId | null;
}

/** What a job must be; only the conditions that are asked for stand in the statement. */
const FILTERS: {
  readonly [Name in Exclude<keyof JobFilter, SearchFilter | 'status'> | 'separator']-?: (
    $: Values<FilterValues>,
  ) => SQL;
} = {
  category: ($) => sql`${jobs.category} = ${$.category}`,
  urgency: ($) => sql`${jobs.urgency} = ${$.urgency}::urgency`,
  homeownerId: ($) => sql`${jobs.homeownerId} = ${$.owner}`,
  /** Of a search that holds the separator: the index would find what begins in the title and ends in the description. */
  separator: ($) => sql`(${jobs.title} ilike ${$.pattern} or ${jobs.description} ilike ${$.pattern})`,
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
    names: FILTER_NAMES.filter((name) =>
      name === 'separator' ? filter.search?.includes(SEPARATOR) : filter[name] != null,
    ),
    searches: SEARCH_FILTERS.filter((name) => filter[name] != null),
    status: JOB_STATES.find((state) => state === filter.status),
  };
  const { names, searches, status } = asked;
  const list = (wanted: JobInclude) =>
    lists([role, status, ...names, ...searches, includeKey(wanted)].join(' '), () => listOf(asked, wanted));
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
  const on = searches.length > 0 ? (db.forLong?.() ?? db) : db;
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
  readonly searches: readonly SearchFilter[];
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
            ? sql`${jobs.id} = any(array(${wantedOf(gathered($, reach), reach)}))`
            : and(visible(asked, $), ...conditions(asked, $), within),
        )
        .$dynamic(),
    ...(gathered && {
      keepsToReach: true,
      counted: (_, $, reach) => sql`select from (${gathered($, reach)}) g limit ${reach.atMost}`,
    }),
    ...(asked.searches.length > 0 && { exactTotalMax: PAGE.exactSearchTotalMax }),
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

/** What the filters ask of a row of `jobs`. */
function conditions({ status, names }: Asked, $: Values<FilterValues>): SQL[] {
  return [...(status ? [isIn(status)] : []), ...names.map((name) => FILTERS[name]($))];
}

type Gathered = ($: Values<FilterValues>, reach: Reach) => SQL;

/**
 * Where one index in the list's order would read far too much: the identifiers of the jobs that may be on the page, the
 * first of each list where they may be. A contractor's own jobs are never so many: a search scans all of them.
 */
function gatheredFrom(asked: Asked): Gathered | undefined {
  const { role, names, searches, status } = asked;
  const isSearch = searches.length > 0;
  const hasOwn = role === 'contractor' && status !== 'open';
  const hasMarket = !hasOwn || status === undefined;
  // The index of a trade tells who is next without a look at the jobs, which keeps the planner from walking through all
  // trades for a rare one.
  const isOfTrade = role !== 'homeowner' && names.includes('category');
  if (!isSearch && !hasOwn && !isOfTrade) return undefined;

  const market: Gathered = ($, reach) =>
    isSearch
      ? searchJobs($, searches, marketOf(asked, $), reach)
      : sql`${newestJobs([...marketOf(asked, $), reach.behind([sql`${jobs.createdAt}`, sql`${jobs.id}`])])}
          limit ${reach.atMost}`;
  const own: Gathered = ($, reach) => scanJobs($, searches, jobsBidOn($, reach), closedOf(asked, $), reach.atMost);
  const parts = [...(hasMarket ? [market] : []), ...(hasOwn ? [own] : [])];
  return ($, reach) =>
    sql.join(
      parts.map((part) => sql`(${part($, reach)})`),
      sql` union all `,
    );
}

/** The part of the market that the viewer sees and asks for, but for the search. */
function marketOf(asked: Asked, $: Values<FilterValues>): SQL[] {
  const { role, status } = asked;
  return [
    ...(role === 'homeowner' ? [visibleJobs(role, $)] : []),
    ...(role === 'contractor' && status === undefined ? [isOpenToBids] : []),
    ...conditions(asked, $),
  ];
}

/** The jobs that the contractor has bid on, the newest first; there is an index of these in the order of the jobs. */
function jobsBidOn($: Values<FilterValues>, { behind }: Reach): SQL {
  const position = behind([sql`own.job_created_at`, sql`own.job_id`]);
  return sql`select distinct own.job_created_at as created_at, own.job_id as id from bids own
    where ${and(sql`own.contractor_id = ${$.contractorId}`, position)}
    order by own.job_created_at desc, own.job_id desc`;
}

/** What those must be: the open ones are found in the market. */
function closedOf(asked: Asked, $: Values<FilterValues>): SQL[] {
  return [sql`not ${isOpenToBids}`, ...conditions(asked, $)];
}

/** `%` and `_` stand for themselves. */
function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/**
 * Finds the jobs of a list that hold a text or lie near a place, in one of two ways. A scan reads the list in its order
 * until enough jobs match, which is quick where many do. An index finds every match of the whole market; these are then
 * sorted and looked up in the list, which is quick where few match. The newest jobs of the list tell which way it will
 * be; a scan that meets fewer matches than they promised is given up for the index.
 */
import { and, sql, type SQL } from 'drizzle-orm';
import type { JobOrder } from '../rules/job-orders.js';
import { inOrder, JOB_LIST_ORDERS } from './job-orders.js';
import type { Reach } from './page.js';
import type { Values } from './statement.js';

export interface SearchValues {
  /** For `like`, in any case. */
  pattern: string | null;
  box: string | null;
  latitude: number | null;
  longitude: number | null;
  miles: number | null;
}

type Search = Values<SearchValues>;
type Conditions = readonly (SQL | undefined)[];

/** Separates title and description in `job_search.words`, where both are searched as one text. */
export const SEPARATOR = '\u0001';

/** What a row `s` of `job_search` must be. The sub-select keeps the planner from guessing how many rows match. */
const MATCHES = {
  search: ($: Search) => sql`s.words like (select lower(${$.pattern}::text))`,
  near: ($: Search) => sql`s.town <@ ${$.box}::box and ${milesAway($)} <= ${$.miles}::float8`,
};

export type SearchFilter = keyof typeof MATCHES;
export const SEARCH_FILTERS: readonly SearchFilter[] = ['search', 'near'];

const milesAway = ($: Search) => sql`3958.8 * 2 * asin(least(1, sqrt(
  power(sin(radians(s.town[1] - ${$.latitude}::float8) / 2), 2)
  + cos(radians(${$.latitude}::float8)) * cos(radians(s.town[1]))
    * power(sin(radians(s.town[0] - ${$.longitude}::float8) / 2), 2))))`;

const allOf = (conditions: Conditions) => and(...conditions) ?? sql`true`;
const matchesAll = ($: Search, filters: readonly SearchFilter[]) => allOf(filters.map((by) => MATCHES[by]($)));

/** A list of jobs: the newest first of those that meet the conditions. */
function newestJobs(where: Conditions): SQL {
  return sql`select "jobs"."id", "jobs"."created_at" from jobs where ${allOf(where)}
    order by "jobs"."created_at" desc, "jobs"."id" desc`;
}

const withSearchRow = (list: SQL) =>
  sql`(${list}) l cross join lateral (select * from job_search where job_id = l.id offset 0) s`;

/** The first jobs of a list that match and, where the list itself does not tell, meet the conditions. */
export function scanJobs($: Search, filters: readonly SearchFilter[], list: SQL, where: Conditions, atMost: number) {
  const listed = sql`cross join lateral (select from jobs where ${and(sql`"jobs"."id" = l.id`, ...where)} offset 0) j`;
  return sql`select l.id, l.created_at from ${filters.length > 0 ? withSearchRow(list) : sql`(${list}) l`}
    ${where.length > 0 ? listed : sql``}
    where ${matchesAll($, filters)} order by l.created_at desc, l.id desc limit ${atMost}`;
}

/** The first of the jobs which the index of one filter finds, and which also match the others and are in the list. */
function lookUpJobs($: Search, by: SearchFilter, others: readonly SearchFilter[], where: Conditions, reach: Reach) {
  const behind = reach.behind([sql`s.created_at`, sql`s.job_id`]);
  // By its time as well: so the list's index can tell, without a look at the job.
  const isListed = and(sql`"jobs"."id" = l.id and "jobs"."created_at" = l.created_at`, ...where);
  return sql`select l.id, l.created_at from (
      select s.job_id as id, s.created_at from (select * from job_search s where ${MATCHES[by]($)} offset 0) s
      where ${allOf([matchesAll($, others), behind])} order by s.created_at desc, s.job_id desc offset 0
    ) l cross join lateral (select from jobs where ${isListed} offset 0) j
    order by l.created_at desc, l.id desc limit ${reach.atMost}`;
}

const SAMPLE_JOBS = 1_000;
/** How many jobs there are taken to be in all. Where there are fewer, both ways are quicker than was thought. */
const MARKET_JOBS = 1_000_000;
/** A scan may read so many times the rows that were expected before it is given up. */
const SCAN_MARGIN = 1.5;

/**
 * The first matches in the list of the jobs that meet the conditions, by the way that should read fewer rows. An index
 * reads as many as match in the whole market; a scan ends with the last match that is asked for, or with the list.
 */
export function searchJobs($: Search, filters: readonly SearchFilter[], where: Conditions, reach: Reach): SQL {
  const { atMost, behind } = reach;
  const list = newestJobs([...where, behind([sql`"jobs"."created_at"`, sql`"jobs"."id"`])]);
  const endsWithin = (rows: SQL) => sql`not exists (${list} offset ${rows} limit 1)`;
  const scan = scanJobs($, filters, sql`${list} limit (select scan_rows from chosen)`, [], atMost);
  const each = (make: (by: SearchFilter) => SQL, separator = sql`, `) => sql.join(filters.map(make), separator);
  const rowsOf = (by: SearchFilter) => sql`${sql.identifier(by)} * ${MARKET_JOBS / SAMPLE_JOBS}`;
  const others = (by: SearchFilter) => filters.filter((other) => other !== by);
  const lookUp = (by: SearchFilter) => sql`(select * from (${lookUpJobs($, by, others(by), where, reach)}) found
    where (select index = ${by} and not is_enough from chosen, checked))`;
  return sql`with sample as materialized (
      select count(*) as jobs, ${atMost * SAMPLE_JOBS} / nullif(count(*) filter (where ${matchesAll($, filters)}), 0)
        as expected_rows, ${each((by) => sql`count(*) filter (where ${MATCHES[by]($)}) as ${sql.identifier(by)}`)}
      from ${withSearchRow(sql`${list} limit ${SAMPLE_JOBS}`)}
    ), chosen as materialized (
      select case ${each((by) => sql`when ${rowsOf(by)} = index_rows then ${by}`, sql` `)} end as index, case
          when jobs < ${SAMPLE_JOBS} then jobs
          when expected_rows <= index_rows then expected_rows * ${SCAN_MARGIN}
          when ${endsWithin(sql`index_rows`)} then index_rows
          else 0 end as scan_rows
      from sample, lateral (select least(${each(rowsOf)}) as index_rows) fewest
    ), scanned as materialized (
      ${scan}
    ), checked as materialized (
      select (select count(*) from scanned) >= ${atMost} or ${endsWithin(sql`scan_rows`)} as is_enough from chosen
    )
    (select * from scanned where (select is_enough from checked)) union all ${each(lookUp, sql` union all `)}`;
}

/** What a row of `jobs` must be, where its list is short. */
export function matchesSearch($: Search, filters: readonly SearchFilter[]): SQL[] {
  const matches = sql`exists (select from job_search s where s.job_id = "jobs"."id" and ${matchesAll($, filters)})`;
  return filters.length > 0 ? [matches] : [];
}

/** So many of the first jobs are scanned before an index is asked. */
const SCANNED_FIRST = 2_000;

/**
 * The same in an order that the indexes of texts and places do not know: among the first jobs of the list, which fill
 * the page where many match, and else by an index, which leads to few.
 */
export function searchJobsInOrder(
  $: Search,
  filters: readonly SearchFilter[],
  order: JobOrder,
  where: Conditions,
  { atMost, behind }: Reach,
): SQL {
  const key = sql.raw(JOB_LIST_ORDERS[order].column);
  const listed = allOf([...where, behind([sql`"jobs".${key}`, sql`"jobs"."id"`])]);
  const list = sql`select "jobs"."id", "jobs".${key} from jobs where ${listed} order by ${inOrder(order, 'jobs')}`;
  return sql`with scanned as materialized (
      select l.id, l.${key} from ${withSearchRow(sql`${list} limit ${SCANNED_FIRST}`)}
      where ${matchesAll($, filters)} limit ${atMost}
    ), enough as materialized (
      select (select count(*) from scanned) >= ${atMost} as is_enough
    ), found as materialized (
      select s.job_id from job_search s where ${matchesAll($, filters)} and not (select is_enough from enough)
    )
    (select * from scanned where (select is_enough from enough)) union all
    (select "jobs"."id", "jobs".${key} from found join jobs on "jobs"."id" = found.job_id
      where ${listed} order by ${inOrder(order, 'jobs')} limit ${atMost})`;
}

/**
 * Finds the jobs in a list that contain a string or are near a place, in one of two ways. A scan reads the list in
 * order until enough jobs match, which is fast if many match. An index finds all matches in the whole market, which is
 * fast if few match.
 *
 * For lists in order of creation, a sample of the newest jobs decides which way is used. If the scan finds fewer
 * matches than expected, the index is used instead. For lists in any other order, the first few thousand jobs are
 * scanned. If they don't fill the page, an index is used, and its matches are sorted afterward.
 *
 * The tables of searchable text have an index in order of creation. A list that needs nothing else from the jobs is
 * read from it, which takes a fraction of the time of reading each job's text by the job's ID.
 */
import { and, getTableName, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { JobOrder } from '../../rules/jobs/orders.js';
import { closenessOf, milesAway, type PlaceValues } from './distance.js';
import { inOrder, JOB_LIST_ORDERS } from './job-orders.js';
import type { ScanLimit } from '../../../platform/db/pages/page.js';
import type { Placeholders } from '../../../platform/db/statement.js';
import { jobSearch, openJobSearch } from '../tables/jobs.js';
import { isInOpenState } from '../visibility.js';

export interface SearchValues extends PlaceValues {
  pattern: string | null;
}

type Search = Placeholders<SearchValues>;
type Conditions = readonly (SQL | undefined)[];

/** Separates the title from the description in `job_search.words`. */
export const SEPARATOR = '\u0001';

const isInBox = ($: Search) => sql`s.town <@ ${$('box')}::box`;

/** The subquery keeps the planner from guessing how many rows match. */
const MATCHES = {
  search: ($: Search) => sql`s.words like (select lower(${$('pattern')}::text))`,
  near: ($: Search) => sql`${isInBox($)} and ${milesAway($)} <= ${$('miles')}::float8`,
};

export type SearchFilter = keyof typeof MATCHES;
export const SEARCH_FILTERS: readonly SearchFilter[] = ['search', 'near'];

export interface Market {
  readonly areOpen: boolean;
  readonly conditions: readonly SQL[];
  /** The same conditions on `s`, a row of the table of searchable text, if it has the columns. */
  readonly textConditions?: readonly SQL[] | undefined;
  /** Several trades, and the conditions for the jobs of the trade `trade.name`. */
  readonly trades?: { readonly names: SQL; readonly conditions: readonly SQL[] };
}

export const inMarket = ({ areOpen, conditions }: Market): SQL[] => [
  ...(areOpen ? [isInOpenState] : []),
  ...conditions,
];

/** Selects the first jobs of each trade if there are several. No index has the jobs of several trades in order. */
export function ofEachTrade({ trades, ...market }: Market, firstJobs: (where: readonly SQL[]) => SQL): SQL {
  if (!trades) return firstJobs(inMarket(market));
  return sql`select g.* from unnest(${trades.names}) trade(name)
    cross join lateral (${firstJobs(inMarket({ ...market, conditions: trades.conditions }))}) g`;
}

const tableOf = ({ areOpen }: Market) => (areOpen ? openJobSearch : jobSearch);
const tableName = (table: PgTable) => sql.raw(getTableName(table));

const allOf = (conditions: Conditions) => and(...conditions) ?? sql`true`;
const matchesAll = ($: Search, filters: readonly SearchFilter[]) => allOf(filters.map((by) => MATCHES[by]($)));

/** Without a trade, these are the newest `rows` jobs, in order. Otherwise, these are the newest of each trade. */
function newestJobs(market: Market, { positionCondition }: ScanLimit, rows: SQL): SQL {
  const position = positionCondition([sql`"jobs"."created_at"`, sql`"jobs"."id"`]);
  return ofEachTrade(
    market,
    (where) => sql`select "jobs"."id", "jobs"."created_at" from jobs where ${allOf([...where, position])}
      order by "jobs"."created_at" desc, "jobs"."id" desc limit ${rows}`,
  );
}

/** The newest rows of a table of searchable text as `s`, in order. */
function newestTexts(table: PgTable, conditions: Conditions, rows: SQL): SQL {
  return sql`(select s.job_id as id, s.created_at, s.words, s.town from ${tableName(table)} s where ${allOf(conditions)}
    order by s.created_at desc, s.job_id desc limit ${rows}) s`;
}

const withSearchRow = (list: SQL, table: PgTable = jobSearch) =>
  sql`(${list}) l cross join lateral (select * from ${tableName(table)} where job_id = l.id offset 0) s`;

/** `where` has the conditions that the list itself doesn't guarantee. */
export function scanJobs($: Search, filters: readonly SearchFilter[], list: SQL, where: Conditions, atMost: number) {
  const isListed = and(sql`"jobs"."id" = l.id`, ...where);
  const listCondition = sql`cross join lateral (select from jobs where ${isListed} offset 0) j`;
  return sql`select l.id, l.created_at from ${filters.length > 0 ? withSearchRow(list) : sql`(${list}) l`}
    ${where.length > 0 ? listCondition : sql``}
    where ${matchesAll($, filters)} order by l.created_at desc, l.id desc limit ${atMost}`;
}

/** Conditions on `s`, a row of `table`, and on its job. If there are none on the job, it isn't read. */
interface Listed {
  readonly table: PgTable;
  readonly ofText: readonly SQL[];
  readonly ofJob: readonly SQL[];
}

/** The jobs must also match the other filters. */
function lookUpJobs($: Search, by: SearchFilter, filters: readonly SearchFilter[], listed: Listed, scan: ScanLimit) {
  const others = filters.filter((other) => other !== by);
  const position = positionOfText(scan);
  const matching = sql`select s.job_id as id, s.created_at
    from (select * from ${tableName(listed.table)} s where ${MATCHES[by]($)} offset 0) s
    where ${allOf([matchesAll($, others), position, ...listed.ofText])} order by s.created_at desc, s.job_id desc`;
  if (listed.ofJob.length === 0) return sql`${matching} limit ${scan.atMost}`;
  // With the creation time, the list's index is enough to decide whether the job is listed.
  const isListed = and(sql`"jobs"."id" = l.id and "jobs"."created_at" = l.created_at`, ...listed.ofJob);
  return sql`select l.id, l.created_at
    from (${matching} offset 0) l cross join lateral (select from jobs where ${isListed} offset 0) j
    order by l.created_at desc, l.id desc limit ${scan.atMost}`;
}

const positionOfText = ({ positionCondition }: ScanLimit) => positionCondition([sql`s.created_at`, sql`s.job_id`]);

const SAMPLE_JOBS = 1_000;
/**
 * The assumed number of jobs. If there are fewer, both ways are faster than estimated. If there are more open jobs, the
 * index of open jobs still returns only open jobs.
 */
const jobsIn = ({ areOpen }: Pick<Market, 'areOpen'>) => (areOpen ? 200_000 : 1_000_000);
/** A scan is abandoned after it has read this many times the expected number of rows. */
const SCAN_MARGIN = 1.5;
/**
 * A list that ends within this many jobs is scanned. An index may find any number of matches outside such a short list,
 * unless the list is the whole table of searchable text.
 */
const SHORT_LIST = { ofJobs: 5_000, ofTexts: 1_000 } as const;

/**
 * Picks the way that should read fewer rows. An index reads every match, even if it isn't in the list. A scan stops at
 * the last requested match or at the end of the list.
 */
export function searchJobs($: Search, filters: readonly SearchFilter[], market: Market, limit: ScanLimit): SQL {
  const { atMost } = limit;
  const table = tableOf(market);
  const ofText = market.textConditions;
  const short = ofText ? SHORT_LIST.ofTexts : SHORT_LIST.ofJobs;
  const listed: Listed = { table, ofText: ofText ?? [], ofJob: ofText ? [] : inMarket(market) };
  const newest = (rows: SQL) => sql`select n.id, n.created_at from (${newestJobs(market, limit, rows)}) n
    order by n.created_at desc, n.id desc limit ${rows}`;
  const texts = (rows: SQL) => newestTexts(table, [...(ofText ?? []), positionOfText(limit)], rows);
  const searched = (rows: SQL) =>
    ofText
      ? texts(rows)
      : sql`(select l.id, l.created_at, s.words, s.town from ${withSearchRow(newest(rows), table)}) s`;
  const ids = (rows: SQL) => (ofText ? sql`select from ${texts(rows)}` : newestJobs(market, limit, rows));
  const endsWithin = (rows: SQL) => sql`not exists (select from (${ids(sql`${rows} + 1`)}) n offset ${rows} limit 1)`;
  const scan = sql`select s.id, s.created_at from ${searched(sql`(select scan_rows from chosen)`)}
    where ${matchesAll($, filters)} order by s.created_at desc, s.id desc limit ${atMost}`;
  const each = (make: (by: SearchFilter) => SQL, separator = sql`, `) => sql.join(filters.map(make), separator);
  const rowsOf = (by: SearchFilter) => rowsIn(market, by);
  const lookUp = (by: SearchFilter) => sql`(select * from (${lookUpJobs($, by, filters, listed, limit)}) matches
    where (select index = ${by} and not is_enough from chosen, checked))`;
  // With one filter, its count is also the count of the jobs that match all filters.
  const hasOne = filters.length === 1;
  const matching = hasOne ? each((by) => sql`${sql.identifier(by)}`) : sql`matching`;
  return sql`with sample as materialized (
      select count(*) as jobs, ${each((by) => countOf($, by))}
        ${hasOne ? sql`` : sql`, count(*) filter (where ${matchesAll($, filters)}) as matching`}
      from ${searched(sql`${SAMPLE_JOBS}`)}
    ), chosen as materialized (
      select case ${each((by) => sql`when ${rowsOf(by)} = index_rows then ${by}`, sql` `)} end as index, case
          when jobs < ${SAMPLE_JOBS} then jobs
          when expected_rows <= index_rows then greatest(expected_rows * ${SCAN_MARGIN}, ${short})
          when ${endsWithin(sql`longest_scan`)} then longest_scan
          else 0 end as scan_rows
      from sample, lateral (select least(${each(rowsOf)}) as index_rows) fewest,
        lateral (select ${atMost * SAMPLE_JOBS} / nullif(${matching}, 0) as expected_rows) expected,
        lateral (select greatest(index_rows, ${short}) as longest_scan) longest
    ), scanned as materialized (
      ${scan}
    ), checked as materialized (
      select (select count(*) from scanned) >= ${atMost} or ${endsWithin(sql`scan_rows`)} as is_enough from chosen
    )
    (select * from scanned where (select is_enough from checked)) union all ${each(lookUp, sql` union all `)}`;
}

/** The sample's matches by this filter, and how many rows its index would read. */
const countOf = ($: Search, by: SearchFilter) =>
  sql`count(*) filter (where ${MATCHES[by]($)}) as ${sql.identifier(by)}`;
const rowsIn = (market: Pick<Market, 'areOpen'>, by: SearchFilter) =>
  sql`${sql.identifier(by)} * ${jobsIn(market) / SAMPLE_JOBS}`;

/** A person's list of at most this many jobs is scanned. */
const SHORT_OWN_LIST = 250;
/**
 * A sample of all jobs is about a thousand rows, on pages from the whole table. The newest jobs wouldn't show how many
 * jobs contain a seasonal word. If the sample has at most this many matches, an index is faster than a scan of a long
 * list.
 */
const SAMPLE_BYTES = 250_000;
const FEW_MATCHES = 1;
const SAMPLE_OF_ALL = sql`job_search s tablesample system
  (100.0 * ${SAMPLE_BYTES} / greatest(pg_relation_size('job_search'), ${SAMPLE_BYTES})) repeatable (0)`;

/**
 * Searches one person's jobs, which `list` has in order. A short list is scanned. For a long list, a sample of all jobs
 * decides.
 */
export function searchOwnJobs(
  $: Search,
  filters: readonly SearchFilter[],
  list: SQL,
  /** The conditions of an own job: on `s`, on `jobs`, and those on `jobs` that the list doesn't guarantee. */
  { ofText, ofJob, unlisted }: Omit<Listed, 'table'> & { readonly unlisted: readonly SQL[] },
  limit: ScanLimit,
): SQL {
  const each = (make: (by: SearchFilter) => SQL, separator = sql`, `) => sql.join(filters.map(make), separator);
  const listed: Listed = { table: jobSearch, ofText, ofJob };
  const lookUp = (by: SearchFilter) => sql`(select * from (${lookUpJobs($, by, filters, listed, limit)}) matches
    where (select index = ${by} from chosen))`;
  const fewMatches = (by: SearchFilter) => sql`when is_long and ${sql.identifier(by)} <= ${FEW_MATCHES} then ${by}`;
  return sql`with own as materialized (
      select count(*) > ${SHORT_OWN_LIST} as is_long from (select from (${list}) l limit ${SHORT_OWN_LIST + 1}) first
    ), sample as materialized (
      select ${each((by) => countOf($, by))}
      from ${SAMPLE_OF_ALL} where (select is_long from own)
    ), chosen as materialized (
      select case ${each(fewMatches, sql` `)} end as index
      from own, sample
    )
    (select * from (${scanJobs($, filters, list, unlisted, limit.atMost)}) scanned
      where (select index is null from chosen))
    union all ${each(lookUp, sql` union all `)}`;
}

/** Use this condition only for short lists. */
export function matchesSearch($: Search, filters: readonly SearchFilter[]): SQL[] {
  // With `exists`, the planner would find all jobs near the place once for every job.
  const matches = sql`(select ${matchesAll($, filters)} from job_search s where s.job_id = "jobs"."id")`;
  return filters.length > 0 ? [matches] : [];
}

export const SCANNED_FIRST = 5_000;

/**
 * Searches a list whose sort order the text and place indexes don't support. Scans the first `SCANNED_FIRST` jobs in
 * the list. If enough of them match, they fill the page. Otherwise, few jobs match, and an index finds them. The first
 * jobs in the list may come from several indexes.
 */
export function searchJobsInOrder(
  $: Search,
  filters: readonly SearchFilter[],
  order: JobOrder,
  firstJobs: SQL,
  market: Market,
  { atMost, positionCondition, direction }: ScanLimit,
): SQL {
  const table = tableOf(market);
  const key = sql.raw(JOB_LIST_ORDERS[order].column);
  const listCondition = allOf([...inMarket(market), positionCondition([sql`"jobs".${key}`, sql`"jobs"."id"`])]);
  const list = sql`select * from (${firstJobs}) g
      order by ${inOrder(order, 'g', direction)} limit ${SCANNED_FIRST}`;
  return sql`with scanned as materialized (
      select l.id, l.${key} from ${withSearchRow(list, table)}
      where ${matchesAll($, filters)} limit ${atMost}
    ), enough as materialized (
      select (select count(*) from scanned) >= ${atMost} as is_enough
    ), matches as materialized (
      select s.job_id from ${tableName(table)} s where ${matchesAll($, filters)} and not (select is_enough from enough)
    )
    (select * from scanned where (select is_enough from enough)) union all
    (select "jobs"."id", "jobs".${key} from matches join jobs on "jobs"."id" = matches.job_id
      where ${listCondition} order by ${inOrder(order, 'jobs', direction)} limit ${atMost})`;
}

/**
 * Computes the distance of every town in the box. Then checks the other conditions, nearest job first, until there are
 * enough jobs. The table of open jobs contains only open jobs, so their state isn't checked.
 */
export function nearestJobs($: Search, filters: readonly SearchFilter[], market: Market, scan: ScanLimit): SQL {
  const { atMost, positionCondition, direction } = scan;
  const others = matchesAll(
    $,
    filters.filter((by) => by !== 'near'),
  );
  const key = closenessOf(sql`s.away`);
  const inBox = sql`select *, ${milesAway($)} as away from ${tableName(tableOf(market))} s
    where ${isInBox($)} offset 0`;
  const order = (of: 'g' | 'l') => sql`order by ${inOrder('nearest', of, direction)}`;
  const matches = sql`select * from (select s.job_id as id, ${key} as closeness from (${inBox}) s
      where ${allOf([sql`s.away <= ${$('miles')}::float8`, others, positionCondition([key, sql`s.job_id`])])}) g
    ${order('g')}`;
  if (market.conditions.length === 0) return sql`${matches} limit ${atMost}`;
  const isListed = allOf([sql`"jobs"."id" = l.id`, ...market.conditions]);
  return sql`select l.* from (${matches} offset 0) l cross join lateral (select from jobs where ${isListed} offset 0) j
    ${order('l')} limit ${atMost}`;
}

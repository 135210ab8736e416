/** The lists of jobs: those that a viewer may see, with filters. */
import { and, sql, type SQL } from 'drizzle-orm';
import type { ContractorId, HomeownerId } from '../rules/ids.js';
import { DEFAULT_JOB_ORDER, type JobOrder } from '../rules/job-orders.js';
import { PAGE } from '../rules/limits.js';
import { STATES_OPEN_TO_BIDS } from '../rules/parties.js';
import { JOB_STATES, type JobState } from '../rules/states.js';
import type { Urgency } from '../rules/publishing.js';
import type { Role, Viewer } from '../rules/viewer.js';
import type { Db } from './database.js';
import { jobFields, type JobRow } from './jobs.js';
import { includeKey, partsColumn, readParts, type JobInclude } from './job-parts.js';
import { pagedList, type List, type Page, type PageRequest, type ScanLimit } from './page.js';
import { inOrder, JOB_LIST_ORDERS } from './job-orders.js';
import {
  inMarket,
  matchesSearch,
  scanJobs,
  SCANNED_FIRST,
  SEARCH_FILTERS,
  searchJobs,
  searchJobsInOrder,
  SEPARATOR,
  type Market,
  type SearchFilter,
  type SearchValues,
} from './job-search.js';
import { builder, cachedByKey, type Placeholders } from './statement.js';
import { jobs } from './tables/jobs.js';
import { idsOf, isOpenToBids, visibleJobs, type ViewerIds } from './visibility.js';

export interface JobFilter {
  search?: string | null | undefined;
  /** Jobs in any of these states. */
  statuses?: readonly JobState[] | null | undefined;
  updatedSince?: Date | null | undefined;
  statusChangedBefore?: Date | null | undefined;
  category?: string | null | undefined;
  urgency?: Urgency | null | undefined;
  homeownerId?: HomeownerId | null | undefined;
  /** Jobs awarded to this contractor; only for admins and for themselves, who see all of these. */
  contractorId?: ContractorId | null | undefined;
  near?: { box: string; latitude: number; longitude: number; miles: number } | null | undefined;
}

interface FilterValues extends ViewerIds, SearchValues {
  category: string | null;
  urgency: Urgency | null;
  owner: HomeownerId | null;
  awardee: ContractorId | null;
  since: string | null;
  before: string | null;
}

/** The SQL of each filter; a statement contains only the conditions of its filters. */
const FILTERS: {
  readonly [Name in Exclude<keyof JobFilter, SearchFilter | 'statuses'> | 'separator']-?: (
    $: Placeholders<FilterValues>,
  ) => SQL;
} = {
  category: ($) => sql`${jobs.category} = ${$('category')}`,
  urgency: ($) => sql`${jobs.urgency} = ${$('urgency')}::urgency`,
  homeownerId: ($) => sql`${jobs.homeownerId} = ${$('owner')}`,
  contractorId: ($) => sql`${jobs.awardedContractorId} = ${$('awardee')}`,
  updatedSince: ($) => sql`"jobs"."updated_at" >= ${$('since')}::timestamptz`,
  /** Such a job is older still, so that the list of the newest need not begin with those that are not. */
  statusChangedBefore: ($) =>
    sql`"jobs"."status_changed_at" < ${$('before')}::timestamptz
      and "jobs"."created_at" < ${$('before')}::timestamptz`,
  /**
   * For a search that contains the separator: the index would also match a text that begins in the title and ends in
   * the description.
   */
  separator: ($) => sql`(${jobs.title} ilike ${$('pattern')} or ${jobs.description} ilike ${$('pattern')})`,
};
const FILTER_NAMES = Object.keys(FILTERS) as (keyof typeof FILTERS)[];

const lists = cachedByKey<List<FilterValues, JobRow>>();

/** The jobs that the viewer may see and that match the filter, with the included parts. */
export async function listJobs(
  db: Db,
  viewer: Viewer,
  filter: JobFilter,
  request: PageRequest,
  include: JobInclude = {},
  order: JobOrder = DEFAULT_JOB_ORDER,
): Promise<Page<JobRow>> {
  const { role } = viewer;
  const kind: ListKind = {
    role,
    order,
    names: FILTER_NAMES.filter((name) =>
      name === 'separator' ? filter.search?.includes(SEPARATOR) : filter[name] != null,
    ),
    searches: SEARCH_FILTERS.filter((name) => filter[name] != null),
    statuses: JOB_STATES.filter((state) => filter.statuses?.includes(state)),
  };
  const { names, searches, statuses } = kind;
  const list = (include: JobInclude) =>
    lists([role, order, ...statuses, ...names, ...searches, includeKey(include)].join(' '), () =>
      listOf(kind, include),
    );
  const { search, category = null, urgency = null, updatedSince, statusChangedBefore, near } = filter;
  const { homeownerId: owner = null, contractorId: awardee = null } = filter;
  const { box = null, latitude = null, longitude = null, miles = null } = near ?? {};
  const values = {
    pattern: search == null ? null : likePattern(search),
    category,
    urgency,
    owner,
    awardee,
    since: updatedSince?.toISOString() ?? null,
    before: statusChangedBefore?.toISOString() ?? null,
    box,
    latitude,
    longitude,
    miles,
    ...idsOf(viewer),
  };
  const on = searches.length > 0 ? (db.forLong?.() ?? db) : db;
  const page = await list(include)(on, values, request);
  readParts(viewer, page.rows, include);
  // The total does not depend on the included parts.
  return request.withTotal ? page : Object.assign(page, { total: () => list({}).total(on, values) });
}

/** The key of a statement. */
interface ListKind {
  readonly role: Role;
  readonly order: JobOrder;
  readonly names: readonly (keyof typeof FILTERS)[];
  readonly searches: readonly SearchFilter[];
  /**
   * States are part of the statement's text: there are few, some with most jobs and some with hardly any, and the
   * planner should see which. No state means any.
   */
  readonly statuses: readonly JobState[];
}

function listOf(kind: ListKind, include: JobInclude): List<FilterValues, JobRow> {
  const { role } = kind;
  const gatherRows = gatherFrom(kind);
  const { keys, direction, key, isByState } = JOB_LIST_ORDERS[kind.order];
  const isCountedInOrder = isByState && kind.searches.length === 0;
  const gatherForTotal = isCountedInOrder ? gatherRows : gatherFrom({ ...kind, order: DEFAULT_JOB_ORDER });
  return pagedList({
    name: 'listJobs',
    keys,
    direction,
    fields: ($: Placeholders<FilterValues>) => ({ ...jobFields(include, key), ...partsColumn(include, role, $) }),
    rows: ($, fields, condition, scan) =>
      builder
        .select(fields)
        .from(jobs)
        // As an array of ids, so that the planner can only look each of them up.
        .where(
          gatherRows
            ? sql`${jobs.id} = any(array(${neededRows(kind.order, scan.gatheredRows ?? gatherRows($, scan), scan)}))`
            : and(visible(kind, $), ...conditions(kind, $), condition),
        )
        .$dynamic(),
    ...(gatherRows && { appliesScanLimit: true }),
    ...(gatherForTotal && {
      rowsToCount: ($: Placeholders<FilterValues>, scan: ScanLimit) =>
        sql`select from (${gatherForTotal($, scan)}) g limit ${scan.atMost}`,
    }),
    ...(kind.searches.length > 0 && { exactTotalMax: PAGE.exactSearchTotalMax }),
    // A search reads no less for its first page than for the total.
    ...(kind.searches.length > 0 && kind.order === DEFAULT_JOB_ORDER && { gatherRows }),
  });
}

function neededRows(order: JobOrder, rows: SQL, { rowsNeeded, offset, direction }: ScanLimit): SQL {
  return sql`select g.id from (${rows}) g order by ${inOrder(order, 'g', direction)}
    limit ${sql.raw(String(rowsNeeded))}${offset ? sql` offset ${offset}` : sql``}`;
}

/** A contractor sees every open job: a filter for open jobs need not read their own bids. */
function visible({ role, statuses }: ListKind, $: Placeholders<FilterValues>): SQL | undefined {
  return role === 'contractor' && asksFor(statuses) === 'open' ? undefined : visibleJobs(role, $);
}

/** Which of a contractor's two sources the states need: the open market, their own jobs, or both. */
function asksFor(statuses: readonly JobState[]): 'open' | 'own' | 'both' {
  const open = statuses.filter((state) => STATES_OPEN_TO_BIDS.includes(state));
  if (open.length === 0) return statuses.length === 0 ? 'both' : 'own';
  return open.length === statuses.length ? 'open' : 'both';
}

function isIn(statuses: readonly JobState[]): SQL {
  const list = statuses.map((status) => `'${status}'`);
  return sql`"jobs"."status" ${sql.raw(list.length === 1 ? `= ${list[0]}` : `in (${list.join(', ')})`)}`;
}

/** The conditions of the filters on a row of `jobs`. */
function conditions({ statuses, names }: ListKind, $: Placeholders<FilterValues>): SQL[] {
  return [...(statuses.length > 0 ? [isIn(statuses)] : []), ...names.map((name) => FILTERS[name]($))];
}

type GatherRows = ($: Placeholders<FilterValues>, scan: ScanLimit) => SQL;

/**
 * Where an index in the list's order would read too many rows: selects the identifiers of the jobs that may be on the
 * page, the first ones of each source. A contractor's own jobs are few enough: a search scans all of them.
 */
function gatherFrom(kind: ListKind): GatherRows | undefined {
  const { role, names, searches, statuses } = kind;
  if (names.includes('contractorId')) return awardedJobs(kind);
  const place = role === 'contractor' ? asksFor(statuses) : 'open';
  // An index-only scan of a trade's index finds the next jobs, which keeps the planner from scanning all trades for a
  // rare one; some states are so rare that the whole list would be read.
  const isOfTrade = role !== 'homeowner' && names.includes('category');
  if (searches.length === 0 && place === 'open' && !isOfTrade && !isOfStates(kind)) return undefined;

  const market = searches.length > 0 ? gatherMatches(kind) : firstInMarket(kind);
  const parts = [...(place === 'own' ? [] : [market]), ...(place === 'open' ? [] : [ownJobs(kind)])];
  return ($, scan) => union(parts.map((part) => part($, scan)));
}

const union = (parts: readonly SQL[]) =>
  sql.join(
    parts.map((part) => sql`(${part})`),
    sql` union all `,
  );

function gatherMatches(kind: ListKind): GatherRows {
  const { searches, order } = kind;
  return ($, scan) => {
    const market = marketOf(kind, $);
    if (isNewestFirst(order, scan)) return searchJobs($, searches, market, scan);
    const firstJobs = firstInMarket(kind)($, { ...scan, atMost: SCANNED_FIRST });
    return searchJobsInOrder($, searches, order, firstJobs, market, scan);
  };
}

/** The order of creation is searched best from its newest end. */
function isNewestFirst(order: JobOrder, { direction }: ScanLimit): boolean {
  return JOB_LIST_ORDERS[order].key === 'createdAt' && direction === 'desc';
}

/** Whether the first jobs are found by an index of each state. One homeowner’s are few enough to sort. */
function isOfStates({ role, order, names, statuses }: ListKind): boolean {
  if (role !== 'admin') return false;
  if (statuses.length > 0) return statuses.length > 1;
  return JOB_LIST_ORDERS[order].isByState && !names.includes('homeownerId');
}

/** The first jobs without the search: of each state, or by one index. */
function firstInMarket(kind: ListKind): GatherRows {
  if (!isOfStates(kind)) return ($, scan) => inJobs(kind.order, inMarket(marketOf(kind, $)), scan);
  const states = kind.statuses.length > 0 ? kind.statuses : JOB_STATES;
  const each = states.map((status) => firstInMarket({ ...kind, statuses: [status] }));
  return ($, scan) => union(each.map((first) => first($, scan)));
}

/** The first jobs that meet the conditions, in the order of the list. */
function inJobs(order: JobOrder, where: readonly SQL[], scan: ScanLimit, from = sql`jobs`): SQL {
  const { positionCondition, atMost, direction } = scan;
  const key = sql.raw(JOB_LIST_ORDERS[order].column);
  return sql`select "jobs"."id", "jobs".${key} from ${from}
    where ${and(...where, positionCondition([sql`"jobs".${key}`, sql`"jobs"."id"`])) ?? sql`true`}
    order by ${inOrder(order, 'jobs', direction)} limit ${atMost}`;
}

/** The part of the market that this viewer sees and these filters ask for, without the search. */
function marketOf(kind: ListKind, $: Placeholders<FilterValues>): Market {
  const { role, statuses } = kind;
  const asksForOpen = asksFor(statuses) === 'open';
  // `areOpen` says as much as the filter that names every such state.
  const isImplied = asksForOpen && statuses.length === STATES_OPEN_TO_BIDS.length;
  return {
    areOpen: role === 'contractor' || asksForOpen,
    conditions: [
      ...(role === 'homeowner' ? [visibleJobs(role, $)] : []),
      ...conditions(isImplied ? { ...kind, statuses: [] } : kind, $),
    ],
  };
}

/**
 * The first of the jobs that one contractor was awarded, which are few enough to sort. In a sub-select, so that the
 * planner finds them by their index and does not look for them in the list of all jobs.
 */
function awardedJobs(kind: ListKind): GatherRows {
  const others = { ...kind, names: kind.names.filter((name) => name !== 'contractorId') };
  return ($, scan) =>
    inJobs(
      kind.order,
      [...conditions(others, $), ...matchesSearch($, kind.searches)],
      scan,
      sql`(select * from jobs where ${FILTERS.contractorId($)} offset 0) jobs`,
    );
}

/** Jobs that the contractor has bid on and that are no longer open: open ones are found in the market. */
function ownJobs(kind: ListKind): GatherRows {
  const { searches, order } = kind;
  const closedJobs = ($: Placeholders<FilterValues>) => [sql`not ${isOpenToBids}`, ...conditions(kind, $)];
  const isOwn = ($: Placeholders<FilterValues>) =>
    sql`"jobs"."id" in (select own.job_id from bids own where own.contractor_id = ${$('contractorId')})`;
  return ($, scan) =>
    isNewestFirst(order, scan)
      ? scanJobs($, searches, jobsBidOn($, scan), closedJobs($), scan.atMost)
      : inJobs(order, [isOwn($), ...closedJobs($), ...matchesSearch($, searches)], scan);
}

/** The jobs that the contractor has bid on, the newest first; there is an index of these in the order of the jobs. */
function jobsBidOn($: Placeholders<FilterValues>, { positionCondition }: ScanLimit): SQL {
  const position = positionCondition([sql`own.job_created_at`, sql`own.job_id`]);
  return sql`select distinct own.job_created_at as created_at, own.job_id as id from bids own
    where ${and(sql`own.contractor_id = ${$('contractorId')}`, position)}
    order by own.job_created_at desc, own.job_id desc`;
}

/** Escapes `%` and `_`, which are literal in the text. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

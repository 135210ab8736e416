/** Selects a list's jobs from several sources if one index in the list's order would read too many rows. */
import { and, sql, type SQL } from 'drizzle-orm';
import type { JobOrder } from '../../rules/jobs/orders.js';
import { STATES_OPEN_TO_BIDS } from '../../rules/parties.js';
import { JOB_STATES } from '../../rules/states.js';
import { asksFor, conditions, FILTERS, isInTrade, type FilterValues, type ListKind } from './job-filters.js';
import { closenessOfJob } from './distance.js';
import { inOrder, JOB_LIST_ORDERS } from './job-orders.js';
import {
  inMarket,
  matchesSearch,
  nearestJobs,
  ofEachTrade,
  scanJobs,
  SCANNED_FIRST,
  searchJobs,
  searchJobsInOrder,
  searchOwnJobs,
  type Market,
} from './job-search.js';
import type { ScanLimit } from '../../../platform/db/pages/page.js';
import type { Placeholders } from '../../../platform/db/statement.js';
import { isClosedToBids, isNotHidden, isNotHiddenJob, visibleJobs } from '../visibility.js';

export type GatherRows = ($: Placeholders<FilterValues>, scan: ScanLimit) => SQL;

/**
 * Selects the identifiers of the jobs that may be on the page: the first jobs from each source. Undefined if one index
 * in the list's order reads few enough rows. A contractor's own jobs are few enough for a search to scan all of them.
 */
export function gatherFrom(kind: ListKind): GatherRows | undefined {
  const { role, names, searches, statuses } = kind;
  const ofPerson = conditionOfPerson(kind);
  if (ofPerson) return jobsOfPerson(kind, ofPerson);
  const place = role === 'contractor' ? asksFor(statuses) : 'open';
  // For a trade or a budget, an index-only scan finds the next jobs. Otherwise, the planner might scan all trades to
  // find the jobs of a rare one. Some states are so rare that the planner would read the whole list to find their jobs.
  const isIndexed = role !== 'homeowner' && (hasAny(names, TRADES) || hasAny(names, BUDGET));
  if (searches.length === 0 && place === 'open' && !isIndexed && !isOfStates(kind)) return undefined;

  const market = searches.length > 0 ? gatherMatches(kind) : firstInMarket(kind);
  const parts = [...(place === 'own' ? [] : [market]), ...(place === 'open' ? [] : [ownJobs(kind)])];
  return ($, scan) => union(parts.map((part) => part($, scan)));
}

type Names = ListKind['names'];
const TRADES: Names = ['category', 'categories'];
const BUDGET: Names = ['budgetMin', 'budgetMax'];
const hasAny = (names: Names, some: Names) => names.some((name) => some.includes(name));

const union = (parts: readonly SQL[]) =>
  sql.join(
    parts.map((part) => sql`(${part})`),
    sql` union all `,
  );

function gatherMatches(kind: ListKind): GatherRows {
  const { role, searches, order } = kind;
  return ($, scan) => {
    const market = marketOf(kind, $);
    if (order === 'nearest') return nearestJobs($, searches, market, scan);
    if (isNewestFirst(order, scan))
      return role === 'homeowner' ? searchPosted(kind, $, scan) : searchJobs($, searches, market, scan);
    const firstJobs = firstInMarket(kind)($, { ...scan, atMost: SCANNED_FIRST });
    return searchJobsInOrder($, searches, order, firstJobs, market, scan);
  };
}

/** An index has a homeowner's jobs in this order. */
function searchPosted(kind: ListKind, $: Placeholders<FilterValues>, scan: ScanLimit): SQL {
  const ofJob = inMarket(marketOf(kind, $));
  const position = scan.positionCondition([sql`"jobs"."created_at"`, sql`"jobs"."id"`]);
  const list = sql`select "jobs"."id", "jobs"."created_at" from jobs where ${and(...ofJob, position)}
    order by "jobs"."created_at" desc, "jobs"."id" desc`;
  const isOwn = sql`s.job_id in (select own.id from jobs own where own.homeowner_id = ${$('homeownerId')})`;
  return searchOwnJobs($, kind.searches, list, { ofText: [isOwn], ofJob, unlisted: [] }, scan);
}

/** True if the list starts with the newest job. From that end, a list in order of creation is fastest to search. */
function isNewestFirst(order: JobOrder, { direction }: ScanLimit): boolean {
  return JOB_LIST_ORDERS[order].key === 'createdAt' && direction === 'desc';
}

/** One homeowner's jobs don't need one index per state, because they are few enough to sort. */
function isOfStates({ role, order, names, statuses }: ListKind): boolean {
  if (role !== 'admin') return false;
  if (statuses.length > 0) return statuses.length > 1;
  // Only the indexes by state or by trade have the budget.
  const isByState = JOB_LIST_ORDERS[order].isByState || (hasAny(names, BUDGET) && !hasAny(names, TRADES));
  return isByState && !names.includes('homeownerId');
}

/** One homeowner's jobs are few enough to sort. */
function isOfTrades({ role, names }: ListKind): boolean {
  return role !== 'homeowner' && names.includes('categories') && !names.includes('homeownerId');
}

function firstInMarket(kind: ListKind): GatherRows {
  const { order } = kind;
  // The orders by state don't have an index by trade.
  if (isOfTrades(kind) && !JOB_LIST_ORDERS[order].isByState)
    return ($, scan) => ofEachTrade(marketOf(kind, $), (where) => inJobs(order, where, scan));
  if (!isOfStates(kind)) return ($, scan) => inJobs(order, inMarket(marketOf(kind, $)), scan);
  const states = kind.statuses.length > 0 ? kind.statuses : JOB_STATES;
  const each = states.map((status) => firstInMarket({ ...kind, statuses: [status] }));
  return ($, scan) => union(each.map((first) => first($, scan)));
}

function inJobs(order: JobOrder, where: readonly SQL[], scan: ScanLimit, from = sql`jobs`): SQL {
  const { positionCondition, atMost, direction } = scan;
  const key = sql.raw(JOB_LIST_ORDERS[order].column);
  const position = positionCondition([sql`"jobs".${key}`, sql`"jobs"."id"`]);
  return sql`select "jobs"."id", "jobs".${key} from ${from} where ${and(...where, position) ?? sql`true`}
    order by ${inOrder(order, 'jobs', direction)} limit ${atMost}`;
}

/** If the list is sorted by distance, each job's distance is computed only once. */
function inFewJobs({ order, searches }: ListKind, where: readonly SQL[], $: Placeholders<FilterValues>, from: SQL) {
  const all = [...where, ...matchesSearch($, searches)];
  if (order !== 'nearest') return (scan: ScanLimit) => inJobs(order, all, scan, from);
  const measured = sql`(select *, ${closenessOfJob($)} as closeness from ${from} where ${and(...all)} offset 0) jobs`;
  return (scan: ScanLimit) => inJobs(order, [], scan, measured);
}

function marketOf(kind: ListKind, $: Placeholders<FilterValues>): Market {
  const { role, statuses, names } = kind;
  const asksForOpen = asksFor(statuses) === 'open';
  // If the filter names every state that is open to bids, `areOpen` already covers it.
  const isImplied = asksForOpen && statuses.length === STATES_OPEN_TO_BIDS.length;
  const filters = (names: Names) => conditions({ ...kind, names, ...(isImplied && { statuses: [] }) }, $);
  const listed = (names: Names) => [
    ...(role === 'homeowner' ? [visibleJobs(role, $)] : []),
    ...(role === 'contractor' ? [isNotHidden] : []),
    ...filters(names),
  ];
  return {
    areOpen: role === 'contractor' || asksForOpen,
    conditions: listed(names),
    ...(role !== 'homeowner' &&
      filters(names).length === 0 && { textConditions: role === 'contractor' ? [isNotHiddenJob(sql`s.job_id`)] : [] }),
    ...(isOfTrades(kind) && {
      trades: {
        names: sql`${$('categories')}::text[]`,
        conditions: [...listed(names.filter((name) => name !== 'categories')), isInTrade(sql`trade.name`)],
      },
    }),
  };
}

type Condition = ($: Placeholders<FilterValues>) => SQL;

/** A person has so few jobs that all of them are read and then sorted. */
function conditionOfPerson({ role, names, order }: ListKind): Condition | undefined {
  // This is a second line of defense. The operation refuses this filter to anyone who can't see all of these jobs.
  if (names.includes('contractorId')) return ($) => and(FILTERS.contractorId($), visibleJobs(role, $)) ?? sql`true`;
  if (order !== 'nearest') return undefined;
  if (role === 'homeowner') return ($) => visibleJobs(role, $);
  return names.includes('homeownerId') ? FILTERS.homeownerId : undefined;
}

/** The subquery makes the planner use the person's index instead of searching the list of all jobs. */
function jobsOfPerson(kind: ListKind, ofPerson: Condition): GatherRows {
  return ($, scan) =>
    inFewJobs(kind, conditions(kind, $), $, sql`(select * from jobs where ${ofPerson($)} offset 0) jobs`)(scan);
}

/** Open jobs aren't included, because they come from the market. */
function ownJobs(kind: ListKind): GatherRows {
  const { searches, order } = kind;
  const closedJobs = ($: Placeholders<FilterValues>) => [isClosedToBids, ...conditions(kind, $)];
  const isOwn = ($: Placeholders<FilterValues>, id: SQL) =>
    sql`${id} in (select own.job_id from bids own where own.contractor_id = ${$('contractorId')})`;
  return ($, scan) => {
    if (!isNewestFirst(order, scan))
      return inFewJobs(kind, [isOwn($, sql`"jobs"."id"`), ...closedJobs($)], $, sql`jobs`)(scan);
    const list = jobsBidOn($, scan);
    if (searches.length === 0) return scanJobs($, searches, list, closedJobs($), scan.atMost);
    const where = closedJobs($);
    return searchOwnJobs($, searches, list, { ofText: [isOwn($, sql`s.job_id`)], ofJob: where, unlisted: where }, scan);
  };
}

/** An index of bids contains the jobs in this order. */
function jobsBidOn($: Placeholders<FilterValues>, { positionCondition }: ScanLimit): SQL {
  const position = positionCondition([sql`own.job_created_at`, sql`own.job_id`]);
  return sql`select distinct own.job_created_at as created_at, own.job_id as id from bids own
    where ${and(sql`own.contractor_id = ${$('contractorId')}`, position)}
    order by own.job_created_at desc, own.job_id desc`;
}

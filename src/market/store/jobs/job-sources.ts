/** Where a list's jobs come from if one index in its order would read too many rows. */
import { and, sql, type SQL } from 'drizzle-orm';
import type { JobOrder } from '../../rules/jobs/orders.js';
import { STATES_OPEN_TO_BIDS } from '../../rules/parties.js';
import { JOB_STATES } from '../../rules/states.js';
import { asksFor, conditions, FILTERS, type FilterValues, type ListKind } from './job-filters.js';
import { closenessOfJob } from './distance.js';
import { inOrder, JOB_LIST_ORDERS } from './job-orders.js';
import {
  inMarket,
  matchesSearch,
  nearestJobs,
  scanJobs,
  SCANNED_FIRST,
  searchJobs,
  searchJobsInOrder,
  type Market,
} from './job-search.js';
import type { ScanLimit } from '../../../platform/db/pages/page.js';
import type { Placeholders } from '../../../platform/db/statement.js';
import { isClosedToBids, isNotHidden, visibleJobs } from '../visibility.js';

export type GatherRows = ($: Placeholders<FilterValues>, scan: ScanLimit) => SQL;

/**
 * If an index in the list's order would read too many rows, selects the identifiers of the jobs that may be on the
 * page: the first ones of each source. A contractor's own jobs are few enough that a search scans all of them.
 */
export function gatherFrom(kind: ListKind): GatherRows | undefined {
  const { role, names, searches, statuses } = kind;
  const ofPerson = conditionOfPerson(kind);
  if (ofPerson) return jobsOfPerson(kind, ofPerson);
  const place = role === 'contractor' ? asksFor(statuses) : 'open';
  // An index-only scan of a trade's index finds the next jobs. It keeps the planner from scanning all trades for a rare
  // one. Some states are so rare that the whole list would be read.
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
    if (order === 'nearest') return nearestJobs($, searches, market, scan);
    if (isNewestFirst(order, scan)) return searchJobs($, searches, market, scan);
    const firstJobs = firstInMarket(kind)($, { ...scan, atMost: SCANNED_FIRST });
    return searchJobsInOrder($, searches, order, firstJobs, market, scan);
  };
}

/** Order of creation is searched best from its newest end. */
function isNewestFirst(order: JobOrder, { direction }: ScanLimit): boolean {
  return JOB_LIST_ORDERS[order].key === 'createdAt' && direction === 'desc';
}

/** True if an index per state finds the first jobs. One homeowner's are few enough to sort. */
function isOfStates({ role, order, names, statuses }: ListKind): boolean {
  if (role !== 'admin') return false;
  if (statuses.length > 0) return statuses.length > 1;
  return JOB_LIST_ORDERS[order].isByState && !names.includes('homeownerId');
}

/** The first jobs without the search: of each state, or through one index. */
function firstInMarket(kind: ListKind): GatherRows {
  if (!isOfStates(kind)) return ($, scan) => inJobs(kind.order, inMarket(marketOf(kind, $)), scan);
  const states = kind.statuses.length > 0 ? kind.statuses : JOB_STATES;
  const each = states.map((status) => firstInMarket({ ...kind, statuses: [status] }));
  return ($, scan) => union(each.map((first) => first($, scan)));
}

/** The first jobs that meet the conditions, in list order. */
function inJobs(order: JobOrder, where: readonly SQL[], scan: ScanLimit, from = sql`jobs`): SQL {
  const { positionCondition, atMost, direction } = scan;
  const key = sql.raw(JOB_LIST_ORDERS[order].column);
  const position = positionCondition([sql`"jobs".${key}`, sql`"jobs"."id"`]);
  return sql`select "jobs"."id", "jobs".${key} from ${from} where ${and(...where, position) ?? sql`true`}
    order by ${inOrder(order, 'jobs', direction)} limit ${atMost}`;
}

/** The same for few jobs, in any order. For the order of distance, each is measured once. */
function inFewJobs({ order, searches }: ListKind, where: readonly SQL[], $: Placeholders<FilterValues>, from: SQL) {
  const all = [...where, ...matchesSearch($, searches)];
  if (order !== 'nearest') return (scan: ScanLimit) => inJobs(order, all, scan, from);
  const measured = sql`(select *, ${closenessOfJob($)} as closeness from ${from} where ${and(...all)} offset 0) jobs`;
  return (scan: ScanLimit) => inJobs(order, [], scan, measured);
}

/** The part of the market that this viewer sees and these filters select, without the search. */
function marketOf(kind: ListKind, $: Placeholders<FilterValues>): Market {
  const { role, statuses } = kind;
  const asksForOpen = asksFor(statuses) === 'open';
  // `areOpen` says as much as a filter that names every such state.
  const isImplied = asksForOpen && statuses.length === STATES_OPEN_TO_BIDS.length;
  return {
    areOpen: role === 'contractor' || asksForOpen,
    conditions: [
      ...(role === 'homeowner' ? [visibleJobs(role, $)] : []),
      ...(role === 'contractor' ? [isNotHidden] : []),
      ...conditions(isImplied ? { ...kind, statuses: [] } : kind, $),
    ],
  };
}

type Condition = ($: Placeholders<FilterValues>) => SQL;

/** The condition that selects one person's jobs. They are few: all are read and then sorted. */
function conditionOfPerson({ role, names, order }: ListKind): Condition | undefined {
  // The operation refuses others. Visibility is a condition all the same.
  if (names.includes('contractorId')) return ($) => and(FILTERS.contractorId($), visibleJobs(role, $)) ?? sql`true`;
  if (order !== 'nearest') return undefined;
  if (role === 'homeowner') return ($) => visibleJobs(role, $);
  return names.includes('homeownerId') ? FILTERS.homeownerId : undefined;
}

/**
 * The first of one person's jobs, which are few enough to sort. The subquery makes the planner use their index instead
 * of looking for them in the list of all jobs.
 */
function jobsOfPerson(kind: ListKind, ofPerson: Condition): GatherRows {
  return ($, scan) =>
    inFewJobs(kind, conditions(kind, $), $, sql`(select * from jobs where ${ofPerson($)} offset 0) jobs`)(scan);
}

/** Jobs that the contractor has bid on and that are no longer open. Open ones are found in the market. */
function ownJobs(kind: ListKind): GatherRows {
  const { searches, order } = kind;
  const closedJobs = ($: Placeholders<FilterValues>) => [isClosedToBids, ...conditions(kind, $)];
  const isOwn = ($: Placeholders<FilterValues>) =>
    sql`"jobs"."id" in (select own.job_id from bids own where own.contractor_id = ${$('contractorId')})`;
  return ($, scan) =>
    isNewestFirst(order, scan)
      ? scanJobs($, searches, jobsBidOn($, scan), closedJobs($), scan.atMost)
      : inFewJobs(kind, [isOwn($), ...closedJobs($)], $, sql`jobs`)(scan);
}

/** The jobs that the contractor has bid on, newest first. An index has them in job order. */
function jobsBidOn($: Placeholders<FilterValues>, { positionCondition }: ScanLimit): SQL {
  const position = positionCondition([sql`own.job_created_at`, sql`own.job_id`]);
  return sql`select distinct own.job_created_at as created_at, own.job_id as id from bids own
    where ${and(sql`own.contractor_id = ${$('contractorId')}`, position)}
    order by own.job_created_at desc, own.job_id desc`;
}

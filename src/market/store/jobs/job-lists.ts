/** Lists of jobs, for each combination of role, filters, and order. */
import { and, sql, type SQL } from 'drizzle-orm';
import { DEFAULT_JOB_ORDER, type JobOrder } from '../../rules/jobs/orders.js';
import { PAGE } from '../../../platform/caller-limits.js';
import { JOB_STATES } from '../../rules/states.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { distanceOfJob } from './distance.js';
import { asksFor, conditions, FILTER_NAMES, type FilterValues, type JobFilter, type ListKind } from './job-filters.js';
import { inOrder, JOB_LIST_ORDERS } from './job-orders.js';
import { includeKey, partsColumn, readParts, type JobInclude } from './job-parts.js';
import { SEARCH_FILTERS, SEPARATOR } from './job-search.js';
import { gatherFrom } from './job-sources.js';
import { jobFields, type JobRow } from './jobs.js';
import { pagedList, type List, type Page, type PageRequest, type ScanLimit } from '../../../platform/db/pages/page.js';
import { asArray, builder, cachedByKey, type Placeholders } from '../../../platform/db/statement.js';
import { jobs } from '../tables/jobs.js';
import { idsOf, isOpenToBids, listedJobs } from '../visibility.js';

/** The distance is in miles, rounded to a tenth. */
export type JobListItem = JobRow & { distance: number | null };

const lists = cachedByKey<List<FilterValues, JobListItem>>();

export async function listJobs(
  db: Db,
  viewer: Viewer,
  filter: JobFilter,
  request: PageRequest,
  include: JobInclude = {},
  order: JobOrder = DEFAULT_JOB_ORDER,
): Promise<Page<JobListItem>> {
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
  const { search, category = null, categories, urgency = null, updatedSince, statusChangedBefore, near } = filter;
  const { budgetMin = null, budgetMax = null } = filter;
  const { homeownerId: owner = null, contractorId: awardee = null } = filter;
  const { box = null, latitude = null, longitude = null, miles = null } = near ?? {};
  const values = {
    pattern: search == null ? null : likePattern(search),
    category,
    categories: categories ? asArray(categories) : null,
    urgency,
    budgetMin,
    budgetMax,
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
  // The total doesn't depend on the included parts.
  return request.withTotal ? page : Object.assign(page, { total: () => list({}).total(on, values) });
}

function listOf(kind: ListKind, include: JobInclude): List<FilterValues, JobListItem> {
  const { role } = kind;
  const gatherRows = gatherFrom(kind);
  const { keys, direction, key, isByState } = JOB_LIST_ORDERS[kind.order];
  const isNearest = kind.order === 'nearest';
  const isCountedInOrder = isNearest || (isByState && kind.searches.length === 0);
  const gatherForTotal = isCountedInOrder ? gatherRows : gatherFrom({ ...kind, order: DEFAULT_JOB_ORDER });
  return pagedList({
    name: 'listJobs',
    mayBeStale: true,
    keys,
    direction,
    fields: ($: Placeholders<FilterValues>) => ({
      ...jobFields(include, key),
      ...partsColumn(include, role, $),
      distance: (kind.searches.includes('near') ? distanceOfJob($) : sql<null>`null`).as('distance'),
    }),
    ...(isNearest && {
      keyObject: ({ id, distance }: JobListItem) => ({ id, closeness: -Math.round((distance ?? 0) * 10) }),
    }),
    rows: ($, fields, condition, scan) =>
      builder
        .select(fields)
        .from(jobs)
        // The IDs are passed as an array, so the planner has to look up each job by its ID.
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
    // A search reads as many rows for its first page as for its total.
    ...(kind.searches.length > 0 && (isNearest || kind.order === DEFAULT_JOB_ORDER) && { gatherRows }),
  });
}

function neededRows(order: JobOrder, rows: SQL, { rowsNeeded, offset, direction }: ScanLimit): SQL {
  return sql`select g.id from (${rows}) g order by ${inOrder(order, 'g', direction)}
    limit ${sql.raw(String(rowsNeeded))}${offset ? sql` offset ${offset}` : sql``}`;
}

/** Every contractor sees all open jobs, so a list of only open jobs doesn't need to read the contractor's own bids. */
function visible({ role, statuses }: ListKind, $: Placeholders<FilterValues>): SQL | undefined {
  return role === 'contractor' && asksFor(statuses) === 'open' ? isOpenToBids : listedJobs(role, $);
}

/** `%` and `_` are escaped, so they match only themselves. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

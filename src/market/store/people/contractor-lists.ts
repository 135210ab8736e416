/** Lists the contractors in the directory, sorted and filtered. */
import { and, sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { ContractorOrder } from '../../rules/entities/people.js';
import { PAGE } from '../../../platform/caller-limits.js';
import type { Viewer } from '../../rules/viewer.js';
import { contractorShape, type Contractor } from '../accounts/accounts.js';
import type { Db } from '../../../platform/db/database.js';
import { firstMatches, matchesToCount } from '../../../platform/db/pages/first-matches.js';
import { orderKey, type OrderKey } from '../../../platform/db/pages/keyset.js';
import { likePattern } from '../jobs/job-lists.js';
import { pagedList, type List, type Page, type PageRequest, type ScanLimit } from '../../../platform/db/pages/page.js';
import { CLIENT } from './people.js';
import { asArray, builder, cachedByKey, type Placeholders } from '../../../platform/db/statement.js';
import { contractors, contractorTerms } from '../tables/accounts.js';
import { idsOf, isInDirectory, type ViewerIds } from '../visibility.js';

export interface ContractorFilter {
  search?: string | null | undefined;
  specialty?: string | null | undefined;
  serviceArea?: string | null | undefined;
  verified?: boolean | null | undefined;
  /** The service areas near the place, in lowercase, each with its distance in tenths of a mile. */
  near?: { readonly names: readonly string[]; readonly tenths: readonly number[] } | null | undefined;
}

export interface ContractorListItem {
  readonly contractor: Contractor;
  /**
   * True if the contractor has bid on one of the viewer's jobs. This decides what the viewer can see of the contractor.
   */
  readonly client: boolean;
  /** The distance to the contractor's nearest service area, in tenths of a mile. Null if no place was requested. */
  readonly tenths: number | null;
}

interface FilterValues extends ViewerIds {
  search: string | null;
  specialty: string | null;
  serviceArea: string | null;
  areas: string | null;
  tenths: string | null;
}

const { createdAt, completedJobs, ratingRank, ratingCount, id } = contractors;

/** `nearBy` computes this column, because no table has it. */
const nearness = orderKey(sql`near_by.nearness`, 'integer');

/** The sort columns of each order. They're always sorted in descending order. */
const KEYS = {
  newest: { createdAt, id },
  best_rated: { ratingRank, ratingCount, id },
  most_completed: { completedJobs, ratingRank, ratingCount, id },
  nearest: { nearness, ratingRank, ratingCount, createdAt, id },
} as const satisfies Record<ContractorOrder, Readonly<Record<string, OrderKey>>>;

/**
 * The subquery hides the searched value from the planner, because the planner estimates the values' frequencies badly.
 */
const TERMS = {
  search: ($: Placeholders<FilterValues>) =>
    sql`${contractorTerms.words(contractors)} like (select lower(${$('search')}::text))`,
  specialty: ($: Placeholders<FilterValues>) => contains(contractorTerms.specialties(contractors), $('specialty')),
  serviceArea: ($: Placeholders<FilterValues>) => contains(contractorTerms.serviceAreas(contractors), $('serviceArea')),
};
type Term = keyof typeof TERMS;
const TERM_NAMES = Object.keys(TERMS) as Term[];

function contains(list: SQL, entry: unknown): SQL {
  return sql`${list} @> array[(select lower(${entry}::text))]`;
}

interface ContractorQuery {
  readonly role: Viewer['role'];
  readonly order: ContractorOrder;
  readonly terms: readonly Term[];
  readonly verified: boolean | null;
  readonly isNear: boolean;
}

const lists = cachedByKey<List<FilterValues, ContractorListItem>>();

export function listContractors(
  db: Db,
  viewer: Viewer,
  { search = null, specialty = null, serviceArea = null, verified = null, near }: ContractorFilter,
  order: ContractorOrder,
  request: PageRequest,
): Promise<Page<ContractorListItem>> {
  const values = {
    search: search === null ? null : likePattern(search),
    specialty,
    serviceArea,
    areas: near ? asArray(near.names) : null,
    tenths: near ? `{${near.tenths.join()}}` : null,
    ...idsOf(viewer),
  };
  const query: ContractorQuery = {
    role: viewer.role,
    order,
    terms: TERM_NAMES.filter((name) => values[name] !== null),
    verified,
    isNear: near != null,
  };
  const on = near ? (db.forLong?.() ?? db) : db;
  return lists(JSON.stringify(query), () => listOf(query))(on, values, request);
}

function listOf(query: ContractorQuery): List<FilterValues, ContractorListItem> {
  const { role, order, terms, isNear } = query;
  const keys = KEYS[order];
  const gatherRows = isNear ? ($: Placeholders<FilterValues>, scan: ScanLimit) => nearBy($, query, scan) : undefined;
  const source = { table: sql`contractors`, keys: Object.values<OrderKey>(keys) };
  const isSearch = isNear || terms.includes('search');
  return pagedList({
    name: 'listContractors',
    mayBeStale: true,
    keys,
    direction: 'desc',
    fields: ($: Placeholders<FilterValues>) => ({
      contractor: contractorShape,
      client: role === 'homeowner' ? CLIENT($).as('client') : sql<boolean>`false`.as('client'),
      tenths: sql<number | null>`${isNear ? sql`-${nearness}` : sql`null::int`}`.as('tenths'),
    }),
    keyObject: ({ contractor, tenths }) =>
      Object.assign({ ratingRank: rankOf(contractor), nearness: -(tenths ?? 0) }, contractor),
    rows: ($: Placeholders<FilterValues>, fields, condition, scan) => {
      const rows = builder.select(fields).from(contractors);
      if (gatherRows)
        return rows
          .innerJoin(sql`(${scan.gatheredRows ?? gatherRows($, scan)}) near_by`, sql`near_by.id = ${id}`)
          .$dynamic();
      const listCondition = and(isOfThose(query), condition);
      const fits = matchesFilter($, query);
      const matches = fits && { ...source, listCondition, fits };
      return rows.where(matches ? isAmong(firstMatches(matches, scan)) : listCondition).$dynamic();
    },
    gatherRows,
    ...(isSearch && { exactTotalMax: PAGE.exactSearchTotalMax }),
    ...((isNear || terms.length > 0) && {
      rowsToCount: ($: Placeholders<FilterValues>, scan: ScanLimit) => {
        if (gatherRows) return sql`select from (${gatherRows($, scan)}) near_by`;
        const [fits, listCondition] = [matchesFilter($, query) ?? sql`true`, isOfThose(query)];
        if (isSearch) return matchesToCount({ ...source, listCondition, fits }, scan);
        return sql`select from contractors where ${and(fits, listCondition)} limit ${sql.raw(String(scan.atMost))}`;
      },
    }),
  });
}

function isOfThose({ role, verified }: ContractorQuery): SQL | undefined {
  return and(
    verified === null ? undefined : sql`${contractors.verified} = ${sql.raw(String(verified))}`,
    role === 'admin' ? undefined : isInDirectory,
  );
}

function matchesFilter($: Placeholders<FilterValues>, { terms }: ContractorQuery): SQL | undefined {
  return and(...terms.map((name) => TERMS[name]($)));
}

/**
 * Queries the index for one area after another. A single query for all areas would compare each contractor with
 * thousands of areas.
 */
function nearBy($: Placeholders<FilterValues>, query: ContractorQuery, scan: ScanLimit): SQL {
  const { atMost, direction, positionCondition } = scan;
  const distance = sql`-min(area.tenths)`;
  const columns = Object.values<OrderKey>(KEYS[query.order]).filter((column) => column !== nearness);
  const keys = [...(query.order === 'nearest' ? [distance] : []), ...columns.map((column) => sql`${column}`)];
  const list = (columns: readonly SQLWrapper[]) =>
    sql.join(
      columns.map((column) => sql`${column}`),
      sql`, `,
    );
  const hasArea = sql`${contractorTerms.serviceAreas(contractors)} @> array[area.name]`;
  // The subquery has the name of its table, so the keys' names don't change.
  return sql`select ${id}, ${distance} as nearness
    from unnest(${$('areas')}::text[], ${$('tenths')}::int[]) area (name, tenths) cross join lateral (
      select ${list(columns)} from contractors
      where ${and(hasArea, matchesFilter($, query), isOfThose(query))} offset 0) contractors
    group by ${list(columns)} having ${positionCondition(keys) ?? sql`true`}
    order by ${list(keys.map((key) => sql`${key} ${sql.raw(direction)}`))} limit ${sql.raw(String(atMost))}`;
}

function isAmong(ids: SQL): SQL {
  return sql`${contractors.id} = any(array(${ids}))`;
}

/** Computes a contractor's rank from the average that is shown. The database computes the rank in the same way. */
function rankOf({ ratingAverage }: Contractor): number {
  return Math.round((ratingAverage ?? 0) * 100);
}

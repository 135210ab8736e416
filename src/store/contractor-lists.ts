/** The directory of contractors, in one of its orders, with filters. */
import { and, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { ContractorOrder } from '../rules/entities/people.js';
import type { Viewer } from '../rules/viewer.js';
import { contractorShape, type Contractor } from './accounts.js';
import type { Db } from './database.js';
import { firstMatches } from './first-matches.js';
import { likePattern } from './job-lists.js';
import { pagedList, type List, type Page, type PageRequest, type ScanLimit } from './page.js';
import { CLIENT } from './people.js';
import { builder, cachedByKey, type Placeholders } from './statement.js';
import { contractors, contractorTerms } from './tables/accounts.js';
import { idsOf, type ViewerIds } from './visibility.js';

export interface ContractorFilter {
  search?: string | null | undefined;
  specialty?: string | null | undefined;
  serviceArea?: string | null | undefined;
  verified?: boolean | null | undefined;
}

/** A contractor, and whether they have bid on a job of the viewer's, which decides what the viewer may read of them. */
export interface ListedContractor {
  readonly contractor: Contractor;
  readonly client: boolean;
}

interface FilterValues extends ViewerIds {
  search: string | null;
  specialty: string | null;
  serviceArea: string | null;
}

const { createdAt, completedJobs, ratingRank, ratingCount, id } = contractors;

/** The column of each order, always descending. */
const KEYS = {
  newest: { createdAt, id },
  best_rated: { ratingRank, ratingCount, id },
  most_completed: { completedJobs, ratingRank, ratingCount, id },
} as const satisfies Record<ContractorOrder, Readonly<Record<string, PgColumn>>>;

/** The searched value is in a sub-select, which hides it from the planner, whose estimates of its frequency are bad. */
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
}

const lists = cachedByKey<List<FilterValues, ListedContractor>>();

export function listContractors(
  db: Db,
  viewer: Viewer,
  { search = null, specialty = null, serviceArea = null, verified = null }: ContractorFilter,
  order: ContractorOrder,
  request: PageRequest,
): Promise<Page<ListedContractor>> {
  const values = { search: search === null ? null : likePattern(search), specialty, serviceArea, ...idsOf(viewer) };
  const query: ContractorQuery = {
    role: viewer.role,
    order,
    terms: TERM_NAMES.filter((name) => values[name] !== null),
    verified,
  };
  return lists(JSON.stringify(query), () => listOf(query))(db, values, request);
}

function listOf({ role, order, terms, verified }: ContractorQuery): List<FilterValues, ListedContractor> {
  const keys = KEYS[order];
  const isOfThose = verified === null ? undefined : sql`${contractors.verified} = ${sql.raw(String(verified))}`;
  const matchesFilter = ($: Placeholders<FilterValues>) => and(...terms.map((name) => TERMS[name]($)));
  return pagedList({
    name: 'listContractors',
    keys,
    direction: 'desc',
    fields: ($: Placeholders<FilterValues>) => ({
      contractor: contractorShape,
      client: role === 'homeowner' ? CLIENT($).as('client') : sql<boolean>`false`.as('client'),
    }),
    keyObject: ({ contractor }) => Object.assign({ ratingRank: rankOf(contractor) }, contractor),
    rows: ($: Placeholders<FilterValues>, fields, condition, scan) => {
      const listCondition = and(isOfThose, condition);
      const fits = matchesFilter($);
      return builder
        .select(fields)
        .from(contractors)
        .where(
          fits
            ? isAmong(firstMatches({ table: sql`contractors`, keys: Object.values(keys), listCondition, fits }, scan))
            : listCondition,
        )
        .$dynamic();
    },
    ...(terms.length > 0 && {
      rowsToCount: ($: Placeholders<FilterValues>, { atMost }: ScanLimit) =>
        sql`select from contractors where ${and(matchesFilter($), isOfThose)} limit ${sql.raw(String(atMost))}`,
    }),
  });
}

/** Whether the contractor is in the result of a query. */
function isAmong(ids: SQL): SQL {
  return sql`${contractors.id} = any(array(${ids}))`;
}

/** Computed as the database computes it from the average that is shown. */
function rankOf({ ratingAverage }: Contractor): number {
  return Math.round((ratingAverage ?? 0) * 100);
}

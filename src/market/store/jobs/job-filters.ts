/** The filters of job lists, as SQL conditions. */
import { sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { ContractorId, HomeownerId } from '../../rules/ids.js';
import type { JobOrder } from '../../rules/jobs/orders.js';
import { STATES_OPEN_TO_BIDS } from '../../rules/parties.js';
import type { Urgency } from '../../rules/jobs/publishing.js';
import type { JobState } from '../../rules/states.js';
import type { Role } from '../../rules/viewer.js';
import type { SearchFilter, SearchValues } from './job-search.js';
import type { Placeholders } from '../../../platform/db/statement.js';
import { jobs } from '../tables/jobs.js';
import type { ViewerIds } from '../visibility.js';

export interface JobFilter {
  search?: string | null | undefined;
  statuses?: readonly JobState[] | null | undefined;
  updatedSince?: Date | null | undefined;
  statusChangedBefore?: Date | null | undefined;
  category?: string | null | undefined;
  /** Several trades, without duplicates. */
  categories?: readonly string[] | null | undefined;
  urgency?: Urgency | null | undefined;
  budgetMin?: number | null | undefined;
  budgetMax?: number | null | undefined;
  homeownerId?: HomeownerId | null | undefined;
  /** Only admins and the contractor can use this filter, and they see all of these jobs. */
  contractorId?: ContractorId | null | undefined;
  near?: { box: string; latitude: number; longitude: number; miles: number } | null | undefined;
}

export interface FilterValues extends ViewerIds, SearchValues {
  category: string | null;
  categories: string | null;
  urgency: Urgency | null;
  budgetMin: number | null;
  budgetMax: number | null;
  owner: HomeownerId | null;
  awardee: ContractorId | null;
  since: string | null;
  before: string | null;
}

/** For several trades, use `any(…)`. */
export const isInTrade = (trade: SQLWrapper): SQL => sql`${jobs.category} = ${trade}`;

/**
 * True if the job's budget includes this amount or more. If `allowsAtMost` is also true for the end of a range, the
 * budget and the range overlap. A job without a highest budget has the rank -1.
 */
export const allowsAtLeast = (amount: SQL): SQL =>
  sql`("jobs"."budget_rank" >= ${amount} or ("jobs"."budget_rank" < 0 and "jobs"."budget_min" is not null))`;
export const allowsAtMost = (amount: SQL): SQL =>
  sql`("jobs"."budget_min" <= ${amount} or ("jobs"."budget_min" is null and "jobs"."budget_rank" >= 0))`;

/** A statement contains only the conditions of the filters that are set. */
export const FILTERS: {
  readonly [Name in Exclude<keyof JobFilter, SearchFilter | 'statuses'> | 'separator']-?: (
    $: Placeholders<FilterValues>,
  ) => SQL;
} = {
  category: ($) => isInTrade($('category')),
  categories: ($) => isInTrade(sql`any(${$('categories')}::text[])`),
  urgency: ($) => sql`${jobs.urgency} = ${$('urgency')}::urgency`,
  budgetMin: ($) => allowsAtLeast(sql`${$('budgetMin')}::numeric`),
  budgetMax: ($) => allowsAtMost(sql`${$('budgetMax')}::numeric`),
  homeownerId: ($) => sql`${jobs.homeownerId} = ${$('owner')}`,
  contractorId: ($) => sql`${jobs.awardedContractorId} = ${$('awardee')}`,
  updatedSince: ($) => sql`"jobs"."updated_at" >= ${$('since')}::timestamptz`,
  /** A job is at least as old as its state, so the index of the newest jobs can start at this time. */
  statusChangedBefore: ($) =>
    sql`"jobs"."status_changed_at" < ${$('before')}::timestamptz
      and "jobs"."created_at" < ${$('before')}::timestamptz`,
  /** If the text contains the separator, the index would also match across the title and the description. */
  separator: ($) => sql`(${jobs.title} ilike ${$('pattern')} or ${jobs.description} ilike ${$('pattern')})`,
};
export const FILTER_NAMES = Object.keys(FILTERS) as (keyof typeof FILTERS)[];

/** The properties of a list that determine its statement. */
export interface ListKind {
  readonly role: Role;
  readonly order: JobOrder;
  readonly names: readonly (keyof typeof FILTERS)[];
  readonly searches: readonly SearchFilter[];
  /**
   * An empty array means any state. The states are part of the SQL, so the planner can choose the best plan. Some
   * states have most of the jobs and others have hardly any.
   */
  readonly statuses: readonly JobState[];
}

/** Decides whether jobs in these states are open jobs, a contractor's own jobs, or both. */
export function asksFor(statuses: readonly JobState[]): 'open' | 'own' | 'both' {
  const open = statuses.filter((state) => STATES_OPEN_TO_BIDS.includes(state));
  if (open.length === 0) return statuses.length === 0 ? 'both' : 'own';
  return open.length === statuses.length ? 'open' : 'both';
}

function isIn(statuses: readonly JobState[]): SQL {
  const list = statuses.map((status) => `'${status}'`);
  return sql`"jobs"."status" ${sql.raw(list.length === 1 ? `= ${list[0]}` : `in (${list.join(', ')})`)}`;
}

export function conditions({ statuses, names }: ListKind, $: Placeholders<FilterValues>): SQL[] {
  return [...(statuses.length > 0 ? [isIn(statuses)] : []), ...names.map((name) => FILTERS[name]($))];
}

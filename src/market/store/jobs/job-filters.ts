/** The filters of job lists: their values, and each one's SQL condition. */
import { sql, type SQL } from 'drizzle-orm';
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
  /** Jobs in any of these states. */
  statuses?: readonly JobState[] | null | undefined;
  updatedSince?: Date | null | undefined;
  statusChangedBefore?: Date | null | undefined;
  category?: string | null | undefined;
  urgency?: Urgency | null | undefined;
  homeownerId?: HomeownerId | null | undefined;
  /** Jobs awarded to this contractor. Only for admins and the contractor, who see all of them. */
  contractorId?: ContractorId | null | undefined;
  near?: { box: string; latitude: number; longitude: number; miles: number } | null | undefined;
}

export interface FilterValues extends ViewerIds, SearchValues {
  category: string | null;
  urgency: Urgency | null;
  owner: HomeownerId | null;
  awardee: ContractorId | null;
  since: string | null;
  before: string | null;
}

/** Each filter's SQL. A statement contains only the conditions of its filters. */
export const FILTERS: {
  readonly [Name in Exclude<keyof JobFilter, SearchFilter | 'statuses'> | 'separator']-?: (
    $: Placeholders<FilterValues>,
  ) => SQL;
} = {
  category: ($) => sql`${jobs.category} = ${$('category')}`,
  urgency: ($) => sql`${jobs.urgency} = ${$('urgency')}::urgency`,
  homeownerId: ($) => sql`${jobs.homeownerId} = ${$('owner')}`,
  contractorId: ($) => sql`${jobs.awardedContractorId} = ${$('awardee')}`,
  updatedSince: ($) => sql`"jobs"."updated_at" >= ${$('since')}::timestamptz`,
  /**
   * A job is at least as old as its state. The condition on its creation lets the index of the newest start at that
   * time.
   */
  statusChangedBefore: ($) =>
    sql`"jobs"."status_changed_at" < ${$('before')}::timestamptz
      and "jobs"."created_at" < ${$('before')}::timestamptz`,
  /**
   * For a search that contains the separator. The index would also match text that starts in the title and ends in the
   * description.
   */
  separator: ($) => sql`(${jobs.title} ilike ${$('pattern')} or ${jobs.description} ilike ${$('pattern')})`,
};
export const FILTER_NAMES = Object.keys(FILTERS) as (keyof typeof FILTERS)[];

/** A statement's key. */
export interface ListKind {
  readonly role: Role;
  readonly order: JobOrder;
  readonly names: readonly (keyof typeof FILTERS)[];
  readonly searches: readonly SearchFilter[];
  /**
   * States are part of the SQL. There are few of them, some with most jobs and some with hardly any, and the planner
   * should see which. No state means any.
   */
  readonly statuses: readonly JobState[];
}

/** Which of a contractor's two sources the states need: the open market, their own jobs, or both. */
export function asksFor(statuses: readonly JobState[]): 'open' | 'own' | 'both' {
  const open = statuses.filter((state) => STATES_OPEN_TO_BIDS.includes(state));
  if (open.length === 0) return statuses.length === 0 ? 'both' : 'own';
  return open.length === statuses.length ? 'open' : 'both';
}

function isIn(statuses: readonly JobState[]): SQL {
  const list = statuses.map((status) => `'${status}'`);
  return sql`"jobs"."status" ${sql.raw(list.length === 1 ? `= ${list[0]}` : `in (${list.join(', ')})`)}`;
}

/** The filters' conditions on a row of `jobs`. */
export function conditions({ statuses, names }: ListKind, $: Placeholders<FilterValues>): SQL[] {
  return [...(statuses.length > 0 ? [isIn(statuses)] : []), ...names.map((name) => FILTERS[name]($))];
}

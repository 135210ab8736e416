/** The filters of job lists, with their values and their SQL conditions. */
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
  /**
   * Only jobs awarded to this contractor. Only admins and the contractor can use this filter, and they see all of these
   * jobs.
   */
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

/** The SQL condition of each filter. A statement contains only the conditions of the filters that are set. */
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
   * A job must also be at least as old as its state. With this condition on its creation time, the index of the newest
   * jobs can start at that time.
   */
  statusChangedBefore: ($) =>
    sql`"jobs"."status_changed_at" < ${$('before')}::timestamptz
      and "jobs"."created_at" < ${$('before')}::timestamptz`,
  /**
   * An additional condition for a search text that contains the separator. The index alone would also match text that
   * starts in the title and ends in the description.
   */
  separator: ($) => sql`(${jobs.title} ilike ${$('pattern')} or ${jobs.description} ilike ${$('pattern')})`,
};
export const FILTER_NAMES = Object.keys(FILTERS) as (keyof typeof FILTERS)[];

/** The kind of a list, which is the key of its statement. */
export interface ListKind {
  readonly role: Role;
  readonly order: JobOrder;
  readonly names: readonly (keyof typeof FILTERS)[];
  readonly searches: readonly SearchFilter[];
  /**
   * The states to list. An empty array means any state. The states are part of the SQL because some states have most of
   * the jobs and others have hardly any. The planner can then choose the best plan.
   */
  readonly statuses: readonly JobState[];
}

/** Returns which jobs of a contractor can be in these states: open jobs, the contractor's own jobs, or both. */
export function asksFor(statuses: readonly JobState[]): 'open' | 'own' | 'both' {
  const open = statuses.filter((state) => STATES_OPEN_TO_BIDS.includes(state));
  if (open.length === 0) return statuses.length === 0 ? 'both' : 'own';
  return open.length === statuses.length ? 'open' : 'both';
}

function isIn(statuses: readonly JobState[]): SQL {
  const list = statuses.map((status) => `'${status}'`);
  return sql`"jobs"."status" ${sql.raw(list.length === 1 ? `= ${list[0]}` : `in (${list.join(', ')})`)}`;
}

/** Returns the conditions of these filters on a row of `jobs`. */
export function conditions({ statuses, names }: ListKind, $: Placeholders<FilterValues>): SQL[] {
  return [...(statuses.length > 0 ? [isIn(statuses)] : []), ...names.map((name) => FILTERS[name]($))];
}

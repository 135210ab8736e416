/** The lists of jobs: what a viewer may see, narrowed by what they ask for. */
import { and, getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { HomeownerId } from '../rules/ids.js';
import type { JobState } from '../rules/lifecycle.js';
import type { Urgency } from '../rules/publishing.js';
import type { Role, Viewer } from '../rules/viewer.js';
import type { Db } from './database.js';
import type { JobRow } from './jobs.js';
import { listing, type List, type Page, type PageRequest } from './page.js';
import type { Values } from './statement.js';
import { jobs } from './tables/jobs.js';
import { idsOf, visibleJobs, type ViewerIds } from './visibility.js';

export interface JobFilter {
  search?: string | null | undefined;
  status?: JobState | null | undefined;
  category?: string | null | undefined;
  urgency?: Urgency | null | undefined;
  homeownerId?: HomeownerId | null | undefined;
  near?: { box: string; latitude: number; longitude: number; miles: number } | null | undefined;
}

interface FilterValues extends ViewerIds {
  pattern: string | null;
  status: JobState | null;
  category: string | null;
  urgency: Urgency | null;
  owner: HomeownerId | null;
  box: string | null;
  latitude: number | null;
  longitude: number | null;
  miles: number | null;
}

/** Each filter's condition. Only those that are asked for stand in the statement. */
const FILTERS: { readonly [Key in keyof JobFilter]-?: ($: Values<FilterValues>) => SQL } = {
  search: ($) => sql`${jobs.id} in (select s.job_id from job_search s where s.title ilike ${$.pattern} or s.description ilike ${$.pattern})`,
  status: ($) => sql`${jobs.status} = ${$.status}::job_status`,
  category: ($) => sql`${jobs.category} = ${$.category}`,
  urgency: ($) => sql`${jobs.urgency} = ${$.urgency}::urgency`,
  homeownerId: ($) => sql`${jobs.homeownerId} = ${$.owner}`,
  near: ($) => sql`${jobs.id} in (select s.job_id from job_search s where s.town <@ ${$.box}::box and ${MILES_APART($)} <= ${$.miles}::float8)`,
};

const MILES_APART = ($: Values<FilterValues>) =>
  sql`3958.8 * 2 * asin(least(1, sqrt(power(sin(radians(s.town[1] - ${$.latitude}::float8) / 2), 2)
    + cos(radians(${$.latitude}::float8)) * cos(radians(s.town[1])) * power(sin(radians(s.town[0] - ${$.longitude}::float8) / 2), 2))))`;

const lists = new Map<string, List<FilterValues, JobRow>>();

/** The jobs that the viewer may see and the filter lets through, newest first. */
export function listJobs(db: Db, viewer: Viewer, filter: JobFilter, request: PageRequest): Promise<Page<JobRow>> {
  const asked = (Object.keys(FILTERS) as (keyof JobFilter)[]).filter((name) => filter[name] != null);
  const key = [viewer.role, ...asked].join(' ');
  const list = lists.get(key) ?? listOf(viewer.role, asked);
  lists.set(key, list);
  const { search, status = null, category = null, urgency = null, homeownerId: owner = null, near } = filter;
  const { box = null, latitude = null, longitude = null, miles = null } = near ?? {};
  return list(db, { ...idsOf(viewer), pattern: search == null ? null : containing(search), status, category, urgency, owner, box, latitude, longitude, miles }, request);
}

function listOf(role: Role, asked: readonly (keyof JobFilter)[]): List<FilterValues, JobRow> {
  return listing({
    keys: { createdAt: jobs.createdAt, id: jobs.id },
    order: 'newest first',
    rows: (db, $: Values<FilterValues>, within) =>
      db
        .select(getTableColumns(jobs))
        .from(jobs)
        .where(and(visibleJobs(role, $), ...asked.map((name) => FILTERS[name]($)), within))
        .$dynamic(),
  });
}

/** `%` and `_` stand for themselves. */
function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

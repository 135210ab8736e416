/** The lists of jobs: what a viewer may see, narrowed by what they ask for. */
import { and, getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { HomeownerId } from '../rules/ids.js';
import type { JobState } from '../rules/lifecycle.js';
import type { Urgency } from '../rules/publishing.js';
import type { Role, Viewer } from '../rules/viewer.js';
import type { Db } from './database.js';
import type { JobRow } from './jobs.js';
import { besideAsJson, besideKey, besideReader, type Beside, type BesideJson, type Found } from './beside.js';
import { listing, mapPage, type List, type Page, type PageRequest } from './page.js';
import { remembering, type Values } from './statement.js';
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

const FILTER_NAMES = Object.keys(FILTERS) as (keyof JobFilter)[];

const MILES_APART = ($: Values<FilterValues>) =>
  sql`3958.8 * 2 * asin(least(1, sqrt(power(sin(radians(s.town[1] - ${$.latitude}::float8) / 2), 2)
    + cos(radians(${$.latitude}::float8)) * cos(radians(s.town[1])) * power(sin(radians(s.town[0] - ${$.longitude}::float8) / 2), 2))))`;

/** A job in a list, and what was asked for beside it. */
export interface ListedJob {
  readonly job: JobRow;
  readonly beside: Found;
}

const lists = remembering<List<FilterValues, RawJob>>();

/** The jobs that the viewer may see and the filter lets through, newest first. */
export async function listJobs(db: Db, viewer: Viewer, filter: JobFilter, request: PageRequest, beside: Beside = {}): Promise<Page<ListedJob>> {
  const { role } = viewer;
  const asked = FILTER_NAMES.filter((name) => filter[name] != null);
  const list = (wanted: Beside) => lists([role, ...asked, besideKey(wanted)].join(' '), () => listOf(role, asked, wanted));
  const { search, status = null, category = null, urgency = null, homeownerId: owner = null, near } = filter;
  const { box = null, latitude = null, longitude = null, miles = null } = near ?? {};
  const values = { ...idsOf(viewer), pattern: search == null ? null : containing(search), status, category, urgency, owner, box, latitude, longitude, miles };
  const page = await list(beside)(db, values, request);
  const read = besideReader(beside, role);
  // What stands beside the jobs has no part in their number.
  return { ...mapPage(page, ({ job, beside: json }): ListedJob => ({ job, beside: read(json) })), total: () => list({}).total(db, values) };
}

interface RawJob {
  job: JobRow;
  beside: BesideJson;
}

function listOf(role: Role, asked: readonly (keyof JobFilter)[], beside: Beside): List<FilterValues, RawJob> {
  return listing({
    keys: { createdAt: jobs.createdAt, id: jobs.id },
    order: 'newest first',
    keyed: ({ job }) => job,
    rows: (db, $: Values<FilterValues>, within) =>
      db
        .select({ job: getTableColumns(jobs), beside: besideAsJson(beside, role, $) })
        .from(jobs)
        .where(and(visibleJobs(role, $), ...asked.map((name) => FILTERS[name]($)), within))
        .$dynamic(),
  });
}

/** `%` and `_` stand for themselves. */
function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/**
 * Jobs: reads, locks, and changes them. A caller that changes a job must hold its lock and add the events that describe
 * the change (`events.ts`).
 */
import { and, eq, getTableColumns, sql, type Placeholder } from 'drizzle-orm';
import { JOB_FIELDS, type JobFields } from '../../rules/jobs/editing.js';
import type { BidId, HomeownerId, JobId } from '../../rules/ids.js';
import type { FactName, JobFacts } from '../../rules/jobs/facts.js';
import { FACTS_OF_VISIBILITY } from '../../rules/policies.js';
import type { Role, Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { readDisputeEvent } from '../events/events.js';
import { byInclude, partsColumn, readParts, type JobInclude } from './job-parts.js';
import { narrow } from '../people/people.js';
import {
  builder,
  cachedByKey,
  columns,
  type Placeholders,
  selectFrom,
  mayBeStale,
  statement,
} from '../../../platform/db/statement.js';
import { jobs, jobSearch, type JobRow, type TimerRow } from '../tables/jobs.js';
import { DEADLINE_NOW } from '../tables/deadline-clock.js';
import { factColumns } from './job-facts.js';
import { forEachRole, idsOf, visibleJobs, type ViewerIds } from '../visibility.js';

export type { JobRow };

/** `town` is the center of the city, which is public. */
export interface Places {
  latitude: number | null;
  longitude: number | null;
  town: string | null;
}

/** The facts that decide whether the viewer can see the job are read only if the job's row isn't enough. */
export interface JobWithVisibility<Job = JobRow> extends Partial<Pick<JobFacts, 'ownBids' | 'isOwnerSuspended'>> {
  job: Job;
}

const {
  deadlineFrom: _from,
  disputedFrom: _disputed,
  deadlineExtendedSeconds: _extended,
  remindedAt: _reminded,
  pausedFrom: _paused,
  nextCheckAt: _next,
  ...jobColumns
} = getTableColumns(jobs);
export { jobColumns };

/** These columns are always read, to find a job's other parts and to check its rules. */
const REQUIRED_COLUMNS = ['id', 'homeownerId', 'status', 'awardedBidId', 'awardedContractorId', 'createdAt'];

/** The rows have only the included columns and those that the statement itself needs. */
export function jobFields({ job }: JobInclude, ...neededFields: readonly (keyof JobRow)[]): typeof jobColumns {
  return job ? narrow(jobColumns, job, [...REQUIRED_COLUMNS, ...neededFields]) : jobColumns;
}

const selectJob = forEachRole((role) =>
  byInclude((include) =>
    mayBeStale(
      statement(
        'selectJob',
        ($: Placeholders<ViewerIds & { id: JobId }>) => ({
          job: { ...jobFields(include), ...partsColumn(include, role, $) },
          ...factColumns(FACTS_OF_VISIBILITY[role], { role, $, locksBalance: false }),
        }),
        ($, fields) => selectFrom(jobs, fields, eq(jobs.id, $('id'))),
      ),
    ),
  ),
);

export async function readJob(
  db: Db,
  viewer: Viewer,
  id: JobId,
  include: JobInclude = {},
): Promise<JobWithVisibility | undefined> {
  const [row] = await selectJob[viewer.role](include)(db, { id, ...idsOf(viewer) });
  if (row) readParts(viewer, [row.job], include);
  return row;
}

/**
 * The order of locks is job, bids, holds, accounts. Read other rows in a later statement, which sees everything that
 * was committed before the lock. A subquery in the locking statement would see the rows as they were before the wait.
 */
export const lockJob = statement('lockJob', jobColumns, ($: Placeholders<{ id: JobId }>, fields) =>
  selectFrom(jobs, fields, eq(jobs.id, $('id'))).for('update'),
);

export const lockJobOfBid = statement('lockJobOfBid', jobColumns, ($: Placeholders<{ id: BidId }>, fields) =>
  selectFrom(jobs, fields, sql`${jobs.id} = (select b.job_id from bids b where b.id = ${$('id')})`).for('update'),
);

/** Undefined if the job doesn't exist. */
export type ReadFacts = (db: Db, viewer: Viewer, id: JobId) => Promise<Partial<JobFacts> | undefined>;

/**
 * The facts' names are part of the SQL. If a parameter selected the facts, Postgres would have to plan every call
 * again.
 */
export function factsReader(namesFor: (role: Role) => readonly FactName[]): ReadFacts {
  const select = forEachRole((role) => {
    const names = namesFor(role);
    return names.length === 0 ? noFacts : selectFacts(names, role);
  });
  return (db, viewer, id) => select[viewer.role](db, viewer, id);
}

const noFacts: ReadFacts = async () => ({});

function selectFacts(names: readonly FactName[], role: Role): ReadFacts {
  const select = statement(
    'selectFacts',
    ($: Placeholders<ViewerIds & { id: JobId }>) => factColumns(names, { role, $, locksBalance: true }),
    ($, fields) => selectFrom(jobs, fields, eq(jobs.id, $('id'))),
  );
  return async (db, viewer, id) => {
    const [facts] = await select(db, { id, ...idsOf(viewer) });
    const events = facts?.disputeEvents as unknown[][] | undefined;
    return events ? { ...facts, disputeEvents: events.map(readDisputeEvent) } : facts;
  };
}

export const selectVisibleJobs = forEachRole((role) =>
  mayBeStale(
    statement('selectVisibleJobs', jobColumns, ($: Placeholders<ViewerIds & { ids: string }>, fields) =>
      selectFrom(jobs, fields, and(sql`${jobs.id} = any(${$('ids')}::text[])`, visibleJobs(role, $))),
    ),
  ),
);

type NewJob = JobFields & Omit<Places, 'town'> & { id: JobId; homeownerId: HomeownerId; eventCount: number };

export const insertJob = statement('insertJob', jobColumns, ($: Placeholders<NewJob>, fields) =>
  builder
    .insert(jobs)
    .values({ ...columns($, JOB_FIELDS), ...columns($, ['id', 'homeownerId', 'latitude', 'longitude', 'eventCount']) })
    .returning(fields),
);

/** A trigger has already inserted the job's row in `job_search`, in the same transaction. */
export const setTown = statement('setTown', {}, ($: Placeholders<{ id: JobId; town: string | null }>) =>
  builder
    .update(jobSearch)
    .set({ town: sql`${$('town')}::point` })
    .where(eq(jobSearch.jobId, $('id'))),
);

/** A new version also sets `updatedAt`, and a new state also sets `statusChangedAt`. */
export type JobChanges = Partial<Omit<JobRow & TimerRow, 'id' | 'updatedAt' | 'statusChangedAt' | 'budgetRank'>>;

const SET_BY_CHANGES = {
  updatedAt: jobs.updatedAt,
  statusChangedAt: jobs.statusChangedAt,
  budgetRank: jobs.budgetRank,
};

type UpdateJob = (
  db: Db,
  values: JobChanges & { id: JobId; seconds: number | null },
) => Promise<Pick<JobRow, keyof typeof SET_BY_CHANGES>[]>;

const updates = cachedByKey<UpdateJob>();
const NOW = sql`clock_timestamp()`;

/**
 * How a change sets the job's deadline. `start` begins one, whose first check is this many seconds from now. `restart`
 * begins it again, and `within` only brings the next check forward.
 */
type DeadlineChange =
  | { readonly is: 'start' | 'within'; readonly seconds: number | null }
  | { readonly is: 'restart'; readonly seconds?: undefined };

const NO_DEADLINE = {
  deadlineFrom: null,
  deadlineExtendedSeconds: 0,
  remindedAt: null,
  pausedFrom: null,
  nextCheckAt: null,
};

function deadlineColumns(is: DeadlineChange['is'] | undefined, seconds: Placeholder) {
  const later = sql`${DEADLINE_NOW} + make_interval(secs => ${seconds}::int)`;
  switch (is) {
    case 'start':
      return { deadlineFrom: DEADLINE_NOW, nextCheckAt: later };
    case 'restart':
      return { deadlineFrom: DEADLINE_NOW, nextCheckAt: DEADLINE_NOW };
    case 'within':
      return { nextCheckAt: sql`least(${jobs.nextCheckAt}, ${later})` };
    case undefined:
      return {};
  }
}

/** Sets only the columns that change. */
export async function updateJob(
  tx: Db,
  job: JobRow,
  changes: JobChanges,
  { is, seconds = null }: Partial<DeadlineChange> = {},
): Promise<JobRow> {
  const names = Object.keys(changes).toSorted() as (keyof JobChanges)[];
  const beginsDispute = changes.status === 'disputed';
  const update = updates(
    `${names.join(' ')} ${beginsDispute} ${is}`,
    () =>
      statement(
        'updateJob',
        SET_BY_CHANGES,
        ($: Placeholders<JobRow & TimerRow & { seconds: number | null }>, fields) =>
          builder
            .update(jobs)
            .set({
              ...(changes.status && NO_DEADLINE),
              ...columns($, names),
              ...deadlineColumns(is, $('seconds')),
              ...(names.includes('version') && { updatedAt: NOW }),
              ...(names.includes('status') && { statusChangedAt: NOW }),
              ...(beginsDispute && { disputedFrom: DEADLINE_NOW }),
            })
            .where(eq(jobs.id, $('id')))
            .returning(fields),
      ) as UpdateJob,
  );
  const [row] = await update(tx, { ...changes, id: job.id, seconds });
  if (!row) throw new Error('A locked job is missing.');
  return { ...job, ...changes, ...row };
}

/** The deleted draft's events remain. */
export const deleteJob = statement('deleteJob', {}, ($: Placeholders<{ id: JobId }>) =>
  builder.delete(jobs).where(eq(jobs.id, $('id'))),
);

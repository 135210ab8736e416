/**
 * Jobs: reading them, locking one with the facts that policies ask for, and changing its row. Whoever changes a job
 * holds its lock and adds the events of the change (`events.ts`).
 */
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { DisputeEvent } from '../../rules/jobs/disputes.js';
import { JOB_FIELDS, type JobFields } from '../../rules/jobs/editing.js';
import type { BidId, HomeownerId, JobId } from '../../rules/ids.js';
import type { BidState } from '../../rules/states.js';
import type { Viewer } from '../../rules/viewer.js';
import { bidsLimitingEdits, liveBidsOfJob, type LiveBid } from '../bids/bids.js';
import type { Db } from '../../../platform/db/database.js';
import { disputeEventsOfJob, readDisputeEvent } from '../events/events.js';
import { byInclude, partsColumn, readParts, type JobInclude } from './job-parts.js';
import { lockedAvailableTo } from '../ledger/ledger.js';
import { narrow } from '../people/people.js';
import { builder, columns, cachedByKey, statement, type Placeholders } from '../../../platform/db/statement.js';
import { jobs, jobSearch, type JobRow } from '../tables/jobs.js';
import { viewerFacts, type ViewerFacts } from './viewer-facts.js';
import { forEachRole, idsOf, isOwnerSuspended, ownBidStates, visibleJobs, type ViewerIds } from '../visibility.js';

export type { JobRow };

/** Coordinates; `town` is the centre of the public city. */
export interface Places {
  latitude: number | null;
  longitude: number | null;
  town: string | null;
}

/** A job, and the states of the viewer's own bids on it, which say whether they see it. */
export interface JobWithOwnBids<Job = JobRow> {
  job: Job;
  ownBids: readonly BidState[];
  isOwnerSuspended?: boolean;
}

export const jobColumns = getTableColumns(jobs);

/** The columns for finding the other parts of a job, and for checking its rules. */
const REQUIRED_COLUMNS = ['id', 'homeownerId', 'status', 'awardedBidId', 'awardedContractorId', 'createdAt'];

/** The included columns, and those that the statement needs itself; the rows have no others. */
export function jobFields({ job }: JobInclude, ...neededFields: readonly (keyof JobRow)[]): typeof jobColumns {
  return job ? narrow(jobColumns, job, [...REQUIRED_COLUMNS, ...neededFields]) : jobColumns;
}

const selectJob = forEachRole((role) =>
  byInclude((include) =>
    statement(
      'selectJob',
      ($: Placeholders<ViewerIds & { id: JobId }>) => ({
        job: { ...jobFields(include), ...partsColumn(include, role, $) },
        ownBids: sql<BidState[]>`${ownBidStates(role, $)}`,
        isOwnerSuspended,
      }),
      ($, fields) =>
        builder
          .select(fields)
          .from(jobs)
          .where(eq(jobs.id, $('id'))),
    ),
  ),
);

/** One job, with the included parts, in the same statement. */
export async function readJob(
  db: Db,
  viewer: Viewer,
  id: JobId,
  include: JobInclude = {},
): Promise<JobWithOwnBids | undefined> {
  const [row] = await selectJob[viewer.role](include)(db, { id, ...idsOf(viewer) });
  if (row) readParts(viewer, [row.job], include);
  return row;
}

/**
 * The first lock of every operation that changes more than the job; the order of locks is job, bids, holds, accounts.
 * Later statements each see everything that was committed before they began, and so before the lock. A sub-select in
 * the locking statement itself would see the state before its wait.
 */
export const lockJob = statement('lockJob', jobColumns, ($: Placeholders<{ id: JobId }>, fields) =>
  builder
    .select(fields)
    .from(jobs)
    .where(eq(jobs.id, $('id')))
    .for('update'),
);

/** The same lock, by way of a bid on the job. */
export const lockJobOfBid = statement('lockJobOfBid', jobColumns, ($: Placeholders<{ id: BidId }>, fields) =>
  builder
    .select(fields)
    .from(jobs)
    .where(sql`${jobs.id} = (select b.job_id from bids b where b.id = ${$('id')})`)
    .for('update'),
);

/** What policies and effects ask about a job besides its own row. */
export interface StoredFacts extends ViewerFacts {
  /** Empty unless they are asked for. */
  readonly liveBids: readonly LiveBid[];
  readonly disputeEvents: readonly DisputeEvent[];
  /** The number of bids that limit what an edit can change. Zero unless requested. */
  readonly bidsLimitingEdits: number;
}

/** Facts that only some operations need. */
export interface NeededFacts {
  readonly liveBids?: boolean;
  readonly disputeEvents?: boolean;
  readonly bidsLimitingEdits?: boolean;
  /** Locks the viewer's balance, so that what is read of it is not spent meanwhile. */
  readonly lockedBalance?: boolean;
}

const EMPTY_JSON_LIST = sql`'[]'::json`;

/** Which facts are read is part of the text: where a parameter decides, Postgres makes the plan anew on each call. */
function selectFacts({ liveBids, disputeEvents, lockedBalance, bidsLimitingEdits: limits }: NeededFacts) {
  return statement(
    'selectFacts',
    ($: Placeholders<ViewerIds & { id: JobId }>) => ({
      ...viewerFacts('contractor', $),
      ...(lockedBalance && { availableTokens: lockedAvailableTo($) }),
      bidsLimitingEdits: limits ? bidsLimitingEdits : sql<number>`0`,
      liveBids: sql<LiveBid[]>`${liveBids ? liveBidsOfJob : EMPTY_JSON_LIST}`,
      disputeEvents: sql<unknown[][]>`${disputeEvents ? disputeEventsOfJob : EMPTY_JSON_LIST}`,
    }),
    ($, fields) =>
      builder
        .select(fields)
        .from(jobs)
        .where(eq(jobs.id, $('id'))),
  );
}

const factStatements = cachedByKey<ReturnType<typeof selectFacts>>();

/** The facts of a job, for an operation on it; undefined if there is no such job. */
export async function factsOfJob(
  db: Db,
  viewer: Viewer,
  id: JobId,
  neededFacts: NeededFacts = {},
): Promise<StoredFacts | undefined> {
  const select = factStatements(JSON.stringify(neededFacts), () => selectFacts(neededFacts));
  const [facts] = await select(db, { id, ...idsOf(viewer) });
  return facts && { ...facts, disputeEvents: facts.disputeEvents.map(readDisputeEvent) };
}

export const selectVisibleJobs = forEachRole((role) =>
  statement('selectVisibleJobs', jobColumns, ($: Placeholders<ViewerIds & { ids: string }>, fields) =>
    builder
      .select(fields)
      .from(jobs)
      .where(and(sql`${jobs.id} = any(${$('ids')}::text[])`, visibleJobs(role, $))),
  ),
);

type NewJob = JobFields & Omit<Places, 'town'> & { id: JobId; homeownerId: HomeownerId; eventCount: number };

export const insertJob = statement('insertJob', jobColumns, ($: Placeholders<NewJob>, fields) =>
  builder
    .insert(jobs)
    .values({ ...columns($, JOB_FIELDS), ...columns($, ['id', 'homeownerId', 'latitude', 'longitude', 'eventCount']) })
    .returning(fields),
);

/** A trigger has inserted the row for the search already, in the same transaction. */
export const setTown = statement('setTown', {}, ($: Placeholders<{ id: JobId; town: string | null }>) =>
  builder
    .update(jobSearch)
    .set({ town: sql`${$('town')}::point` })
    .where(eq(jobSearch.jobId, $('id'))),
);

/** What changes in the row of a job. A change that has a new version has a new time, too, and so has a new state. */
export type JobChanges = Partial<Omit<JobRow, 'id' | 'updatedAt' | 'statusChangedAt' | 'budgetRank'>>;

const SET_BY_CHANGES = {
  updatedAt: jobs.updatedAt,
  statusChangedAt: jobs.statusChangedAt,
  budgetRank: jobs.budgetRank,
};

type UpdateJob = (db: Db, values: JobChanges & { id: JobId }) => Promise<Pick<JobRow, keyof typeof SET_BY_CHANGES>[]>;

const updates = cachedByKey<UpdateJob>();
const NOW = sql`clock_timestamp()`;

/** Changes a job that is locked; the statement has only the columns that change. */
export async function updateJob(tx: Db, job: JobRow, changes: JobChanges): Promise<JobRow> {
  const names = Object.keys(changes).toSorted() as (keyof JobChanges)[];
  const update = updates(
    names.join(' '),
    () =>
      statement('updateJob', SET_BY_CHANGES, ($: Placeholders<JobRow>, fields) =>
        builder
          .update(jobs)
          .set({
            ...columns($, names),
            ...(names.includes('version') && { updatedAt: NOW }),
            ...(names.includes('status') && { statusChangedAt: NOW }),
          })
          .where(eq(jobs.id, $('id')))
          .returning(fields),
      ) as UpdateJob,
  );
  const [row] = await update(tx, { ...changes, id: job.id });
  if (!row) throw new Error('A job that was locked is not there.');
  return { ...job, ...changes, ...row };
}

/** Deletes the draft; its events remain. */
export const deleteJob = statement('deleteJob', {}, ($: Placeholders<{ id: JobId }>) =>
  builder.delete(jobs).where(eq(jobs.id, $('id'))),
);

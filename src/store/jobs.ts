/**
 * Jobs, and the statements that change them; `moves.ts` has those that move them from state to state. A statement that
 * changes a job adds its events too.
 */
import { and, eq, getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { BidCounts } from '../rules/bids.js';
import type { BidId, HomeownerId, JobId, UserId } from '../rules/ids.js';
import { JOB_FIELDS, type JobFields } from '../rules/job-fields.js';
import type { BidState } from '../rules/states.js';
import type { EditBases } from '../rules/edit-bases.js';
import type { Role } from '../rules/viewer.js';
import { countOf, logging } from './events.js';
import { liveBidsOfJob, type LiveBid } from './bids.js';
import { bySelection } from './by-selection.js';
import type { Db } from './database.js';
import { includeReader, type Included } from './included.js';
import { includeColumns, joiningInclude, type JobInclude } from './job-include.js';
import { availableTo } from './ledger.js';
import { narrowed } from './people.js';
import { columns, statement, type Values } from './statement.js';
import { jobs, jobSearch, type JobRow } from './tables/jobs.js';
import { forEachRole, ownBidStates, visibleJobs, type ViewerIds } from './visibility.js';

export type { JobRow };

/** Coordinates; `town` is the centre of the public city. */
export interface Places {
  latitude: number | null;
  longitude: number | null;
  town: string | null;
}

export interface Logged {
  /** See `asParameter`. */
  events: string;
}

/** A job, and the viewer's relation to it. */
export interface SeenJob<Job = JobRow> {
  job: Job;
  visible: boolean;
  ownBids: BidState[];
}

export const jobColumns = getTableColumns(jobs);

/** The columns for finding the other parts of a job, and for checking its rules. */
const ALWAYS = ['id', 'homeownerId', 'status', 'awardedBidId', 'awardedContractorId', 'createdAt'];

/** The included columns, and those that the statement needs itself; the rows have no others. */
export function jobFields({ job }: JobInclude, ...needed: readonly (keyof JobRow)[]): typeof jobColumns {
  return job ? narrowed(jobColumns, job, [...ALWAYS, ...needed]) : jobColumns;
}

/** The viewer's relation to the row of `jobs`. */
export function seenBy(role: Role, $: Values<ViewerIds>) {
  return { visible: sql<boolean>`${visibleJobs(role, $)}`, ownBids: sql<BidState[]>`${ownBidStates(role, $)}` };
}

function selectSeen(
  db: PostgresJsDatabase,
  role: Role,
  $: Values<ViewerIds & { id: JobId }>,
  include: JobInclude = {},
) {
  const select = db
    .select({ job: jobFields(include), ...seenBy(role, $), ...includeColumns(include, role, $) })
    .from(jobs);
  return joiningInclude(select, include).where(eq(jobs.id, $.id));
}

const selects = forEachRole((role) =>
  bySelection((include) => statement((db, $: Values<ViewerIds & { id: JobId }>) => selectSeen(db, role, $, include))),
);

/** One job, with the included parts, in the same statement. */
export async function selectJob(
  db: Db,
  role: Role,
  values: ViewerIds & { id: JobId },
  include: JobInclude = {},
): Promise<(SeenJob & { included: Included }) | undefined> {
  const [seen] = await selects[role](include)(db, values);
  return (
    seen && {
      job: seen.job,
      visible: seen.visible,
      ownBids: seen.ownBids,
      included: includeReader(include, role)(seen),
    }
  );
}

/**
 * The first lock of every operation that changes more than the job; the order of locks is job, bids, holds, accounts.
 * Later statements read the rows: each sees everything that was committed before it began, and so before the lock. A
 * sub-select in the locking statement itself would see the state before its wait.
 */
export const lockJob = statement((db, $: Values<{ id: JobId }>) =>
  db.select({ id: jobs.id }).from(jobs).where(eq(jobs.id, $.id)).for('update'),
);

/** The same lock, by way of a bid on the job. */
export const lockJobOfBid = statement((db, $: Values<{ id: BidId }>) =>
  db
    .select({ id: jobs.id })
    .from(jobs)
    .where(sql`${jobs.id} = (select b.job_id from bids b where b.id = ${$.id})`)
    .for('update'),
);

/** The job, the viewer's relation to it, and their available tokens: all facts that the checks of an operation need. */
function lookAt(role: Role, bids: SQL<LiveBid[]>) {
  return statement((db, $: Values<ViewerIds & { id: JobId; userId: UserId }>) =>
    db
      .select({ job: jobColumns, ...seenBy(role, $), available: availableTo($), liveBids: bids })
      .from(jobs)
      .where(eq(jobs.id, $.id)),
  );
}

/** `withLiveBids` is for operations that change the live bids. */
export const lookAtJob = forEachRole((role) => ({
  alone: lookAt(role, sql`'[]'::json`),
  withLiveBids: lookAt(role, liveBidsOfJob),
}));

export const selectVisibleJobs = forEachRole((role) =>
  statement((db, $: Values<ViewerIds & { ids: string }>) =>
    db
      .select(jobColumns)
      .from(jobs)
      .where(and(sql`${jobs.id} = any(${$.ids}::text[])`, visibleJobs(role, $))),
  ),
);

type NewJob = JobFields & Places & { id: JobId; homeownerId: HomeownerId } & Logged;

export const insertJob = statement((db, $: Values<NewJob>) => {
  const made = db.$with('made').as(
    db
      .insert(jobs)
      .values({
        ...columns($, JOB_FIELDS),
        ...columns($, ['id', 'homeownerId', 'latitude', 'longitude']),
        eventCount: sql`${countOf($.events)}`,
      })
      .returning(),
  );
  return db
    .with(made, logging(db, 'made', $.events))
    .select()
    .from(made);
});

/** A trigger has inserted the row for the search already, in the same transaction. */
export const setTown = statement((db, $: Values<{ id: JobId; town: string | null }>) =>
  db
    .update(jobSearch)
    .set({ town: sql`${$.town}::point` })
    .where(eq(jobSearch.jobId, $.id)),
);

export function advance($: Values<Logged>) {
  return {
    version: sql`${jobs.version} + 1`,
    updatedAt: sql`clock_timestamp()`,
    eventCount: sql`${jobs.eventCount} + ${countOf($.events)}`,
  };
}

const BASES = [
  'highestBudgetMin',
  'highestBudgetMax',
  'mostTokensPaid',
  'completionDateAtCheckIn',
] as const satisfies (keyof EditBases)[];

/** Runs when the job is locked and the edit was checked. */
export const editJob = statement(
  (db, $: Values<JobFields & EditBases & Omit<Places, 'town'> & Logged & { id: JobId }>) => {
    const edited = db.$with('edited').as(
      db
        .update(jobs)
        .set({
          ...columns($, JOB_FIELDS),
          ...columns($, BASES),
          ...columns($, ['latitude', 'longitude']),
          ...advance($),
        })
        .where(eq(jobs.id, $.id))
        .returning(),
    );
    return db
      .with(edited, logging(db, 'edited', $.events))
      .select()
      .from(edited);
  },
);

/** Deletes the draft; its events remain. */
export const deleteJob = statement((db, $: Values<Logged & { id: JobId }>) => {
  const gone = db.$with('gone').as(
    db
      .delete(jobs)
      .where(eq(jobs.id, $.id))
      .returning({
        id: jobs.id,
        homeownerId: jobs.homeownerId,
        event_count: sql<number>`${jobs.eventCount} + ${countOf($.events)}`.as('event_count'),
      }),
  );
  return db
    .with(gone, logging(db, 'gone', $.events))
    .select({ id: gone.id })
    .from(gone);
});

/** Adds events to a job, for example of its bids: changes its counts and not its version. */
function counting({ events: happened, live, counted, ever }: Values<Logged & BidCounts>) {
  return {
    eventCount: sql`${jobs.eventCount} + ${countOf(happened)}`,
    liveBidCount: sql`${jobs.liveBidCount} + ${live}::int`,
    bidCount: sql`${jobs.bidCount} + ${counted}::int`,
    bidsEver: sql`${jobs.bidsEver} + ${ever}::int`,
  };
}

export const noteOnJob = statement((db, $: Values<Logged & BidCounts & { id: JobId }>) => {
  const counted = db
    .$with('counted')
    .as(
      db
        .update(jobs)
        .set(counting($))
        .where(eq(jobs.id, $.id))
        .returning({ id: jobs.id, eventCount: jobs.eventCount, homeownerId: jobs.homeownerId }),
    );
  return db
    .with(counted, logging(db, 'counted', $.events))
    .select()
    .from(counted);
});

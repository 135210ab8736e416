/** Jobs, and the statements that change them. Whatever changes a job adds its events in the same statement. */
import { and, eq, getTableColumns, inArray, sql, type SQL } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { BidId, ContractorId, HomeownerId, JobId } from '../rules/ids.js';
import { JOB_FIELDS, type JobFields } from '../rules/job-fields.js';
import { JOB_TRANSITIONS, type BidState, type JobTransition, type JobTransitionKey, type PartyWord } from '../rules/lifecycle.js';
import type { EditBases } from '../rules/edit-bases.js';
import type { Role } from '../rules/viewer.js';
import { narrowed } from './accounts.js';
import { countOf, eventsToLog } from './events.js';
import { besideAsJson, besideKey, besideReader, type Beside, type Found } from './beside.js';
import type { Db } from './database.js';
import { columns, remembering, statement, type Values } from './statement.js';
import { events } from './tables/events.js';
import { jobs, jobSearch, type JobRow } from './tables/jobs.js';
import { forEachRole, ownBidStates, visibleJobs, type ViewerIds } from './visibility.js';

export type { JobRow };

/** A place on the map; `town` is the centre of the public city. */
export interface Places {
  latitude: number | null;
  longitude: number | null;
  town: string | null;
}

interface Logged {
  /** See `asParameter`. */
  events: string;
}

/** A job, and what the viewer is to it. */
export interface SeenJob {
  job: JobRow;
  visible: boolean;
  ownBids: BidState[];
}

const jobColumns = getTableColumns(jobs);

/** What everything else about a job is found by, and judged by. */
const ALWAYS = ['id', 'homeownerId', 'status', 'awardedBidId', 'awardedContractorId', 'createdAt'];

/** The columns that somebody asks for; the rows have no others. */
export function jobFields({ job }: Beside): typeof jobColumns {
  return job ? narrowed(jobColumns, job, ALWAYS) : jobColumns;
}

function selectSeen(db: PostgresJsDatabase, role: Role, $: Values<ViewerIds & { id: JobId }>, beside: Beside = {}) {
  return db
    .select({
      job: jobFields(beside),
      visible: sql<boolean>`${visibleJobs(role, $)}`,
      ownBids: sql<BidState[]>`${ownBidStates(role, $)}`,
      beside: besideAsJson(beside, role, $),
    })
    .from(jobs)
    .where(eq(jobs.id, $.id));
}

const selects = remembering<ReturnType<typeof selectWith>>();

function selectWith(role: Role, beside: Beside) {
  return statement((db, $: Values<ViewerIds & { id: JobId }>) => selectSeen(db, role, $, beside));
}

/** One job, with whatever else is asked for in the same breath. */
export async function selectJob(db: Db, role: Role, values: ViewerIds & { id: JobId }, beside: Beside = {}): Promise<(SeenJob & { beside: Found }) | undefined> {
  const [seen] = await selects(`${role} ${besideKey(beside)}`, () => selectWith(role, beside))(db, values);
  return seen && { ...seen, beside: besideReader(beside, role)(seen.beside) };
}

/** The first lock of every operation that touches more than the job: job, then bids, holds, accounts. */
export const lockJob = forEachRole((role) => statement((db, $: Values<ViewerIds & { id: JobId }>) => selectSeen(db, role, $).for('update', { of: jobs })));

/** The same lock, by way of a bid on the job. */
export const lockJobOfBid = statement((db, $: Values<{ id: BidId }>) =>
  db
    .select({ id: jobs.id })
    .from(jobs)
    .where(sql`${jobs.id} = (select b.job_id from bids b where b.id = ${$.id})`)
    .for('update'),
);

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
      .values({ ...columns($, JOB_FIELDS), ...columns($, ['id', 'homeownerId', 'latitude', 'longitude']), eventCount: sql`${countOf($.events)}` })
      .returning(),
  );
  const logged = db.$with('logged').as(db.insert(events).select(eventsToLog('made', $.events)));
  return db.with(made, logged).select().from(made);
});

/** The searchable row is there already, made by its trigger in the same transaction. */
export const setTown = statement((db, $: Values<{ id: JobId; town: string | null }>) =>
  db
    .update(jobSearch)
    .set({ town: sql`${$.town}::point` })
    .where(eq(jobSearch.jobId, $.id)),
);

interface MoveValues extends ViewerIds, Logged {
  id: JobId;
  expectedVersion: number | null;
  bidId: BidId | null;
  awardedTo: ContractorId | null;
  tokensPaid: number | null;
}

/** What a transition sets besides the state. */
const SETS: { readonly [Key in JobTransitionKey]?: ($: Values<MoveValues>) => Partial<Record<keyof JobRow, SQL | number>> } = {
  publish: ($) => ({ highestBudgetMin: sql`${jobs.budgetMin}`, highestBudgetMax: sql`${jobs.budgetMax}`, mostTokensPaid: sql`${$.tokensPaid}::int` }),
  award: ($) => ({ awardedBidId: sql`${$.bidId}`, awardedContractorId: sql`${$.awardedTo}`, liveBidCount: 0 }),
  checkIn: () => ({ completionDateAtCheckIn: sql`${jobs.desiredCompletionDate}` }),
  cancel: () => ({ liveBidCount: 0 }),
  complete: () => ({ liveBidCount: 0 }),
};

const IS_PARTY: Record<Exclude<PartyWord, 'bidder' | 'contractor'>, ($: Values<ViewerIds>) => SQL | undefined> = {
  owner: ($) => sql`${jobs.homeownerId} = ${$.homeownerId}`,
  awardee: ($) => sql`${jobs.awardedContractorId} = ${$.contractorId}`,
  parties: ($) => sql`(${jobs.homeownerId} = ${$.homeownerId} or ${jobs.awardedContractorId} = ${$.contractorId})`,
  admin: () => undefined,
};

/**
 * One statement a transition: the job moves only from a state that the table allows, by a party that it allows, and its
 * events are added. No row comes back from a job that could not move.
 */
export const moveJob = Object.fromEntries(
  Object.entries<JobTransition>(JOB_TRANSITIONS).map(([key, row]) => [key, moveStatement(key as JobTransitionKey, row)]),
) as Record<JobTransitionKey, ReturnType<typeof moveStatement>>;

function moveStatement(key: JobTransitionKey, row: JobTransition) {
  const isParty = IS_PARTY[row.by as keyof typeof IS_PARTY];
  return statement((db, $: Values<MoveValues>, stands) => {
    const moved = db.$with('moved').as(
      db
        .update(jobs)
        .set({ status: row.to, ...advance($), ...(SETS[key]?.($) as object) })
        .where(and(eq(jobs.id, $.id), inArray(jobs.status, [...row.from]), isParty($), knowsItAsItIs($), stands))
        .returning(),
    );
    const logged = db.$with('logged').as(db.insert(events).select(eventsToLog('moved', $.events)));
    return db.with(moved, logged).select().from(moved);
  });
}

function knowsItAsItIs($: Values<Pick<MoveValues, 'expectedVersion'>>): SQL {
  return sql`coalesce(${$.expectedVersion}::int = ${jobs.version}, true)`;
}

function advance($: Values<Logged>) {
  return { version: sql`${jobs.version} + 1`, updatedAt: sql`clock_timestamp()`, eventCount: sql`${jobs.eventCount} + ${countOf($.events)}` };
}

const BASES = ['highestBudgetMin', 'highestBudgetMax', 'mostTokensPaid', 'completionDateAtCheckIn'] as const satisfies (keyof EditBases)[];

/** Of a job that is locked and whose edit was judged. */
export const editJob = statement((db, $: Values<JobFields & EditBases & Omit<Places, 'town'> & Logged & { id: JobId }>) => {
  const edited = db.$with('edited').as(
    db
      .update(jobs)
      .set({ ...columns($, JOB_FIELDS), ...columns($, BASES), ...columns($, ['latitude', 'longitude']), ...advance($) })
      .where(eq(jobs.id, $.id))
      .returning(),
  );
  const logged = db.$with('logged').as(db.insert(events).select(eventsToLog('edited', $.events)));
  return db.with(edited, logged).select().from(edited);
});

/** The draft goes; that it was there, and that it went, stays among the events. */
export const deleteJob = statement((db, $: Values<Logged & { id: JobId }>) => {
  const gone = db.$with('gone').as(
    db
      .delete(jobs)
      .where(eq(jobs.id, $.id))
      .returning({ id: jobs.id, event_count: sql<number>`${jobs.eventCount} + ${countOf($.events)}`.as('event_count') }),
  );
  const logged = db.$with('logged').as(db.insert(events).select(eventsToLog('gone', $.events)));
  return db.with(gone, logged).select({ id: gone.id }).from(gone);
});

/** By how much each count changes. */
export interface BidCounts {
  live: number;
  counted: number;
  ever: number;
}

export const UNCHANGED_COUNTS: BidCounts = { live: 0, counted: 0, ever: 0 };

/** Something happened around the job, or to its bids: events are added and the counts follow, its version does not. */
export const noteOnJob = statement((db, $: Values<Logged & BidCounts & { id: JobId }>) => {
  const counted = db.$with('counted').as(
    db
      .update(jobs)
      .set({
        eventCount: sql`${jobs.eventCount} + ${countOf($.events)}`,
        liveBidCount: sql`${jobs.liveBidCount} + ${$.live}::int`,
        bidCount: sql`${jobs.bidCount} + ${$.counted}::int`,
        bidsEver: sql`${jobs.bidsEver} + ${$.ever}::int`,
      })
      .where(eq(jobs.id, $.id))
      .returning({ id: jobs.id, eventCount: jobs.eventCount }),
  );
  const logged = db.$with('logged').as(db.insert(events).select(eventsToLog('counted', $.events)));
  return db.with(counted, logged).select().from(counted);
});

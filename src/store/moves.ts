/**
 * How a job moves from state to state: one statement a transition. The job moves only from a state that the table allows, by a party that it
 * allows, and its events are added. No row comes back from a job that could not move.
 */
import { and, eq, inArray, sql, type SQL } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { BID_CONSEQUENCES } from '../rules/bids.js';
import type { BidId, ContractorId, JobId } from '../rules/ids.js';
import { JOB_TRANSITIONS, type JobTransition, type JobTransitionKey, type PartyWord } from '../rules/lifecycle.js';
import { liveBidsAsJson, settling, type LiveBid } from './bids.js';
import { eventsToLog } from './events.js';
import { advance, jobColumns, seenBy, type JobRow, type Logged, type SeenJob } from './jobs.js';
import { transferring, type TransferValues } from './ledger.js';
import { statement, type Values } from './statement.js';
import { bids } from './tables/bids.js';
import { events } from './tables/events.js';
import { jobs } from './tables/jobs.js';
import { forEachRole, type ViewerIds } from './visibility.js';

export interface MoveValues extends ViewerIds, Logged {
  id: JobId;
  expectedVersion: number | null;
}

/** What a transition sets besides the state. */
const SETS: { readonly [Key in JobTransitionKey]?: JobChanges } = {
  checkIn: { completionDateAtCheckIn: sql`${jobs.desiredCompletionDate}` },
  cancel: { liveBidCount: 0 },
  complete: { liveBidCount: 0 },
};

type JobChanges = Partial<Record<keyof JobRow, SQL | number>>;

const IS_PARTY: Record<Exclude<PartyWord, 'bidder' | 'contractor'>, ($: Values<ViewerIds>) => SQL | undefined> = {
  owner: ($) => sql`${jobs.homeownerId} = ${$.homeownerId}`,
  awardee: ($) => sql`${jobs.awardedContractorId} = ${$.contractorId}`,
  parties: ($) => sql`(${jobs.homeownerId} = ${$.homeownerId} or ${jobs.awardedContractorId} = ${$.contractorId})`,
  admin: () => undefined,
};

/** What moves, and when. */
function moving(key: JobTransitionKey, $: Values<MoveValues>, changes: JobChanges = {}) {
  const { by, from, to }: JobTransition = JOB_TRANSITIONS[key];
  const isParty = IS_PARTY[by as keyof typeof IS_PARTY];
  const knowsItAsItIs = sql`coalesce(${$.expectedVersion}::int = ${jobs.version}, true)`;
  return {
    set: { status: to, ...advance($), ...(SETS[key] as object), ...(changes as object) },
    when: and(eq(jobs.id, $.id), inArray(jobs.status, [...from]), isParty($), knowsItAsItIs),
  };
}

function logging(db: PostgresJsDatabase, $: Values<Logged>) {
  return db.$with('logged').as(db.insert(events).select(eventsToLog('moved', $.events)));
}

/** The transitions that have a statement of their own, in which all that they lead to happens. */
export type MovesMore = 'publish' | 'award';
export type MovesJob = Exclude<JobTransitionKey, MovesMore>;

function forEachMove<S>(make: (key: MovesJob) => S): Record<MovesJob, S> {
  const { publish: _publish, award: _award, ...others } = JOB_TRANSITIONS;
  return Object.fromEntries(Object.keys(others).map((key) => [key, make(key as MovesJob)])) as Record<MovesJob, S>;
}

export const moveJob = forEachMove((key) =>
  statement((db, $: Values<MoveValues>, stands) => {
    const { set, when } = moving(key, $);
    const moved = db.$with('moved').as(db.update(jobs).set(set).where(and(when, stands)).returning());
    return db.with(moved, logging(db, $)).select().from(moved);
  }),
);

/** What a transition wants to know before it moves a job. */
export interface Look<Field extends keyof JobRow> {
  /** Of the job, besides what every job is judged by. */
  readonly fields: readonly Field[];
  readonly liveBids?: true;
}

const JUDGED_BY = ['id', 'homeownerId', 'status', 'awardedContractorId', 'version', 'eventCount'] as const satisfies (keyof JobRow)[];
export type LookedAt<Field extends keyof JobRow> = Pick<JobRow, (typeof JUDGED_BY)[number] | Field>;

/** A look at a job without a lock. */
export function looking<Field extends keyof JobRow>({ fields, liveBids }: Look<Field>) {
  const job = Object.fromEntries([...JUDGED_BY, ...fields].map((name) => [name, jobColumns[name]]));
  return forEachRole((role) =>
    statement<ViewerIds & { id: JobId }, (SeenJob<LookedAt<Field>> & { liveBids: LiveBid[] | null })[]>(
      (db, $) => db.select({ job, ...seenBy(role, $), liveBids: liveBids ? liveBidsAsJson : sql`null::json` }).from(jobs).where(eq(jobs.id, $.id)) as never,
    ),
  );
}

/**
 * Of a job that was looked at and judged. Whatever happens to it, its bids or their holds is counted among its events, and so while the count is the
 * same, all is as it was. What the move leads to hangs on it and happens in the same statement: the locks come in the order job, bids, holds, accounts.
 */
export interface LookedMoveValues extends MoveValues {
  eventCount: number;
}

function movedAsLooked(db: PostgresJsDatabase, key: MovesMore, $: Values<LookedMoveValues>, changes: JobChanges, given?: SQL) {
  const { set, when } = moving(key, $, changes);
  return db.$with('moved').as(db.update(jobs).set(set).where(and(when, eq(jobs.eventCount, $.eventCount), given)).returning());
}

const ifMoved = sql`exists (select from moved)`;

/** Nothing is published of which the price cannot be taken. */
const hasBalance = ($: Values<Pick<TransferValues, 'userId'>>) => sql`exists (select from token_balances t where t.user_id = ${$.userId})`;

export const publishAsLooked = statement((db, $: Values<LookedMoveValues & TransferValues & { tokensPaid: number }>) => {
  const bases = { highestBudgetMin: sql`${jobs.budgetMin}`, highestBudgetMax: sql`${jobs.budgetMax}`, mostTokensPaid: sql`${$.tokensPaid}::int` };
  const moved = movedAsLooked(db, 'publish', $, bases, hasBalance($));
  const { changed, transfer } = transferring(db, $, ifMoved);
  return db.with(moved, changed, transfer, logging(db, $)).select().from(moved).innerJoin(changed, sql`true`);
});

/** One live bid is accepted, and the others are passed over. */
export const awardAsLooked = statement((db, $: Values<LookedMoveValues & { bidId: BidId; awardedTo: ContractorId }>) => {
  const moved = movedAsLooked(db, 'award', $, { awardedBidId: sql`${$.bidId}`, awardedContractorId: sql`${$.awardedTo}`, liveBidCount: 0 });
  const { accept, passOver } = BID_CONSEQUENCES;
  const outcome = sql`case when ${bids.id} = ${$.bidId} then ${accept.to}::bid_status else ${passOver.to}::bid_status end`;
  const { settled, released, freed } = settling(db, outcome, and(eq(bids.jobId, $.id), ifMoved));
  return db.with(moved, settled, released, freed, logging(db, $)).select().from(moved);
});

/**
 * Writes events in the same statement as the change that they describe, numbered by the job's own count while the job
 * is locked.
 */
import { and, eq, getTableColumns, sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { EventType } from '../rules/events.js';
import type { EVENT_ACTOR, EventDetails, StoredEventFields } from '../rules/entities/event.js';
import type { Entity, RowOf, Shown } from '../rules/entity.js';
import { DISPUTE_EVENT_TYPES } from '../rules/disputes.js';
import { IS_PARTY, partyToOwn } from '../rules/parties.js';
import { IS_WITHIN, reachOf, type EventReach } from '../rules/timeline.js';
import type { ContractorId, JobId, UserId } from '../rules/ids.js';
import { conditionSql, type Given } from './conditions.js';
import { newId } from './new-id.js';
import type { JobState } from '../rules/states.js';
import type { Role } from '../rules/viewer.js';
import { listing } from './page.js';
import { asArray, statement, type Values } from './statement.js';
import { events } from './tables/events.js';
import { forEachRole, type ViewerIds } from './visibility.js';

type WithActor = Omit<typeof events.$inferSelect, 'homeownerId'> & { actor: Shown<typeof EVENT_ACTOR> | null };

/** An event as it is stored: the fields of its type are in `data`. */
export type EventRow = RowOf<Entity<StoredEventFields>, WithActor>;

/** An event as a viewer reads it. */
export type JobEvent = EventRow & EventDetails;

/** The columns of an event with its actor's name. */
const { homeownerId: _owner, ...shownColumns } = getTableColumns(events);

export const eventShape = {
  ...shownColumns,
  actor: sql<Shown<typeof EVENT_ACTOR> | null>`(select json_build_object('id', u.id, 'name',
    u.first_name || ' ' || u.last_name, 'role', u.user_type) from users u where u.id = "events"."actor_id")`.as(
    'actor',
  ),
};

/** An event before it has a number and a time. */
export interface NewEvent {
  type: EventType;
  actorId: UserId;
  bidderId?: ContractorId;
  fromStatus?: JobState | null;
  toStatus?: JobState | null;
  data?: Record<string, unknown>;
}

/** The events as one parameter, so that one statement logs any number of events. */
export function asParameter(happened: readonly NewEvent[]): string {
  return JSON.stringify(
    happened.map(({ type, actorId, bidderId = null, fromStatus = null, toStatus = null, data = {} }) => ({
      id: newId('event'),
      type,
      actor_id: actorId,
      bidder_id: bidderId,
      from_status: fromStatus,
      to_status: toStatus,
      data,
    })),
  );
}

/** Values that only the database has. */
interface Further {
  /** Is added to the events' data. */
  readonly data?: SQL;
  /** How many later events the same statement adds. */
  readonly later?: SQL;
}

/**
 * The rows to insert, for a CTE named `counted` that has just raised the job's `event_count` by as many. The columns
 * are in the table's order. The clock is read under the job's lock: `now()` is the time when the transaction began,
 * which may be before the events of a transaction that it waited for.
 */
function eventsToLog(counted: string, happened: Placeholder, { data, later }: Further): SQL {
  const before = sql`j.event_count - ${countOf(happened)}${later ? sql` - ${later}` : sql``}`;
  return sql`select e.id, j.id, ${before} + e.number, e.type, e.actor_id, e.bidder_id, e.from_status, e.to_status,
      clock_timestamp(), ${data ? sql`e.data || ${data}` : sql`e.data`}, j.homeowner_id, null::bigint
    from ${sql.identifier(counted)} j,
      rows from (json_to_recordset(${happened}::json) as (id text, type text, actor_id text, bidder_id text,
        from_status job_status, to_status job_status, data jsonb))
      with ordinality as e (id, type, actor_id, bidder_id, from_status, to_status, data, number)`;
}

/** The part of a statement that inserts events. */
export function logging(db: PostgresJsDatabase, counted: string, happened: Placeholder, further: Further = {}) {
  return db.$with('logged').as(
    db
      .insert(events)
      .select(eventsToLog(counted, happened, further))
      .returning(LOGGED),
  );
}

const { id, jobId, sequence, actorId, homeownerId } = events;
const LOGGED = { id, jobId, sequence, actorId, homeownerId };

/**
 * Logs an event for each bid of a CTE named `settled`, which the one event of `logged` has changed: first that of the
 * accepted bid, then those of the others from the oldest on. Their number is only known in the database, so that the
 * statement makes their identifiers: that of the one event, with a number for its last seven characters. Since it reads
 * `logged`, it runs after it, and the times of these events are later, too.
 */
export function loggingBids(db: PostgresJsDatabase, type: SQL) {
  const rows = sql`select left(l.id, -7) || lpad(b.number::text, 7, '0'), l.job_id, l.sequence + b.number, ${type},
      l.actor_id, b.contractor_id, null::job_status, null::job_status, clock_timestamp(),
      jsonb_build_object('bidId', b.id), l.homeowner_id, null::bigint
    from logged l, (select s.*, row_number() over (order by s.status = 'accepted' desc, s.created_at, s.id) as number
      from settled s) b order by b.number`;
  return db.$with('logged_bids').as(db.insert(events).select(rows));
}

/** By how much a job's count rises for these events. */
export function countOf(happened: Placeholder): SQL {
  return sql`json_array_length(${happened}::json)`;
}

function eventsWithin(reach: EventReach) {
  return listing({
    keys: { sequence: events.sequence },
    order: 'oldest first',
    rows: (db, $: Values<{ jobId: JobId; contractorId: ContractorId | null }>, within) =>
      db
        .select(eventShape)
        .from(events)
        .where(and(eq(events.jobId, $.jobId), conditionSql(IS_WITHIN[reach], $), within))
        .$dynamic(),
  });
}

export const listEvents = {
  all: eventsWithin('all'),
  'job and own bid': eventsWithin('job and own bid'),
  'status changes': eventsWithin('status changes'),
} satisfies Record<EventReach, unknown>;

/**
 * The events of a job inside its row, from which follows what the viewer may read: of some jobs they are the awarded
 * contractor, and on others they have only bid.
 */
export const listEventsOfJob = forEachRole((role) =>
  listing({
    keys: { sequence: events.sequence },
    order: 'oldest first',
    rows: (db, $: Values<ViewerIds & { jobId: JobId }>, within) =>
      db
        .select(eventShape)
        .from(events)
        .where(and(eq(events.jobId, $.jobId), reachOnJob(role, $), within))
        .$dynamic(),
  }),
);

/**
 * The viewer's relation to the job follows from the row of `jobs`; a deleted draft has no row, and only its owner reads
 * it.
 */
export function reachOnJob(role: Role, $: Values<ViewerIds>): SQL {
  return role === 'contractor' ? reachOfContractor($) : reachToOwn(role, false, $);
}

/**
 * The condition for a contractor who may see the job: what they read of it depends on whether it was awarded to them.
 */
export function reachOfContractor($: Given, isAwardee = conditionSql(IS_PARTY.awardee, $)): SQL {
  return sql`case when ${isAwardee} then ${reachToOwn('contractor', true, $)}
    else ${reachToOwn('contractor', false, $)} end`;
}

function reachToOwn(role: Role, isAwardee: boolean, $: Given): SQL {
  return conditionSql(IS_WITHIN[reachOf(partyToOwn(role, isAwardee))], $);
}

const DISPUTE_EVENTS = asArray(DISPUTE_EVENT_TYPES);

export const isOfDispute = sql`${events.type} = any(${DISPUTE_EVENTS}::text[])`;

/** Selects the events of a job's dispute. */
export const selectDisputeEvents = statement((db, $: Values<{ jobIds: string }>) =>
  db
    .select(getTableColumns(events))
    .from(events)
    .where(sql`${events.jobId} = any(${$.jobIds}::text[]) and ${isOfDispute}`)
    .orderBy(events.jobId, events.sequence),
);

/** Job events. An event is written in the transaction of the change that it describes, under the job's lock. */
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import { DISPUTE_EVENT_TYPES, PROPOSAL_EVENT, type DisputeEvent } from '../../rules/jobs/disputes.js';
import type { EVENT_ACTOR, EventDetails, StoredEventFields } from '../../rules/entities/event.js';
import type { Entity, RowOf, ShownRow } from '../../../platform/fields/entity.js';
import type { EventType } from '../../rules/events.js';
import type { ContractorId, HomeownerId, JobId, UserId } from '../../rules/ids.js';
import type { JobState } from '../../rules/states.js';
import type { EventVisibility } from '../../rules/reading/timeline.js';
import type { Db } from '../../../platform/db/database.js';
import { newId } from '../new-id.js';
import { pagedList } from '../../../platform/db/pages/page.js';
import { asJson, jsonReader } from '../../../platform/db/rows.js';
import { asArray, builder, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { events } from '../tables/events.js';
import { forEachRole, visibleEvents, visibleEventsOfJob, type ViewerIds } from '../visibility.js';

type WithActor = Omit<typeof events.$inferSelect, 'homeownerId'> & { actor: ShownRow<typeof EVENT_ACTOR> | null };

/** `data` has the fields that are specific to the event's type. */
export type EventRow = RowOf<Entity<StoredEventFields>, WithActor>;

export type JobEvent = EventRow & EventDetails;

const { homeownerId: _owner, ...shownColumns } = getTableColumns(events);

export const eventShape = {
  ...shownColumns,
  actor: sql<ShownRow<typeof EVENT_ACTOR> | null>`(select json_build_object('id', u.id, 'name',
    u.first_name || ' ' || u.last_name, 'role', u.user_type) from users u where u.id = "events"."actor_id")`.as(
    'actor',
  ),
};

/** An event before it gets a number and a time. */
export interface NewEvent {
  type: EventType;
  actorId: UserId | null;
  bidderId?: ContractorId;
  fromStatus?: JobState | null;
  toStatus?: JobState | null;
  data?: Record<string, unknown>;
}

/**
 * The time is read under the job's lock. `now()` would return the start of the transaction. While the transaction waits
 * for the lock, other transactions can write events with later times.
 */
const insertEvents = statement('insertEvents', {}, ($: Placeholders<{ rows: string }>) =>
  builder.insert(events).select(sql`
    select e.id, e.job_id, e.sequence, e.type, e.actor_id, e.bidder_id, e.from_status, e.to_status, clock_timestamp(),
      e.data, e.homeowner_id, null::bigint
    from json_to_recordset(${$('rows')}::json) as e (id text, job_id text, sequence int, type text, actor_id text,
      bidder_id text, from_status job_status, to_status job_status, data jsonb, homeowner_id text)`),
);

/** Continues the locked job's event numbers. The caller must raise the job's event count. */
export async function logEvents(
  tx: Db,
  job: { readonly id: JobId; readonly homeownerId: HomeownerId; readonly eventCount: number },
  newEvents: readonly NewEvent[],
): Promise<void> {
  const rows = newEvents.map(({ type, actorId, bidderId, fromStatus, toStatus, data = {} }, at) => ({
    id: newId('event'),
    job_id: job.id,
    sequence: job.eventCount + at + 1,
    type,
    actor_id: actorId,
    bidder_id: bidderId ?? null,
    from_status: fromStatus ?? null,
    to_status: toStatus ?? null,
    data,
    homeowner_id: job.homeownerId,
  }));
  await insertEvents(tx, { rows: JSON.stringify(rows) });
}

function listWithVisibility(visibility: EventVisibility) {
  return pagedList({
    name: 'listEvents',
    mayBeStale: true,
    keys: { sequence: events.sequence },
    direction: 'asc',
    fields: eventShape,
    rows: ($: Placeholders<{ jobId: JobId; contractorId: ContractorId | null }>, fields, condition) =>
      selectFrom(
        events,
        fields,
        and(eq(events.jobId, $('jobId')), visibleEvents(visibility, $('contractorId')), condition),
      ),
  });
}

export const listEvents = {
  all: listWithVisibility('all'),
  'own job': listWithVisibility('own job'),
  'job and own bid': listWithVisibility('job and own bid'),
  'own bid and changes': listWithVisibility('own bid and changes'),
  'status changes': listWithVisibility('status changes'),
} satisfies Record<EventVisibility, unknown>;

/** What a contractor can read differs by job. One job may be awarded to them, and another may only have their bid. */
export const listEventsOfJob = forEachRole((role) =>
  pagedList({
    name: 'listEventsOfJob',
    mayBeStale: true,
    keys: { sequence: events.sequence },
    direction: 'asc',
    fields: eventShape,
    rows: ($: Placeholders<ViewerIds & { jobId: JobId }>, fields, condition) =>
      selectFrom(
        events,
        fields,
        and(eq(events.jobId, $('jobId')), visibleEventsOfJob(role, $('contractorId')), condition),
      ),
  }),
);

const DISPUTE_EVENTS = asArray(DISPUTE_EVENT_TYPES.filter((type) => type !== PROPOSAL_EVENT));

const storedColumns = getTableColumns(events);

/**
 * The events of a row of `jobs` that belong to its dispute, in order. Parties can make any number of proposals, and
 * only the last one matters.
 */
export const disputeEventsOfJob = sql`(
  select coalesce(json_agg(${asJson(storedColumns)} order by "events"."sequence"), '[]') from (
    select * from events e where e.job_id = "jobs"."id" and e.type = any(${DISPUTE_EVENTS}::text[])
    union all (select * from events e where e.job_id = "jobs"."id" and e.type = ${PROPOSAL_EVENT}
      order by e.sequence desc limit 1)) events)`;

export const readDisputeEvent = jsonReader<DisputeEvent>(storedColumns);

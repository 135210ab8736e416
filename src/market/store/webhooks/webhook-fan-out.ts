/**
 * Inserts the deliveries of new events in the transaction that moves the cursor. Only one server does this at a time.
 */
import { and, eq, sql } from 'drizzle-orm';
import type { ContractorId, HomeownerId, UserId, WebhookEndpointId } from '../../rules/ids.js';
import type { BidState } from '../../rules/states.js';
import { readEvent } from '../../rules/reading/timeline.js';
import type { Role } from '../../rules/viewer.js';
import { pipelined, type Db } from '../../../platform/db/database.js';
import type { EventWithParties } from '../events/event-log.js';
import type { AccountEvent } from '../events/account-event-log.js';
import { eventShape, type EventRow } from '../events/events.js';
import { LAST_POSITION } from '../events/positions.js';
import { newId } from '../new-id.js';
import { mayBeAbsent } from '../../../platform/db/rows.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { insertTasks } from '../../../platform/queue/tasks.js';
import { accountEvents, events } from '../tables/events.js';
import { jobs } from '../tables/jobs.js';
import { isAwardedTo, visibleEventsOfBidder } from '../visibility.js';
import { webhookCursor, webhookEndpoints } from '../tables/webhooks.js';

export interface Receiver {
  readonly userId: UserId;
  readonly role: Role;
  readonly homeownerId: HomeownerId | null;
  readonly contractorId: ContractorId | null;
}

export const insertCursor = statement(
  'insertCursor',
  { position: webhookCursor.position },
  (_: Placeholders<object>, fields) =>
    builder
      .insert(webhookCursor)
      .values({ position: sql`0` })
      .onConflictDoNothing()
      .returning(fields),
);

/** An idle server runs only this query. If there are no new events, it doesn't need to lock the cursor. */
export const selectFanOutState = statement(
  'selectFanOutState',
  {
    hasEndpoints: sql<boolean>`exists (select from webhook_endpoints where deleted_at is null)`,
    isBehind: sql<boolean | null>`${webhookCursor.position} < ${LAST_POSITION}`,
  },
  (_: Placeholders<object>, fields) => builder.select(fields).from(webhookCursor),
);

/** Returns no row if another instance has locked the cursor. */
const lockCursor = statement('lockCursor', { position: webhookCursor.position }, (_: Placeholders<object>, fields) =>
  builder.select(fields).from(webhookCursor).for('update', { skipLocked: true }),
);

const EVENTS_AT_ONCE = sql.raw('500');
/**
 * The maximum number of bidders in a step, added up over its events. An event whose job has more bidders gets a step of
 * its own.
 */
const BIDDERS_AT_ONCE = sql.raw('500');

/**
 * Finds the last position of the next step. A step has a limited number of events and of bidders who may read them. If
 * there are no endpoints, the step ends at the last event. Null if there are no new events.
 */
const selectStep = statement(
  'selectStep',
  ($: Placeholders<{ after: string }>) => ({
    upTo: sql<string | null>`(case when exists (select from webhook_endpoints where deleted_at is null)
      then (select max(position) from (
        select position, row_number() over following as place, sum(coalesce(bids_ever, 0)) over following as bidders
        from ((select position, job_id from events where position > ${$('after')}::bigint
            order by position limit ${EVENTS_AT_ONCE})
          union all (select position, null from account_events where position > ${$('after')}::bigint
            order by position limit ${EVENTS_AT_ONCE})
          order by position limit ${EVENTS_AT_ONCE}) next
        left join jobs on jobs.id = next.job_id window following as (order by position)) step
        where place = 1 or bidders <= ${BIDDERS_AT_ONCE})
      else nullif(${LAST_POSITION}, ${$('after')}::bigint) end)::text`.as('up_to'),
  }),
  (_, fields) => builder.select(fields).from(sql`(select 1) one`),
);

interface Candidate extends Receiver {
  readonly endpointId: WebhookEndpointId;
  readonly ownBids: readonly BidState[];
}

/** Covers the awarded contractor too, because they have bid on the job. */
const isVisibleToBidder = visibleEventsOfBidder(sql`bid.contractor_id`, isAwardedTo(sql`bid.contractor_id`));

/** The query around this expression has the event in `events` and the event's job in `jobs`. */
const candidates = sql<Candidate[]>`(
  select coalesce(json_agg(json_build_object('endpointId', w.id, 'userId', u.id, 'role', u.user_type,
    'homeownerId', h.id, 'contractorId', c.id,
    'ownBids', (select coalesce(json_agg(b.status), '[]') from bids b where b.job_id = "events"."job_id"
      and b.contractor_id = c.id))), '[]')
  from webhook_endpoints w
    join users u on u.id = w.user_id
    left join homeowners h on h.user_id = u.id
    left join contractors c on c.user_id = u.id
  where w.deleted_at is null and w.created_at <= "events"."occurred_at"
    and (w.event_types = '{}' or "events"."type" = any(w.event_types))
    and w.user_id in (
      select user_id from homeowners where id = "events"."homeowner_id"
      union all select bidder.user_id from bids bid join contractors bidder on bidder.id = bid.contractor_id
        where bid.job_id = "events"."job_id" and ${isVisibleToBidder}
      union all select id from users where user_type = 'admin'))`;

const eventWithParties = {
  event: eventShape,
  homeownerId: events.homeownerId,
  status: mayBeAbsent(jobs.status),
  awardedContractorId: jobs.awardedContractorId,
};

const selectCandidates = statement(
  'selectCandidates',
  { ...eventWithParties, candidates: candidates.as('candidates') },
  ($: Placeholders<{ after: string; upTo: string }>, fields) =>
    builder
      .select(fields)
      .from(events)
      .leftJoin(jobs, eq(jobs.id, events.jobId))
      .where(
        and(
          sql`${events.position} > ${$('after')}::bigint and ${events.position} <= ${$('upTo')}::bigint`,
          sql`exists (select from webhook_endpoints where deleted_at is null)`,
        ),
      )
      .orderBy(events.position),
);

/** Account events go only to their user's own endpoints, and only to those that list the type. */
const selectAccountDeliveries = statement(
  'selectAccountDeliveries',
  { event: { id: accountEvents.id, type: accountEvents.type }, endpointId: webhookEndpoints.id },
  ($: Placeholders<{ after: string; upTo: string }>, fields) =>
    builder
      .select(fields)
      .from(accountEvents)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.userId, accountEvents.userId))
      .where(
        sql`${accountEvents.position} > ${$('after')}::bigint and ${accountEvents.position} <= ${$('upTo')}::bigint
          and ${webhookEndpoints.deletedAt} is null and ${webhookEndpoints.createdAt} <= ${accountEvents.occurredAt}
          and ${accountEvents.type} = any(${webhookEndpoints.accountEventTypes})`,
      ),
);

const insertDeliveries = statement(
  'insertDeliveries',
  {},
  ($: Placeholders<{ deliveries: string }>) =>
    sql`insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status)
      select id, endpoint_id, event_id, event_type, 'waiting'
      from json_to_recordset(${$('deliveries')}::json) as delivery (id text, endpoint_id text,
        event_id text, event_type text)
      on conflict do nothing`,
);

const moveCursor = statement('moveCursor', {}, ($: Placeholders<{ upTo: string }>) =>
  builder.update(webhookCursor).set({ position: sql`${$('upTo')}::bigint` }),
);

/** After this many candidates, a pause lets the event loop do other work. */
const CANDIDATES_A_TURN = 200;

/**
 * The deliveries and the cursor are committed together, so no delivery is lost or created twice. Returns false if there
 * are no new events or another instance has locked the cursor.
 */
export function stepCursor(db: Db): Promise<boolean> {
  return db.inTransaction(async (tx) => {
    const [cursor] = await lockCursor(tx, {});
    if (!cursor) return false;
    const [step] = await selectStep(tx, { after: cursor.position });
    if (step?.upTo == null) return false;
    const { upTo } = step;
    const [rows, ofAccounts] = await pipelined(
      selectCandidates(tx, { after: cursor.position, upTo }),
      selectAccountDeliveries(tx, { after: cursor.position, upTo }),
    );
    const receiversWithEvents = rows.flatMap(({ candidates: receivers, ...rest }) =>
      receivers.map((receiver) => ({ receiver, rest })),
    );
    for (let at = 0; at < receiversWithEvents.length; at += CANDIDATES_A_TURN) {
      const deliveries = receiversWithEvents
        .slice(at, at + CANDIDATES_A_TURN)
        .filter(({ receiver, rest }) => readEvent(receiver, withBids(rest, receiver), 'mine') !== undefined)
        .map(({ receiver, rest }) => deliveryTo(receiver.endpointId, rest.event));
      await enqueue(tx, deliveries);
    }
    await enqueue(
      tx,
      ofAccounts.map(({ event, endpointId }) => deliveryTo(endpointId, event)),
    );
    await moveCursor(tx, { upTo });
    return true;
  });
}

function deliveryTo(endpointId: WebhookEndpointId, { id, type }: Pick<EventRow | AccountEvent, 'id' | 'type'>) {
  return { id: newId('webhookDelivery'), endpoint_id: endpointId, event_id: id, event_type: type };
}

async function enqueue(tx: Db, deliveries: readonly ReturnType<typeof deliveryTo>[]): Promise<void> {
  if (deliveries.length === 0) return;
  const tasks = deliveries.map(({ id, endpoint_id: key }) => ({ id, key }));
  await pipelined(insertDeliveries(tx, { deliveries: JSON.stringify(deliveries) }), insertTasks(tx, 'webhook', tasks));
}

/** The receiver's own bids decide what they can read. */
export function withBids(
  event: Omit<EventWithParties, 'bids'>,
  { contractorId, ownBids }: Pick<Candidate, 'contractorId' | 'ownBids'>,
): EventWithParties {
  return { ...event, bids: contractorId ? ownBids.map((status) => ({ contractorId, status })) : [] };
}

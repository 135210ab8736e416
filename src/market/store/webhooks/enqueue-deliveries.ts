/** Inserts deliveries with their tasks. Each delivery has the position of the one before it. */
import { sql, type SQL } from 'drizzle-orm';
import type { Id, WebhookEndpointId } from '../../rules/ids.js';
import { pipelined, type Db } from '../../../platform/db/database.js';
import { asArray, statement, type Placeholders } from '../../../platform/db/statement.js';
import { insertTasks } from '../../../platform/queue/tasks.js';
import type { AccountEvent } from '../events/account-event-log.js';
import type { EventRow } from '../events/events.js';
import { newId } from '../new-id.js';
import { webhookDeliveries } from '../tables/webhooks.js';

export type EventToDeliver = Pick<EventRow | AccountEvent, 'id' | 'type' | 'position'>;

export function deliveryTo(endpointId: WebhookEndpointId, { id, type, position }: EventToDeliver) {
  return { id: newId('webhookDelivery'), endpoint_id: endpointId, event_id: id, event_type: type, position };
}

/**
 * The previous delivery is in the same list, or stored, or was deleted after a month. An event in the list that already
 * has a delivery counts too. Rows that other transactions haven't committed don't count, so replays and the fan-out can
 * run at the same time without locking the endpoint.
 */
const PREVIOUS_POSITION = sql`greatest(
  lag(position) over (partition by endpoint_id order by position),
  (select max(d.position) from webhook_deliveries d
    where d.endpoint_id = added.endpoint_id and d.position < added.position),
  (select w.last_position from webhook_endpoints w
    where w.id = added.endpoint_id and w.last_position < added.position))`;

const INSERTED = { id: webhookDeliveries.id, key: webhookDeliveries.endpointId };

const insertion = (onConflict: SQL) => ($: Placeholders<{ deliveries: string }>) =>
  sql`insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status, position, previous_position)
    select id, endpoint_id, event_id, event_type, 'waiting', position, ${PREVIOUS_POSITION}
    from json_to_recordset(${$('deliveries')}::json) as added (id text, endpoint_id text, event_id text,
      event_type text, position bigint)
    order by position
    on conflict (endpoint_id, event_id) do ${onConflict} returning id, endpoint_id`;

const insertDeliveries = statement('insertDeliveries', INSERTED, insertion(sql`nothing`));

const repeatDeliveries = statement(
  'repeatDeliveries',
  INSERTED,
  insertion(sql`update set status = 'waiting', ended_at = null`),
);

/** Skips events that already have a delivery. */
export async function enqueue(tx: Db, deliveries: readonly ReturnType<typeof deliveryTo>[]): Promise<void> {
  if (deliveries.length === 0) return;
  await insertTasks(tx, 'webhook', await insertDeliveries(tx, { deliveries: JSON.stringify(deliveries) }));
}

const selectDeliveriesOf = statement(
  'selectDeliveriesOf',
  { id: webhookDeliveries.id, eventId: webhookDeliveries.eventId, isBeingSent: sql<boolean>`is_being_sent` },
  // Looks up each event, because an index on only the endpoint would find all its deliveries.
  ($: Placeholders<{ endpointId: WebhookEndpointId; eventIds: string }>) =>
    sql`select d.id, d.event_id, d.is_being_sent from unnest(${$('eventIds')}::text[]) as event (id)
      cross join lateral (select id, event_id, exists (select from tasks
          where tasks.id = webhook_deliveries.id and tasks.leased_until > now()) as is_being_sent
        from webhook_deliveries where endpoint_id = ${$('endpointId')} and event_id = event.id limit 1) d`,
);

/**
 * Sends events even if they already have deliveries. Locks tasks before deliveries, as the queue does. A delivery that
 * is being sent stays unchanged, because otherwise the queue would have to wait for this transaction.
 */
export async function enqueueAgain(
  tx: Db,
  endpointId: WebhookEndpointId,
  events: readonly EventToDeliver[],
): Promise<void> {
  if (events.length === 0) return;
  const stored = await selectDeliveriesOf(tx, { endpointId, eventIds: asArray(events.map(({ id }) => id)) });
  const storedByEvent = new Map<Id<'event' | 'accountEvent'>, (typeof stored)[number]>(
    stored.map((delivery) => [delivery.eventId, delivery]),
  );
  const deliveries = events.flatMap((event) => {
    const { id, isBeingSent } = storedByEvent.get(event.id) ?? {};
    if (isBeingSent) return [];
    const delivery = deliveryTo(endpointId, event);
    return [{ ...delivery, id: id ?? delivery.id }];
  });
  const tasks = deliveries.map(({ id }) => ({ id, key: endpointId }));
  const [, repeated] = await pipelined(
    insertTasks(tx, 'webhook', tasks),
    repeatDeliveries(tx, { deliveries: JSON.stringify(deliveries) }),
  );
  // Another transaction inserted these in the meantime, under other IDs. They may already have been sent.
  const others = repeated.filter(({ id }) => !deliveries.some((delivery) => delivery.id === id));
  if (others.length > 0) await insertTasks(tx, 'webhook', others);
}

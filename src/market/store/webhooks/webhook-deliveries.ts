/** Lists an endpoint's deliveries with their attempts, and enqueues a delivery again. */
import { and, eq, sql } from 'drizzle-orm';
import type { WEBHOOK_ATTEMPT, WEBHOOK_DELIVERY } from '../../rules/entities/webhook.js';
import type { RowOf, ShownRow } from '../../../platform/fields/entity.js';
import type { WebhookDeliveryId, WebhookEndpointId } from '../../rules/ids.js';
import type { DeliveredType, DeliveryStatus } from '../../rules/webhooks.js';
import type { Db } from '../../../platform/db/database.js';
import { newId } from '../new-id.js';
import { pagedList, type SamePageRequest } from '../../../platform/db/pages/page.js';
import { EACH_PARENT, pagesOfMany } from '../../../platform/db/pages/pages-of-many.js';
import { asDate, ConvertedColumn } from '../../../platform/db/rows.js';
import { asArray, builder, columns, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { insertTasks } from '../../../platform/queue/tasks.js';
import { webhookAttempts, webhookDeliveries, webhookEndpoints } from '../tables/webhooks.js';

type Row = typeof webhookDeliveries.$inferSelect;
type Attempt = ShownRow<typeof WEBHOOK_ATTEMPT>;

/** The attempts are selected as a string, which has the same form from the driver and in JSON. */
const attempts = new ConvertedColumn(
  sql`(select coalesce(json_agg(json_build_array(a.number, a.started_at, a.duration_ms,
  a.response_status, a.error, a.response) order by a.number), '[]')::text
  from ${webhookAttempts} a where a.delivery_id = "webhook_deliveries"."id")`,
  'attempts',
  readAttempts,
);

type AttemptInText = [number, string, number, number | null, string | null, string | null];

function readAttempts(text: string): Attempt[] {
  const tuples = JSON.parse(text) as AttemptInText[];
  return tuples.map(([number, startedAt, durationMs, responseStatus, error, response]) => ({
    number,
    startedAt: new Date(startedAt),
    durationMs,
    responseStatus,
    error,
    response,
  }));
}

const nextAttemptAt = new ConvertedColumn<Date | null>(
  sql`case when ${webhookDeliveries.status} = 'waiting' then (select run_at from tasks
    where tasks.id = "webhook_deliveries"."id") end`,
  'next_attempt_at',
  asDate,
);

const { id, endpointId, eventId, eventType, position, previousPosition, status, createdAt, endedAt } =
  webhookDeliveries;
const shape = {
  id,
  webhookId: endpointId,
  eventId,
  eventType,
  position,
  previousPosition,
  status,
  nextAttemptAt,
  createdAt,
  endedAt,
  attempts,
};

export type WebhookDelivery = RowOf<
  typeof WEBHOOK_DELIVERY,
  Pick<Row, 'id' | 'eventId' | 'eventType' | 'position' | 'previousPosition' | 'status' | 'createdAt' | 'endedAt'> & {
    webhookId: WebhookEndpointId;
    nextAttemptAt: Date | null;
    attempts: Attempt[];
  }
>;

type OfEndpoint = { endpointId: WebhookEndpointId; status: DeliveryStatus | null };

const hasStatus = ($: Placeholders<Pick<OfEndpoint, 'status'>>) =>
  sql`(${$('status')}::text is null or ${webhookDeliveries.status} = ${$('status')})`;

export const listWebhookDeliveries = pagedList({
  name: 'listWebhookDeliveries',
  keys: { createdAt, id },
  direction: 'desc',
  fields: shape,
  rows: ($: Placeholders<OfEndpoint>, fields, condition) =>
    selectFrom(webhookDeliveries, fields, and(eq(endpointId, $('endpointId')), hasStatus($), condition)),
});

const page = pagesOfMany<WebhookEndpointId, { ids: string; status: DeliveryStatus | null }, WebhookDelivery>({
  name: 'webhookDeliveriesOfMany',
  shape: {
    ...shape,
    attempts: new ConvertedColumn(sql`"webhook_deliveries"."attempts"`, 'attempts', readAttempts),
    nextAttemptAt: new ConvertedColumn<Date | null>(
      sql`"webhook_deliveries"."next_attempt_at"`,
      'next_attempt_at',
      asDate,
    ),
  },
  partOf: ($, request) => listWebhookDeliveries.partOf({ endpointId: EACH_PARENT }, $, request),
  totalOf: ($) => listWebhookDeliveries.totalOf({ endpointId: EACH_PARENT }, $),
  pageOf: listWebhookDeliveries.pageOf,
});

export function webhookDeliveriesOfMany(
  db: Db,
  endpointIds: readonly WebhookEndpointId[],
  status: DeliveryStatus | null,
  request: SamePageRequest,
) {
  return page(db, { ids: asArray(endpointIds), status }, request);
}

const insertTest = statement(
  'insertTest',
  shape,
  ($: Placeholders<Pick<Row, 'id' | 'endpointId' | 'eventId' | 'eventType'>>, fields) =>
    builder
      .insert(webhookDeliveries)
      .values({ ...columns($, ['id', 'endpointId', 'eventId', 'eventType']), status: sql`'waiting'` })
      .returning(fields),
);

/** A test event doesn't belong to any job. */
export function insertTestDelivery(db: Db, key: WebhookEndpointId, type: DeliveredType): Promise<WebhookDelivery> {
  const id = newId('webhookDelivery');
  return db.inTransaction(async (tx) => {
    const [, [row]] = await tx.commitWith(
      insertTasks(tx, 'webhook', [{ id, key }]),
      insertTest(tx, { id, endpointId: key, eventId: newId('event'), eventType: type }),
    );
    if (!row) throw new Error('A test event could not be queued.');
    return row;
  });
}

export const selectWebhookDelivery = statement(
  'selectWebhookDelivery',
  shape,
  ($: Placeholders<{ id: WebhookDeliveryId }>, fields) =>
    selectFrom(webhookDeliveries, fields, eq(webhookDeliveries.id, $('id'))),
);

export const selectEndpointOfDelivery = statement(
  'selectEndpointOfDelivery',
  { id: webhookEndpoints.id, userId: webhookEndpoints.userId, status: webhookEndpoints.status },
  ($: Placeholders<{ id: WebhookDeliveryId }>, fields) =>
    builder
      .select(fields)
      .from(webhookDeliveries)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, endpointId))
      .where(and(eq(webhookDeliveries.id, $('id')), sql`${webhookEndpoints.deletedAt} is null`)),
);

const waitAgain = statement('waitAgain', shape, ($: Placeholders<{ id: WebhookDeliveryId }>, fields) =>
  builder
    .update(webhookDeliveries)
    .set({ status: sql`'waiting'`, endedAt: sql`null` })
    .where(eq(webhookDeliveries.id, $('id')))
    .returning(fields),
);

/**
 * Starts a new series of attempts. A delivery that waits for a retry is sent now and keeps its attempt count. If a
 * delivery is being sent, nothing changes.
 */
export function redeliver(
  db: Db,
  { id: delivery, endpointId: key }: { id: WebhookDeliveryId; endpointId: WebhookEndpointId },
): Promise<WebhookDelivery | undefined> {
  return db.inTransaction(async (tx) => {
    const task = { id: delivery, key };
    const [, [row]] = await tx.commitWith(insertTasks(tx, 'webhook', [task]), waitAgain(tx, { id: delivery }));
    return row;
  });
}

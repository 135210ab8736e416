/** What was sent to a webhook endpoint, with every attempt; listed for its owner, and queued again. */
import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { WEBHOOK_ATTEMPT, WEBHOOK_DELIVERY } from '../rules/entities/webhook.js';
import type { RowOf, Shown } from '../rules/entity.js';
import type { WebhookDeliveryId, WebhookEndpointId } from '../rules/ids.js';
import type { DeliveredType, DeliveryStatus } from '../rules/webhooks.js';
import type { Db } from './database.js';
import { newId } from './new-id.js';
import { listing, positionValues, totalOf, type Page, type SamePageRequest } from './page.js';
import { asJson, jsonReader } from './rows.js';
import { asArray, columns, remembering, statement, type Values } from './statement.js';
import { webhookAttempts, webhookDeliveries, webhookEndpoints } from './tables/webhooks.js';

type Row = typeof webhookDeliveries.$inferSelect;
type Attempt = Shown<typeof WEBHOOK_ATTEMPT>;

/** As text, which is read in one way however the row comes. */
const attempts = sql<Attempt[]>`(select coalesce(json_agg(json_build_array(a.number, a.started_at, a.duration_ms,
  a.response_status, a.error, a.response) order by a.number), '[]')::text
  from ${webhookAttempts} a where a.delivery_id = "webhook_deliveries"."id")`
  .mapWith(readAttempts)
  .as('attempts');

type AttemptInText = [number, string, number, number | null, string | null, string | null];

function readAttempts(text: string): Attempt[] {
  const found = JSON.parse(text) as AttemptInText[];
  return found.map(([number, startedAt, durationMs, responseStatus, error, response]) => ({
    number,
    startedAt: new Date(startedAt),
    durationMs,
    responseStatus,
    error,
    response,
  }));
}

function readMoment(text: string): Date | null {
  return new Date(text);
}

const nextAttemptAt =
  sql<Date | null>`case when ${webhookDeliveries.status} = 'waiting' then ${webhookDeliveries.dueAt} end`
    .mapWith(readMoment)
    .as('next_attempt_at');

const { id, endpointId, eventId, eventType, status, createdAt, endedAt } = webhookDeliveries;
const shape = { id, webhookId: endpointId, eventId, eventType, status, nextAttemptAt, createdAt, endedAt, attempts };

export type WebhookDelivery = RowOf<
  typeof WEBHOOK_DELIVERY,
  Pick<Row, 'id' | 'eventId' | 'eventType' | 'status' | 'createdAt' | 'endedAt'> & {
    webhookId: WebhookEndpointId;
    nextAttemptAt: Date | null;
    attempts: Attempt[];
  }
>;

type OfEndpoint = { endpointId: WebhookEndpointId; status: DeliveryStatus | null };

const hasStatus = ($: Values<Pick<OfEndpoint, 'status'>>) =>
  sql`(${$.status}::text is null or ${webhookDeliveries.status} = ${$.status})`;

export const listWebhookDeliveries = listing({
  keys: { createdAt, id },
  order: 'newest first',
  rows: (db, $: Values<OfEndpoint>, within) =>
    db
      .select(shape)
      .from(webhookDeliveries)
      .where(and(eq(endpointId, $.endpointId), hasStatus($), within))
      .$dynamic(),
});

type OfMany = { endpointIds: string; status: DeliveryStatus | null };
type Rows = (db: Db, values: OfMany) => Promise<{ id: WebhookEndpointId; found: unknown[][] }[]>;

const pages = remembering<Rows>();
/** As the page's own select names its columns. */
const ofPage = {
  ...shape,
  attempts: sql<Attempt[]>`"webhook_deliveries"."attempts"`.mapWith(readAttempts).as('attempts'),
  nextAttemptAt: sql<Date | null>`"webhook_deliveries"."next_attempt_at"`.mapWith(readMoment).as('next_attempt_at'),
};
const read = jsonReader<WebhookDelivery>(ofPage);

const EACH = sql`asked.id`;

function pagesOf(size: number, isAfter: boolean): Rows {
  return pages(
    `${size} ${isAfter}`,
    () =>
      statement((db, $: Values<OfMany>) => {
        const { from, order } = listWebhookDeliveries.partOf({ endpointId: EACH }, $, { size, isAfter });
        const found = sql<
          unknown[][]
        >`(select coalesce(json_agg(${asJson(ofPage)} order by ${order}), '[]') from ${from})`;
        return db.select({ id: sql<WebhookEndpointId>`${EACH}`.as('id'), found: found.as('found') }).from(askedFor($));
      }, 'json') as Rows,
  );
}

const countOfMany = statement((db, $: Values<OfMany>) =>
  db
    .select({
      id: sql<WebhookEndpointId>`${EACH}`.as('id'),
      count: sql<number>`${listWebhookDeliveries.totalOf({ endpointId: EACH }, $)}::int`.as('count'),
    })
    .from(askedFor($)),
);

function askedFor($: Values<OfMany>): SQL {
  return sql`unnest(${$.endpointIds}::text[]) as asked(id)`;
}

/** The same page of what was sent to each endpoint, in one statement; how many there are is one more, if asked for. */
export async function webhookDeliveriesOfMany(
  db: Db,
  endpointIds: readonly WebhookEndpointId[],
  statusWanted: DeliveryStatus | null,
  { size, after }: SamePageRequest,
): Promise<Map<WebhookEndpointId, Page<WebhookDelivery>>> {
  const asked = { endpointIds: asArray(endpointIds), status: statusWanted };
  const isAfter = after !== undefined;
  let counted: Promise<Map<WebhookEndpointId, number>> | undefined;
  const count = async () => new Map((await countOfMany(db, asked)).map((row) => [row.id, row.count]));
  const rows = await pagesOf(size, isAfter)(db, { ...asked, ...positionValues(after) });
  return new Map(
    rows.map((row) => [
      row.id,
      listWebhookDeliveries.pageOf(row.found.map(read), { size, isAfter }, async () =>
        totalOf((await (counted ??= count())).get(row.id)),
      ),
    ]),
  );
}

const insertTest = statement((db, $: Values<Pick<Row, 'id' | 'endpointId' | 'eventId' | 'eventType'>>) =>
  db
    .insert(webhookDeliveries)
    .values({ ...columns($, ['id', 'endpointId', 'eventId', 'eventType']), status: sql`'waiting'`, dueAt: sql`now()` })
    .returning(shape),
);

/** Queues a test, which is an event of no job. */
export async function insertTestDelivery(
  db: Db,
  endpoint: WebhookEndpointId,
  type: DeliveredType,
): Promise<WebhookDelivery> {
  const ids = { id: newId('webhookDelivery'), eventId: newId('event') };
  const [made] = await insertTest(db, { ...ids, endpointId: endpoint, eventType: type });
  if (!made) throw new Error('A test event could not be queued.');
  return made;
}

/** The endpoint of a delivery, whose it is, and whether it is sent to now. */
export const selectEndpointOfDelivery = statement((db, $: Values<{ id: WebhookDeliveryId }>) =>
  db
    .select({ userId: webhookEndpoints.userId, status: webhookEndpoints.status })
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, endpointId))
    .where(and(eq(webhookDeliveries.id, $.id), sql`${webhookEndpoints.deletedAt} is null`)),
);

/**
 * From the first attempt on, at once. One that waits for its next attempt need not wait any longer; one that is just
 * being sent is left alone.
 */
export const redeliver = statement((db, $: Values<{ id: WebhookDeliveryId }>) =>
  db
    .update(webhookDeliveries)
    .set({
      status: sql`'waiting'`,
      endedAt: sql`null`,
      attemptsMade: sql`case when ${status} = 'waiting' then ${webhookDeliveries.attemptsMade} else 0 end`,
      dueAt: sql`case when ${webhookDeliveries.claim} is null then now() else ${webhookDeliveries.dueAt} end`,
    })
    .where(eq(webhookDeliveries.id, $.id))
    .returning(shape),
);

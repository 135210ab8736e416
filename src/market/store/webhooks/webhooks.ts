/** Webhook endpoints and their secrets, which are stored encrypted. */
import { and, eq, isNull, ne, sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { WEBHOOK_ENDPOINT } from '../../rules/entities/webhook.js';
import type { RowOf } from '../../../platform/fields/entity.js';
import type { UserId, WebhookEndpointId } from '../../rules/ids.js';
import type { WebhookPauseReason } from '../../rules/webhooks.js';
import type { Db } from '../../../platform/db/database.js';
import { pagedList } from '../../../platform/db/pages/page.js';
import { asDate, ConvertedColumn } from '../../../platform/db/rows.js';
import { logAccountEvents } from '../events/account-events.js';
import { builder, columns, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { webhookEndpoints, type StoredSecret } from '../tables/webhooks.js';

type Row = typeof webhookEndpoints.$inferSelect;

/** When the newest replaced secret expires. Null if no replaced secret is left. */
const oldSecretEndsAt = new ConvertedColumn<Date | null>(
  sql`(select to_timestamp(max((old->>'endsAt')::float8) / 1000)::timestamptz(3)
    from jsonb_array_elements("webhook_endpoints"."secrets") old where (old->>'endsAt')::float8 > extract(epoch
      from now()) * 1000)`,
  'old_secret_ends_at',
  asDate,
);

const { id, url, eventTypes, accountEventTypes, status, pausedReason, failingSince, createdAt, updatedAt } =
  webhookEndpoints;
const shape = {
  id,
  url,
  eventTypes,
  accountEventTypes,
  status,
  pausedReason,
  failingSince,
  oldSecretEndsAt,
  createdAt,
  updatedAt,
};

export type WebhookEndpoint = RowOf<
  typeof WEBHOOK_ENDPOINT,
  Pick<Row, Exclude<keyof typeof shape, 'oldSecretEndsAt'>> & { oldSecretEndsAt: Date | null }
>;

const isThere = isNull(webhookEndpoints.deletedAt);

export const listWebhookEndpoints = pagedList({
  name: 'listWebhookEndpoints',
  keys: { createdAt, id },
  direction: 'desc',
  fields: shape,
  rows: ($: Placeholders<{ userId: UserId }>, fields, condition) =>
    selectFrom(webhookEndpoints, fields, and(eq(webhookEndpoints.userId, $('userId')), isThere, condition)),
});

export const selectWebhookEndpoint = statement(
  'selectWebhookEndpoint',
  { endpoint: shape, userId: webhookEndpoints.userId },
  ($: Placeholders<{ id: WebhookEndpointId }>, fields) =>
    selectFrom(webhookEndpoints, fields, and(eq(webhookEndpoints.id, $('id')), isThere)),
);

export const lockWebhookEndpoint = statement(
  'lockWebhookEndpoint',
  { endpoint: shape, userId: webhookEndpoints.userId, secrets: webhookEndpoints.secrets },
  ($: Placeholders<{ id: WebhookEndpointId }>, fields) =>
    selectFrom(webhookEndpoints, fields, and(eq(webhookEndpoints.id, $('id')), isThere)).for('no key update'),
);

/** The caller must hold the account's lock. */
export const countWebhookEndpoints = statement(
  'countWebhookEndpoints',
  { count: sql<number>`count(*)::int` },
  ($: Placeholders<{ userId: UserId }>, fields) =>
    selectFrom(webhookEndpoints, fields, and(eq(webhookEndpoints.userId, $('userId')), isThere)),
);

const NEW = ['id', 'userId', 'url', 'eventTypes', 'accountEventTypes', 'secrets', 'keyName'] as const;

const hasSavedSearch = (userId: Placeholder | SQL) => sql`exists (select from saved_searches s
  join contractors c on c.id = s.contractor_id where c.user_id = ${userId})`;

/** The caller must hold the account's lock. */
export const insertWebhookEndpoint = statement(
  'insertWebhookEndpoint',
  shape,
  ($: Placeholders<Pick<Row, (typeof NEW)[number]>>, fields) =>
    builder
      .insert(webhookEndpoints)
      .values({ ...columns($, NEW), status: sql`'active'`, waitsForMatching: hasSavedSearch($('userId')) })
      .returning(fields),
);

/**
 * Call this in the transaction that saves a search, and hold the account's lock. From now on, the person's endpoints
 * get events from the cursor that waits for matching. That cursor is never ahead of the other one, so at most, it
 * repeats events that are already enqueued. The update also locks endpoints that are already waiting, so `stopWaiting`
 * skips them.
 */
export const waitForMatching = statement('waitForMatching', {}, ($: Placeholders<{ userId: UserId }>) =>
  builder
    .update(webhookEndpoints)
    .set({ waitsForMatching: sql`true` })
    .where(and(eq(webhookEndpoints.userId, $('userId')), isThere)),
);

/**
 * Returns endpoints to the other cursor if their owners no longer have saved searches. Does nothing unless both
 * cursors are at the same position. The caller must hold the cursors' lock. Skips endpoints that are locked.
 */
export const stopWaiting = statement('stopWaiting', {}, (_: Placeholders<object>) =>
  builder
    .update(webhookEndpoints)
    .set({ waitsForMatching: sql`false` })
    .where(
      sql`id in (select w.id from webhook_endpoints w where w.waits_for_matching
        and (select position = matched_position from webhook_cursor) and not ${hasSavedSearch(sql`w.user_id`)}
        for no key update skip locked)`,
    ),
);

const EDITED_COLUMNS = ['url', 'eventTypes', 'accountEventTypes', 'status', 'pausedReason'] as const;

export const updateWebhookEndpoint = statement(
  'updateWebhookEndpoint',
  shape,
  ($: Placeholders<Pick<Row, 'id' | (typeof EDITED_COLUMNS)[number]>>, fields) =>
    builder
      .update(webhookEndpoints)
      .set({
        ...columns($, EDITED_COLUMNS),
        // Resuming an endpoint or changing its URL resets its failures.
        failingSince: sql`case when ${webhookEndpoints.status} = ${$('status')}
          and ${webhookEndpoints.url} = ${$('url')} then ${webhookEndpoints.failingSince} end`,
        updatedAt: sql`now()`,
      })
      .where(eq(webhookEndpoints.id, $('id')))
      .returning(fields),
);

export const updateWebhookSecrets = statement(
  'updateWebhookSecrets',
  shape,
  ($: Placeholders<Pick<Row, 'id' | 'secrets' | 'keyName'>>, fields) =>
    builder
      .update(webhookEndpoints)
      .set({ ...columns($, ['secrets', 'keyName']), updatedAt: sql`now()` })
      .where(eq(webhookEndpoints.id, $('id')))
      .returning(fields),
);

export const deleteWebhookEndpoint = statement(
  'deleteWebhookEndpoint',
  { id: webhookEndpoints.id },
  ($: Placeholders<{ id: WebhookEndpointId }>, fields) =>
    builder
      .update(webhookEndpoints)
      .set({ deletedAt: sql`now()` })
      .where(and(eq(webhookEndpoints.id, $('id')), isThere))
      .returning(fields),
);

/** If the endpoint is already paused, its reason doesn't change. */
export const pauseWebhookEndpoint = statement(
  'pauseWebhookEndpoint',
  { id: webhookEndpoints.id, userId: webhookEndpoints.userId, pausedReason: webhookEndpoints.pausedReason },
  ($: Placeholders<{ id: WebhookEndpointId; pausedReason: WebhookPauseReason }>, fields) =>
    builder
      .update(webhookEndpoints)
      .set({ ...columns($, ['pausedReason']), status: sql`'paused'`, updatedAt: sql`now()` })
      .where(and(eq(webhookEndpoints.id, $('id')), eq(webhookEndpoints.status, sql`'active'`)))
      .returning(fields),
);

const REENCRYPTED_AT_ONCE = 100;

const selectEncryptedByOthers = statement(
  'selectEncryptedByOthers',
  { id: webhookEndpoints.id, secrets: webhookEndpoints.secrets },
  ($: Placeholders<{ keyName: string; after: string }>, fields) =>
    selectFrom(
      webhookEndpoints,
      fields,
      and(ne(webhookEndpoints.keyName, $('keyName')), isThere, sql`${webhookEndpoints.id} > ${$('after')}`),
    )
      .orderBy(webhookEndpoints.id)
      .limit(REENCRYPTED_AT_ONCE)
      .for('no key update'),
);

/** If `reencrypt` can't decrypt a secret, it returns undefined, and the stored secret stays unchanged. */
export async function reencryptWebhookSecrets(
  db: Db,
  keyName: string,
  reencrypt: (sealed: string, id: WebhookEndpointId) => string | undefined,
): Promise<number> {
  let reencryptedCount = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const last: string = after;
    after = await db.inTransaction(async (tx) => {
      const endpoints = await selectEncryptedByOthers(tx, { keyName, after: last });
      for (const { id: endpoint, secrets } of endpoints) {
        const reencrypted = secrets.map((secret) => ({ ...secret, sealed: reencrypt(secret.sealed, endpoint) }));
        if (!reencrypted.every((secret): secret is StoredSecret => secret.sealed !== undefined)) continue;
        await updateWebhookSecrets(tx, { id: endpoint, secrets: reencrypted, keyName });
        reencryptedCount += 1;
      }
      return endpoints.at(-1)?.id;
    });
  }
  return reencryptedCount;
}

const pauseEndpointsOf = statement(
  'pauseEndpoints',
  { webhookId: webhookEndpoints.id },
  ($: Placeholders<{ userId: UserId; pausedReason: WebhookPauseReason }>, fields) =>
    builder
      .update(webhookEndpoints)
      .set({ ...columns($, ['pausedReason']), status: sql`'paused'`, updatedAt: sql`now()` })
      .where(sql`${eq(webhookEndpoints.userId, $('userId'))} and ${webhookEndpoints.status} = 'active' and ${isThere}`)
      .returning(fields),
);

/** Pauses all of a person's endpoints, and logs an event for each of them. */
export async function pauseEndpoints(
  tx: Db,
  { userId, pausedReason }: { userId: UserId; pausedReason: WebhookPauseReason },
): Promise<void> {
  const paused = await pauseEndpointsOf(tx, { userId, pausedReason });
  await logAccountEvents(
    tx,
    paused.map(({ webhookId }) => ({ type: 'webhook.paused', userId, data: { webhookId, reason: pausedReason } })),
  );
}

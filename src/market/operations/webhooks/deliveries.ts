/** Lists the deliveries to a webhook endpoint, sends a delivery again, and sends a test event. */
import { z } from 'zod';
import { WEBHOOK_DELIVERY } from '../../rules/entities/webhook.js';
import { refuse } from '../../rules/errors.js';
import { WEBHOOKS } from '../../rules/market-limits.js';
import { TEST_EVENT_TYPE, type WebhookState } from '../../rules/webhooks.js';
import type { WebhookDeliveryId } from '../../rules/ids.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import type { Page } from '../../../platform/db/pages/page.js';
import {
  insertTestDelivery,
  listWebhookDeliveries as deliveriesNewestFirst,
  redeliver as enqueueAgain,
  selectEndpointOfDelivery,
  selectWebhookDelivery,
  type WebhookDelivery,
} from '../../store/webhooks/webhook-deliveries.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { idInPath } from '../../rules/id-fields.js';
import { ownEndpoint, readableEndpoint, requireOwner } from './endpoints.js';

export const DELIVERIES_NEWEST_FIRST = ['time', 'text'] as const;

export const deliveryStatus = WEBHOOK_DELIVERY.schema.shape.status
  .nullish()
  .describe('Only deliveries with this status.');

export const listWebhookDeliveries = operation({
  name: 'webhookDeliveries',
  description:
    'Lists the deliveries to a webhook endpoint, newest first, with their attempts. Deliveries are kept for ' +
    `${WEBHOOKS.deliveriesKeptDays} days.`,
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({
    id: idInPath('webhookEndpoint').describe('The webhook endpoint.'),
    status: deliveryStatus,
    ...pageShape,
  }),
  async run({ db, viewer, include }, { id, status = null, ...page }): Promise<Page<WebhookDelivery>> {
    const request = pageRequest(page, DELIVERIES_NEWEST_FIRST, include);
    await readableEndpoint(db, viewer, id);
    return deliveriesNewestFirst(db, { endpointId: id, status }, request);
  },
});

export async function findDelivery(db: Db, viewer: Viewer, id: WebhookDeliveryId): Promise<WebhookDelivery> {
  const [endpoint] = await selectEndpointOfDelivery(db, { id });
  if (!endpoint) throw noSuchDelivery();
  if (viewer.role !== 'admin') requireOwner(viewer, endpoint);
  const [delivery] = await selectWebhookDelivery(db, { id });
  if (!delivery) throw noSuchDelivery();
  return delivery;
}

export const sendTestEvent = operation({
  name: 'sendTestEvent',
  description:
    'Sends a `webhook.test` event to a webhook endpoint, even if the endpoint doesn’t subscribe to that type. Failed ' +
    'attempts are retried as for any other event.',
  allows: 'signed in',
  budget: 'write',
  input: z.strictObject({ id: idInPath('webhookEndpoint').describe('The webhook endpoint.') }),
  async run({ db, viewer }, { id }): Promise<WebhookDelivery> {
    requireActive(await ownEndpoint(db, viewer, id));
    return insertTestDelivery(db, id, TEST_EVENT_TYPE);
  },
});

export const redeliver = operation({
  name: 'redeliver',
  description:
    'Sends an event to a webhook endpoint again, with the same `webhook-id`. You can redeliver any event, even one ' +
    'that was delivered or failed permanently.',
  allows: 'signed in',
  budget: 'write',
  input: z.strictObject({ id: idInPath('webhookDelivery').describe('The delivery.') }),
  async run({ db, viewer }, { id }): Promise<WebhookDelivery> {
    const [endpoint] = await selectEndpointOfDelivery(db, { id });
    if (!endpoint) throw noSuchDelivery();
    requireOwner(viewer, endpoint);
    requireActive(endpoint);
    const delivery = await enqueueAgain(db, { id, endpointId: endpoint.id });
    if (!delivery) throw noSuchDelivery();
    return delivery;
  },
});

export function requireActive({ status }: { readonly status: WebhookState }): void {
  if (status === 'active') return;
  throw refuse('VALIDATION_FAILED', {
    message: 'This webhook endpoint is paused. Resume it first by setting its status to active.',
  });
}

function noSuchDelivery() {
  return refuse('NOT_FOUND', { message: 'Delivery not found.' });
}

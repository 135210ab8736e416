/** The states of a delivery and of an endpoint. */
import { EVENT_TYPES, type EventType } from './events.js';

export const WEBHOOK_STATES = ['active', 'paused'] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** Why an endpoint is paused. */
export const WEBHOOK_PAUSES = {
  requested: 'Its owner paused it.',
  failing: 'It failed for three days on end.',
  gone: 'It answered 410 Gone.',
  secret_unreadable:
    'The server can no longer read its secret; replace the secret by `rotateWebhookSecret` and resume it.',
  suspended: 'Its owner was suspended; they may resume it once they are restored.',
  account_recovered: 'The account got a new password by mail, or its former address back; its owner may resume it.',
} as const;
export const WEBHOOK_PAUSE_REASONS = Object.keys(WEBHOOK_PAUSES) as (keyof typeof WEBHOOK_PAUSES)[];
export type WebhookPauseReason = keyof typeof WEBHOOK_PAUSES;

export const DELIVERY_STATES = {
  waiting: 'It is still to be sent, or to be sent again.',
  delivered: 'The endpoint answered with a status of 200 to 299.',
  failed: 'All attempts failed.',
  skipped: 'By the time of sending, the event was no longer for the owner of the endpoint.',
} as const;
export const DELIVERY_STATUSES = Object.keys(DELIVERY_STATES) as (keyof typeof DELIVERY_STATES)[];
export type DeliveryStatus = keyof typeof DELIVERY_STATES;

/** The type that `sendTestEvent` sends. No job has such an event. */
export const TEST_EVENT_TYPE = 'webhook.test';
export type DeliveredType = EventType | typeof TEST_EVENT_TYPE;
export const DELIVERED_TYPES: readonly DeliveredType[] = [...EVENT_TYPES, TEST_EVENT_TYPE];

/** The states of webhook deliveries and endpoints. */
import { ACCOUNT_EVENT_TYPES, type AccountEventType } from './account-events.js';
import { EVENT_TYPES, type EventType } from './events.js';

export const WEBHOOK_STATES = ['active', 'paused'] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

export const WEBHOOK_PAUSES = {
  requested: 'The owner paused it.',
  failing: 'Every attempt failed for three days.',
  gone: 'The endpoint returned 410 Gone.',
  secret_unreadable:
    'The server can no longer read the endpoint’s secret. Replace the secret with `rotateWebhookSecret`, then ' +
    'resume the ' +
    'endpoint.',
  suspended: 'The owner was suspended. After the suspension, they can resume the endpoint.',
  account_recovered:
    'The account’s password was reset, or an email change was undone. The owner can resume the endpoint.',
} as const;
export const WEBHOOK_PAUSE_REASONS = Object.keys(WEBHOOK_PAUSES) as (keyof typeof WEBHOOK_PAUSES)[];
export type WebhookPauseReason = keyof typeof WEBHOOK_PAUSES;

export const DELIVERY_STATES = {
  waiting: 'The event is waiting for its first or next attempt.',
  delivered: 'The endpoint returned a status from 200 to 299.',
  failed: 'All attempts failed.',
  skipped: 'When the attempt was due, the endpoint’s owner could no longer see the event.',
} as const;
export const DELIVERY_STATUSES = Object.keys(DELIVERY_STATES) as (keyof typeof DELIVERY_STATES)[];
export type DeliveryStatus = keyof typeof DELIVERY_STATES;

/** The type of the event that `sendTestEvent` sends. No job has an event of this type. */
export const TEST_EVENT_TYPE = 'webhook.test';
export type DeliveredType = EventType | AccountEventType | typeof TEST_EVENT_TYPE;
export const DELIVERED_TYPES: readonly DeliveredType[] = [...EVENT_TYPES, ...ACCOUNT_EVENT_TYPES, TEST_EVENT_TYPE];

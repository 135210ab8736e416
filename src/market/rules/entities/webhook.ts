/** Webhook endpoints, their deliveries, and each delivery's attempts, as the endpoint's owner sees them. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { ACCOUNT_EVENT_TYPES } from '../account-events.js';
import { EVENT_TYPES } from '../events.js';
import { TEXT, WEBHOOKS } from '../market-limits.js';
import { enumOf, timestamp, position, requiredText, text, integer } from '../../../platform/fields/values.js';
import { exampleId, idOf, identifier, idOfAny } from '../id-fields.js';
import { DELIVERED_TYPES, DELIVERY_STATUSES, WEBHOOK_PAUSE_REASONS, WEBHOOK_STATES } from '../webhooks.js';

export const WEBHOOK_ENDPOINT = entity(
  'WebhookEndpoint',
  'A URL that gets events on your jobs and bids, and on your account. Events are signed as described in the Standard ' +
    'Webhooks specification.',
  {
    id: identifier('webhookEndpoint'),
    url: {
      type: requiredText(TEXT.url).meta({ format: 'uri' }),
      description: 'The public https URL that events are sent to.',
      example: 'https://hooks.example.com/jobs',
      written: true,
    },
    eventTypes: {
      type: z.array(enumOf(EVENT_TYPES, 'JobEventType')).max(EVENT_TYPES.length),
      description: 'The types of events to send. An empty list means all types, including those added later.',
      example: ['bid.submitted', 'job.completed'],
      written: true,
    },
    accountEventTypes: {
      type: z.array(enumOf(ACCOUNT_EVENT_TYPES, 'AccountEventType')).max(ACCOUNT_EVENT_TYPES.length),
      description: 'The types of account events to send. An empty list means none.',
      example: ['webhook.failing'],
      written: true,
    },
    status: {
      type: enumOf(WEBHOOK_STATES, 'WebhookStatus'),
      description: 'The endpoint’s status. While the endpoint is paused, events wait. They’re sent once it’s resumed.',
      example: 'active',
      written: true,
    },
    pausedReason: {
      type: enumOf(WEBHOOK_PAUSE_REASONS, 'WebhookPauseReason').nullable(),
      description: 'Why the endpoint is paused. Null while it’s active.',
      example: null,
    },
    failingSince: {
      type: timestamp.nullable(),
      description: 'When the current run of failed attempts began. Null if the last attempt succeeded.',
      example: null,
    },
    oldSecretEndsAt: {
      type: timestamp.nullable(),
      description:
        'When the old secret expires. Until then, events are also signed with the old secret. Null if none is in use.',
      example: null,
    },
    createdAt: { type: timestamp, description: 'When the endpoint was created.' },
    updatedAt: {
      type: timestamp,
      description: 'When the owner last changed the endpoint, or the service last paused it.',
    },
  },
);

export const NEW_WEBHOOK = entity('NewWebhook', 'A webhook endpoint and its new secret.', {
  webhook: { type: WEBHOOK_ENDPOINT.schema, description: 'The endpoint.' },
  secret: {
    type: z.string().meta({ pattern: '^whsec_[0-9A-Za-z+/]{43}=$' }),
    description:
      'The secret for signing events: `whsec_` and 32 bytes in base64, as in Standard Webhooks. It’s shown only once.',
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfKc2E6Q2Q=',
  },
});

export const WEBHOOK_REPLAY = entity('WebhookReplay', 'The result of replaying events to a webhook endpoint.', {
  webhook: { type: WEBHOOK_ENDPOINT.schema, description: 'The endpoint.' },
  replayedCount: {
    type: integer(),
    description:
      'The number of events that will be sent again. New events that are about to be sent for the first time don’t ' +
      'count.',
    example: 3,
  },
  nextAfter: {
    type: position.nullable(),
    description:
      `The position to pass as \`after\` to replay the rest. A call covers up to ` +
      `${WEBHOOKS.replayEventsMax.toLocaleString('en-US')} of your events, including events of types that the ` +
      'endpoint doesn’t get. Null if no events are left.',
    example: null,
  },
});

export const WEBHOOK_ATTEMPT = entity('WebhookAttempt', 'One attempt to send an event to a webhook endpoint.', {
  number: { type: integer(1), description: 'The attempt’s number within the delivery, starting at 1.', example: 1 },
  startedAt: { type: timestamp, description: 'When the attempt started.' },
  durationMs: { type: integer(), description: 'The attempt’s duration, in milliseconds.', example: 84 },
  responseStatus: {
    type: integer().nullable(),
    description: 'The HTTP status of the response. Null if there was no response.',
    example: 204,
  },
  error: {
    type: text(TEXT.line).nullable(),
    description: 'Why the attempt failed. Null if it succeeded.',
    example: null,
  },
  response: {
    type: text(WEBHOOKS.answerCharacters).nullable(),
    description: 'The first characters of the response’s body. Null if there was no response.',
    example: null,
  },
});

export const WEBHOOK_DELIVERY = entity('WebhookDelivery', 'The delivery of an event to a webhook endpoint.', {
  id: identifier('webhookDelivery'),
  webhookId: { type: idOf('webhookEndpoint'), description: 'The endpoint.' },
  eventId: {
    type: idOfAny('event', 'accountEvent'),
    description: 'The event’s ID. Every attempt sends it as the `webhook-id` header, including redeliveries.',
    example: exampleId('event'),
  },
  eventType: {
    type: enumOf(DELIVERED_TYPES, 'WebhookEventType'),
    description: 'The type of the event, or `webhook.test` for a test.',
    example: 'bid.submitted',
  },
  position: {
    type: position.nullable(),
    description: 'The event’s position, as digits. Null for a test event and for deliveries from before release 1.2.',
    example: '4711',
  },
  previousPosition: {
    type: position.nullable(),
    description:
      'The position of the event that was queued for the endpoint before this one. It never changes. Null for the ' +
      'first event and for a test event.',
    example: '4698',
  },
  status: {
    type: enumOf(DELIVERY_STATUSES, 'WebhookDeliveryStatus'),
    description: 'The delivery’s status.',
    example: 'delivered',
  },
  nextAttemptAt: {
    type: timestamp.nullable(),
    description: 'When the next attempt is due. Null once the delivery has ended.',
    example: null,
  },
  createdAt: { type: timestamp, description: 'When the delivery was queued.' },
  endedAt: {
    type: timestamp.nullable(),
    description: 'When the event was delivered, failed permanently, or was skipped. Null until then.',
  },
  attempts: {
    type: z.array(WEBHOOK_ATTEMPT.schema),
    description: `The attempts so far, oldest first. Only the last ${WEBHOOKS.storedAttemptsMax} are kept.`,
  },
});

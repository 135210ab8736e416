/** Webhook endpoints, the deliveries sent to them, and each attempt, as their owner sees them. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { EVENT_TYPES } from '../events.js';
import { TEXT, WEBHOOKS } from '../market-limits.js';
import { enumOf, timestamp, requiredText, text, integer } from '../../../platform/fields/values.js';
import { idOf, identifier } from '../id-fields.js';
import { DELIVERED_TYPES, DELIVERY_STATUSES, WEBHOOK_PAUSE_REASONS, WEBHOOK_STATES } from '../webhooks.js';

export const WEBHOOK_ENDPOINT = entity(
  'WebhookEndpoint',
  'An address to which what happens to one’s jobs and bids is sent, signed as the Standard Webhooks ' +
    'specification says.',
  {
    id: identifier('webhookEndpoint'),
    url: {
      type: requiredText(TEXT.url).meta({ format: 'uri' }),
      description: 'Where events are sent to: a public https address.',
      example: 'https://hooks.example.com/jobs',
      written: true,
    },
    eventTypes: {
      type: z.array(enumOf(EVENT_TYPES, 'JobEventType')).max(EVENT_TYPES.length),
      description: 'The types of events that are sent; all of them, those added later too, if the list is empty.',
      example: ['bid.submitted', 'job.completed'],
      written: true,
    },
    status: {
      type: enumOf(WEBHOOK_STATES, 'WebhookStatus'),
      description: 'Whether events are sent. While it is paused they wait, and are sent when it is resumed.',
      example: 'active',
      written: true,
    },
    pausedReason: {
      type: enumOf(WEBHOOK_PAUSE_REASONS, 'WebhookPauseReason').nullable(),
      description: 'Why it is paused; null while it is active.',
      example: null,
    },
    failingSince: {
      type: timestamp.nullable(),
      description: 'Since when every attempt has failed; null if the last one succeeded.',
      example: null,
    },
    oldSecretEndsAt: {
      type: timestamp.nullable(),
      description: 'Until when a replaced secret signs along with the current one; null if there is none.',
      example: null,
    },
    createdAt: { type: timestamp, description: 'When it was made.' },
    updatedAt: { type: timestamp, description: 'When its owner, or the service by pausing it, last changed it.' },
  },
);

export const NEW_WEBHOOK = entity('NewWebhook', 'A webhook endpoint with the secret that it was just given.', {
  webhook: { type: WEBHOOK_ENDPOINT.schema, description: 'The endpoint.' },
  secret: {
    type: z.string().meta({ pattern: '^whsec_[0-9A-Za-z+/]{43}=$' }),
    description:
      'What events are signed with: `whsec_` and 32 bytes in base64, as Standard Webhooks has it. It is shown ' +
      'this once.',
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfKc2E6Q2Q=',
  },
});

export const WEBHOOK_ATTEMPT = entity('WebhookAttempt', 'One attempt to send an event to a webhook endpoint.', {
  number: { type: integer(1), description: 'The place among the delivery’s attempts, from 1.', example: 1 },
  startedAt: { type: timestamp, description: 'When it began.' },
  durationMs: { type: integer(), description: 'How long it took, in milliseconds.', example: 84 },
  responseStatus: {
    type: integer().nullable(),
    description: 'The HTTP status of the answer; null if there was none.',
    example: 204,
  },
  error: {
    type: text(TEXT.line).nullable(),
    description: 'Why the attempt failed; null if it succeeded.',
    example: null,
  },
  response: {
    type: text(WEBHOOKS.answerCharacters).nullable(),
    description: 'The first characters of the answer’s body; null if there was none.',
    example: null,
  },
});

export const WEBHOOK_DELIVERY = entity('WebhookDelivery', 'An event on its way to a webhook endpoint.', {
  id: identifier('webhookDelivery'),
  webhookId: { type: idOf('webhookEndpoint'), description: 'The endpoint.' },
  eventId: {
    type: idOf('event'),
    description: 'The event, whose identifier is the `webhook-id` of every attempt, redeliveries included.',
  },
  eventType: {
    type: enumOf(DELIVERED_TYPES, 'WebhookEventType'),
    description: 'What happened, or that it is a test.',
    example: 'bid.submitted',
  },
  status: { type: enumOf(DELIVERY_STATUSES, 'WebhookDeliveryStatus'), description: 'Its state.', example: 'delivered' },
  nextAttemptAt: {
    type: timestamp.nullable(),
    description: 'When it is tried next; null once it has ended.',
    example: null,
  },
  createdAt: { type: timestamp, description: 'When it was queued.' },
  endedAt: {
    type: timestamp.nullable(),
    description: 'When it was delivered, failed for good, or was skipped; null before that.',
  },
  attempts: {
    type: z.array(WEBHOOK_ATTEMPT.schema),
    description: `The attempts so far, the oldest first; of more than ${WEBHOOKS.storedAttemptsMax} the last ones.`,
  },
});

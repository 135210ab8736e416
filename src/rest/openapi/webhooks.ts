/** Documents the requests that `market/webhooks/message.ts` creates. */
import { ACCOUNT_EVENT_TYPES } from '../../market/rules/account-events.js';
import { ACCOUNT_EVENT } from '../../market/rules/entities/account-event.js';
import { JOB_EVENT } from '../../market/rules/entities/event.js';
import { entity, type Entity } from '../../platform/fields/entity.js';
import { EVENT_TYPES } from '../../market/rules/events.js';
import { WEBHOOKS } from '../../market/rules/market-limits.js';
import { enumOf, position, timestamp as timestampType } from '../../platform/fields/values.js';
import { idOf, exampleId } from '../../market/rules/id-fields.js';
import { TEST_EVENT_TYPE } from '../../market/rules/webhooks.js';
import { exampleOf } from '../../platform/openapi/answer-schema.js';
import { refTo } from '../../platform/openapi/json-schema.js';

const timestamp = { type: timestampType, description: 'When the event happened.' };

const previousPosition = {
  type: position.nullable(),
  description:
    'The position of the event that was queued for the endpoint before this one. If you haven’t received that event, ' +
    'replay it. The position is the same for all attempts and redeliveries. Null for the first event and for a test ' +
    'event.',
  example: '4698',
};

export const EVENT_MESSAGE = entity('EventMessage', 'The body of an event that’s sent to a webhook endpoint.', {
  type: { type: enumOf(EVENT_TYPES, 'JobEventType'), description: 'The type of event.', example: 'job.published' },
  timestamp,
  data: { type: JOB_EVENT.schema, description: JOB_EVENT.description },
  previousPosition,
});

export const ACCOUNT_EVENT_MESSAGE = entity(
  'AccountEventMessage',
  'The body of an account event that’s sent to a webhook endpoint.',
  {
    type: {
      type: enumOf(ACCOUNT_EVENT_TYPES, 'AccountEventType'),
      description: 'The type of event.',
      example: 'webhook.paused',
    },
    timestamp,
    data: { type: ACCOUNT_EVENT.schema, description: ACCOUNT_EVENT.description },
    previousPosition,
  },
);

const testType = {
  type: enumOf([TEST_EVENT_TYPE], 'TestEventType'),
  description: 'Always `webhook.test`.',
  example: TEST_EVENT_TYPE,
};

export const TEST_MESSAGE = entity('TestMessage', 'The body of a test event that’s sent to a webhook endpoint.', {
  type: testType,
  timestamp,
  data: {
    type: entity('TestEvent', 'The test event.', {
      id: { type: idOf('event'), description: 'Same as the `webhook-id` header.' },
      type: testType,
      webhookId: { type: idOf('webhookEndpoint'), description: 'The endpoint.' },
    }).schema,
    description: 'The test event.',
  },
  previousPosition: { ...previousPosition, example: null },
});

const headersWith = (eventId: string) => [
  header('webhook-id', 'The event’s ID. It’s the same for all attempts and redeliveries.', eventId),
  header('webhook-timestamp', 'When this attempt was sent, in seconds since 1970.', '1772443800'),
  header(
    'webhook-signature',
    'One signature per valid secret, separated by spaces. Each signature is `v1,` followed by a base64 HMAC-SHA256. ' +
      'The HMAC covers the ID, timestamp, and body, joined by dots.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];

function header(name: string, description: string, example: string) {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
}

const ATTEMPTS = WEBHOOKS.retryAfterSeconds.length + 1;

export const WEBHOOKS_SENT = {
  jobEvent: sent(
    'receiveJobEvent',
    'Receive an event',
    'An event on your jobs and bids, as in `GET /v1/events`. An event can arrive more than once, with the same ' +
      '`webhook-id`. It can also arrive after a newer one.',
    EVENT_MESSAGE,
  ),
  accountEvent: sent(
    'receiveAccountEvent',
    'Receive an account event',
    'An event on your account. You get only the types in the endpoint’s `account_event_types`.',
    ACCOUNT_EVENT_MESSAGE,
    exampleId('accountEvent'),
  ),
  testEvent: sent('receiveTestEvent', 'Receive a test event', 'A test event from `sendTestEvent`.', TEST_MESSAGE),
};

function sent(
  operationId: string,
  summary: string,
  description: string,
  message: Entity,
  eventId: string = exampleId('event'),
) {
  return {
    post: {
      operationId,
      summary,
      description:
        `${description} Verify the signature over the raw body, as described at https://www.standardwebhooks.com, ` +
        `and respond within ${WEBHOOKS.attemptMs / 1000} seconds.`,
      tags: ['Webhooks'],
      security: [],
      parameters: headersWith(eventId),
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { $ref: refTo('schemas', message.name) }, example: exampleOf(message) },
        },
      },
      responses: {
        '2XX': { description: 'You received the event. The response body is ignored.' },
        410: { description: 'You don’t want any more events. The endpoint is paused.' },
        default: {
          description: `The attempt failed and is retried with increasing delays, up to ${ATTEMPTS} attempts in all.`,
        },
      },
    },
  };
}

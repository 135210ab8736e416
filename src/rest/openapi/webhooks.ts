/** Documents the requests to a webhook endpoint, as `market/webhooks/message.ts` creates them. */
import { JOB_EVENT } from '../../market/rules/entities/event.js';
import { entity, type Entity } from '../../platform/fields/entity.js';
import { EVENT_TYPES } from '../../market/rules/events.js';
import { WEBHOOKS } from '../../market/rules/market-limits.js';
import { enumOf, timestamp as timestampType } from '../../platform/fields/values.js';
import { idOf, exampleId } from '../../market/rules/id-fields.js';
import { TEST_EVENT_TYPE } from '../../market/rules/webhooks.js';
import { exampleOf } from '../../platform/openapi/answer-schema.js';
import { refTo } from '../../platform/openapi/json-schema.js';

const timestamp = { type: timestampType, description: 'When it happened.' };

export const EVENT_MESSAGE = entity('EventMessage', 'What is sent to a webhook endpoint when something happens.', {
  type: { type: enumOf(EVENT_TYPES, 'JobEventType'), description: 'What happened.', example: 'job.published' },
  timestamp,
  data: { type: JOB_EVENT.schema, description: JOB_EVENT.description },
});

const testType = {
  type: enumOf([TEST_EVENT_TYPE], 'TestEventType'),
  description: 'That it is a test.',
  example: TEST_EVENT_TYPE,
};

export const TEST_MESSAGE = entity('TestMessage', 'What `sendTestEvent` has sent to a webhook endpoint.', {
  type: testType,
  timestamp,
  data: {
    type: entity('TestEvent', 'The test.', {
      id: { type: idOf('event'), description: 'The same as the header `webhook-id`.' },
      type: testType,
      webhookId: { type: idOf('webhookEndpoint'), description: 'The endpoint.' },
    }).schema,
    description: 'The test.',
  },
});

const HEADERS = [
  header('webhook-id', 'The event’s identifier, which attempts and redeliveries share.', exampleId('event')),
  header('webhook-timestamp', 'When it was sent, in seconds since 1970.', '1772443800'),
  header(
    'webhook-signature',
    'A signature by each secret that holds, with spaces between: `v1,` and the HMAC-SHA256 in base64 of identifier, ' +
      'timestamp and body, joined by dots.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];

function header(name: string, description: string, example: string) {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
}

const ATTEMPTS = WEBHOOKS.retryAfterSeconds.length + 1;

/** By each one's name in the document. */
export const WEBHOOKS_SENT = {
  jobEvent: sent(
    'receiveJobEvent',
    'Receive an event',
    'What happened to one’s jobs and bids, as `GET /v1/events` shows it. The same event may come twice, under the ' +
      'same `webhook-id`, and later than a younger one.',
    EVENT_MESSAGE,
  ),
  testEvent: sent('receiveTestEvent', 'Receive a test event', 'What `sendTestEvent` has sent.', TEST_MESSAGE),
};

function sent(operationId: string, summary: string, description: string, message: Entity) {
  return {
    post: {
      operationId,
      summary,
      description:
        `${description} Verify the signature over the bytes that came, as https://www.standardwebhooks.com has it, ` +
        `and answer within ${WEBHOOKS.attemptMs / 1000} seconds.`,
      tags: ['Webhooks'],
      security: [],
      parameters: HEADERS,
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { $ref: refTo('schemas', message.name) }, example: exampleOf(message) },
        },
      },
      responses: {
        '2XX': { description: 'It is received. What the body says does not matter.' },
        410: { description: 'It is not wanted any more: the endpoint is paused.' },
        default: { description: `It failed, and is sent again: ${ATTEMPTS} attempts in all, later and later.` },
      },
    },
  };
}

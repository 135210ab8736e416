/** Account events, which only the account's user can read. Admins can also read about pending email undos. */
import { entity } from '../../../platform/fields/entity.js';
import { enumOf, json, position, timestamp } from '../../../platform/fields/values.js';
import { ACCOUNT_EVENT_TYPES } from '../account-events.js';
import { idOf, identifier } from '../id-fields.js';
import { TEXT } from '../market-limits.js';

export const ACCOUNT_EVENT = entity('AccountEvent', 'An event about an account, not about a job.', {
  id: identifier('accountEvent'),
  position: {
    type: position.nullable(),
    description:
      'The event’s position, as digits. Account events and job events share the same order. Null briefly, until the ' +
      'event is assigned a position.',
    example: '4712',
  },
  type: {
    type: enumOf(ACCOUNT_EVENT_TYPES, 'AccountEventType'),
    description: 'The type of event.',
    example: 'webhook.paused',
  },
  userId: { type: idOf('user'), description: 'The ID of the account’s user.' },
  occurredAt: { type: timestamp, description: 'When the event happened.' },
  data: {
    type: json(TEXT.line),
    description: 'Other details, such as the ID of a webhook endpoint and why it was paused.',
    example: { reason: 'failing' },
  },
});

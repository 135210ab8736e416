/** An account's events, which only its user can read. Admins can also read the email undos that wait for a decision. */
import { entity } from '../../../platform/fields/entity.js';
import { enumOf, json, position, timestamp } from '../../../platform/fields/values.js';
import { ACCOUNT_EVENT_TYPES } from '../account-events.js';
import { idOf, identifier } from '../id-fields.js';
import { TEXT } from '../market-limits.js';

export const ACCOUNT_EVENT = entity('AccountEvent', 'An event that concerns an account and no job.', {
  id: identifier('accountEvent'),
  position: {
    type: position.nullable(),
    description:
      'The event’s position in the same order as the events of all jobs, as digits. Null briefly, until the event is ' +
      'assigned a position.',
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
    description: 'Other details, such as the ID of the webhook endpoint and the reason why it was paused.',
    example: { reason: 'failing' },
  },
});

/** Sends past events to a webhook endpoint again. */
import { z } from 'zod';
import { position } from '../../../platform/fields/values.js';
import { invalidField } from '../../../platform/call/validation.js';
import { idInPath } from '../../rules/id-fields.js';
import { WEBHOOKS } from '../../rules/market-limits.js';
import { replay, type ReplayedEvents } from '../../store/webhooks/webhook-replay.js';
import type { WebhookEndpoint } from '../../store/webhooks/webhooks.js';
import { assertPositionExists } from '../events/events.js';
import { operation } from '../operation.js';
import { requireActive } from './deliveries.js';
import { ownEndpoint } from './endpoints.js';

export interface Replay extends ReplayedEvents {
  readonly webhook: WebhookEndpoint;
}

export const replayEvents = operation({
  name: 'replayEvents',
  description:
    'Sends past events to a webhook endpoint again, with the same `webhook-id`. The replay covers the events after a ' +
    'position that you can read now and that the endpoint subscribes to, even those older than the endpoint. ' +
    `A call covers up to ${WEBHOOKS.replayEventsMax.toLocaleString('en-US')} of your events, oldest first.`,
  allows: 'signed in',
  budget: 'write',
  input: z.strictObject({
    id: idInPath('webhookEndpoint').describe('The webhook endpoint.'),
    after: position.describe('Replays the events after this position.'),
    until: position.nullish().describe('The last position to replay. If omitted, all later events are replayed.'),
  }),
  async run({ db, viewer, caller }, { id, after, until = null }): Promise<Replay> {
    const webhook = await ownEndpoint(db, viewer, id);
    requireActive(webhook);
    await assertPositionExists(db, after);
    if (until !== null) await assertPositionExists(db, until, 'until');
    if (until !== null && BigInt(until) < BigInt(after)) throw invalidField('until', 'must not be before `after`');
    await caller.consume('replay', viewer.userId, 'replays');
    return { webhook, ...(await db.inTransaction((tx) => replay(tx, viewer, webhook, { after, until }))) };
  },
});

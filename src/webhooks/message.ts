/** What is sent for a delivery: the body, as the owner of the endpoint may read the event now, and its signatures. */
import { readEvent } from '../live/readable.js';
import { writeEvent } from '../rest/event-body.js';
import type { Sealer } from '../security/sealing.js';
import { signatureHeaders } from '../security/webhook-signature.js';
import type { ToSend } from '../store/webhook-queue.js';
import { TEST_EVENT_TYPE } from '../rules/webhooks.js';
import type { Posted } from './post.js';

/** Undefined where the event is not, or no longer, for the owner of the endpoint. */
export function bodyOf({ eventType, receiver, found, createdAt, endpointId, eventId }: ToSend): string | undefined {
  if (eventType === TEST_EVENT_TYPE) {
    const data = { id: eventId, type: eventType, webhook_id: endpointId };
    return JSON.stringify({ type: eventType, timestamp: createdAt.toISOString(), data });
  }
  const event = found && readEvent(receiver, found, 'mine');
  if (!event) return undefined;
  return JSON.stringify({ type: event.type, timestamp: event.occurredAt.toISOString(), data: writeEvent(event) });
}

/** The secrets that sign now, the newest first; undefined if the newest cannot be read. */
export function openedSecrets({ secrets, endpointId }: ToSend, sealer: Sealer, now: number): string[] | undefined {
  const inForce = secrets.filter(({ endsAt }) => endsAt === null || endsAt > now);
  const [newest, ...others] = inForce.map(({ sealed }) => sealer.open(sealed, endpointId));
  return newest === undefined ? undefined : [newest, ...others.filter((secret) => secret !== undefined)];
}

export function messageOf({ url, eventId }: ToSend, body: string, secrets: readonly string[], now: number): Posted {
  const timestampSeconds = Math.floor(now / 1000);
  return {
    url,
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'job-marketplace-webhooks',
      ...signatureHeaders(secrets, { id: eventId, timestampSeconds, body }),
    },
  };
}

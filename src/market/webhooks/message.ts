/** Builds a delivery's request. Its body shows the event as the endpoint's owner can read it now. */
import { writeAccountEvent, writeEvent } from './event-body.js';
import type { Encryptor } from '../../platform/security/encryption.js';
import { signatureHeaders } from '../../platform/security/webhook-signature.js';
import type { PendingDelivery } from '../store/webhooks/webhook-attempts.js';
import { readEvent } from '../rules/reading/timeline.js';
import { TEST_EVENT_TYPE, type DeliveredType } from '../rules/webhooks.js';
import type { WebhookMessage } from './post.js';

/** Undefined if the endpoint's owner can no longer read the event. */
export function webhookBody({
  eventType,
  receiver,
  event: eventWithParties,
  accountEvent,
  createdAt,
  endpointId,
  eventId,
  previousPosition,
}: PendingDelivery): string | undefined {
  const write = (type: DeliveredType, timestamp: Date, data: unknown) =>
    JSON.stringify({ type, timestamp: timestamp.toISOString(), data, previous_position: previousPosition });
  if (eventType === TEST_EVENT_TYPE)
    return write(eventType, createdAt, { id: eventId, type: eventType, webhook_id: endpointId });
  if (accountEvent) return write(accountEvent.type, accountEvent.occurredAt, writeAccountEvent(accountEvent));
  const event = eventWithParties ? readEvent(receiver, eventWithParties, 'mine') : undefined;
  return event && write(event.type, event.occurredAt, writeEvent(event));
}

/** The newest secret comes first. Undefined if it can't be decrypted. */
export function decryptSecrets(
  { secrets, endpointId }: PendingDelivery,
  encryptor: Encryptor,
  now: number,
): string[] | undefined {
  const currentSecrets = secrets.filter(({ endsAt }) => endsAt === null || endsAt > now);
  const [newest, ...others] = currentSecrets.map(({ sealed }) => encryptor.decrypt(sealed, endpointId));
  return newest === undefined ? undefined : [newest, ...others.filter((secret) => secret !== undefined)];
}

export function webhookMessage(
  { url, eventId }: PendingDelivery,
  body: string,
  secrets: readonly string[],
  now: number,
): WebhookMessage {
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

/** Signs webhook requests as the Standard Webhooks specification requires: v1, HMAC-SHA256. */
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export interface SignedMessage {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

/** Signs with every secret, because the receiver may have any of them. */
export function signatureHeaders(secrets: readonly string[], { id, timestampSeconds, body }: SignedMessage) {
  const signature = (secret: string) =>
    createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
      .update(`${id}.${timestampSeconds}.${body}`)
      .digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': secrets.map((secret) => `v1,${signature(secret)}`).join(' '),
  };
}

/** Signs webhook requests according to the Standard Webhooks specification: v1, HMAC-SHA256. */
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

/** The headers, with one signature per secret, because the receiver may have any of the secrets. */
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

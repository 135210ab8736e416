/**
 * Tokens for email links. Each one is an HMAC over its email's ID, and only its hash is stored. Any server can still
 * create the same email again, even while JWT_SECRET is being replaced.
 */
import { createHash, createHmac } from 'node:crypto';

export interface LinkTokens {
  tokenOf(mail: string): string;
  /** The token of an email that was created under the current or the previous secret. */
  tokenWithHash(mail: string, hash: string): string | undefined;
}

export function createLinkTokens(secret: string, previousSecret?: string): LinkTokens {
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  const token = (from: string, mail: string) =>
    createHmac('sha256', `links in mails ${from}`).update(mail).digest('base64url');
  return {
    tokenOf: (mail) => token(secret, mail),
    tokenWithHash: (mail, hash) => secrets.map((one) => token(one, mail)).find((one) => hashOfLinkToken(one) === hash),
  };
}

export function hashOfLinkToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

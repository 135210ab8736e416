/**
 * Tokens for email links. Most are an HMAC over their email's ID, and only their hash is stored. Any server can still
 * create the same email again, even while JWT_SECRET is being replaced. A signed token isn't stored at all. It contains
 * what its link does, and it doesn't expire.
 */
import { createHash, createHmac } from 'node:crypto';
import { isSecret } from './secrets.js';

export interface LinkTokens {
  tokenOf(mail: string): string;
  /** The token of an email that was created under the current or the previous secret. */
  tokenWithHash(mail: string, hash: string): string | undefined;
  /** The text must consist of characters that URLs don't escape. */
  sign(text: string): string;
  /** The text of a token that `sign` created under the current or the previous secret. */
  signedText(token: string): string | undefined;
}

export function createLinkTokens(secret: string, previousSecret?: string): LinkTokens {
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  const token = (from: string, mail: string) =>
    createHmac('sha256', `links in mails ${from}`).update(mail).digest('base64url');
  const signature = (from: string, text: string) =>
    createHmac('sha256', `signed links ${from}`).update(text).digest('base64url');
  return {
    tokenOf: (mail) => token(secret, mail),
    tokenWithHash: (mail, hash) => secrets.map((one) => token(one, mail)).find((one) => hashOfLinkToken(one) === hash),
    sign: (text) => `${text}.${signature(secret, text)}`,
    signedText(token) {
      const end = token.lastIndexOf('.');
      const text = token.slice(0, Math.max(end, 0));
      return secrets.some((one) => isSecret(token.slice(end + 1), signature(one, text))) ? text : undefined;
    },
  };
}

export function hashOfLinkToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

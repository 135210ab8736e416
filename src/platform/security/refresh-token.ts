/**
 * Creates a refresh token's successor again without storing any token. The successor's time is the used token's first
 * use. Its 16 bytes are an HMAC over the used token, with the service's key. A client that loses a response, or
 * refreshes in two tabs, gets the same successor again.
 */
import { createHmac } from 'node:crypto';
import { ID_RANDOM_BYTES, idFrom, type PrefixedId } from '../ids.js';

export interface RefreshTokenSettings<P extends string> {
  readonly prefix: P;
  readonly secret: string;
  /** A server that uses or used this secret may have created the successor. */
  readonly previousSecret?: string | undefined;
}

export interface RefreshTokens<P extends string = string> {
  /**
   * Returns one possible successor per secret. A new successor is always the first. For a token that was used before,
   * the stored hash shows which one was issued.
   */
  successorsOf(usedToken: string, firstUsedAt: Date): readonly [PrefixedId<P>, ...PrefixedId<P>[]];
}

export function createRefreshTokens<P extends string>({
  prefix,
  secret,
  previousSecret,
}: RefreshTokenSettings<P>): RefreshTokens<P> {
  const current = keyFrom(secret);
  const others = previousSecret === undefined ? [] : [keyFrom(previousSecret)];
  const successor = (key: Buffer, usedToken: string, firstUsedAt: Date) => {
    const bytes = createHmac('sha256', key).update(usedToken).digest().subarray(0, ID_RANDOM_BYTES);
    return idFrom(prefix, firstUsedAt.getTime(), bytes);
  };
  return {
    successorsOf: (usedToken, firstUsedAt) => [
      successor(current, usedToken, firstUsedAt),
      ...others.map((key) => successor(key, usedToken, firstUsedAt)),
    ],
  };
}

function keyFrom(secret: string): Buffer {
  return createHmac('sha256', secret).update('key of the successors of refresh tokens').digest();
}

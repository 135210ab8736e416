/**
 * A refresh token's successor can be created again although no token is stored. The successor's time is the used
 * token's first use. Its 16 bytes are an HMAC over the used token, with a key that only this service has. So a client
 * that loses a response, or refreshes in two tabs at the same time, gets the same successor again.
 */
import { createHmac } from 'node:crypto';
import { ID_RANDOM_BYTES, idFrom, type PrefixedId } from '../ids.js';

export interface RefreshTokenSettings<P extends string> {
  /** The prefix of every refresh token. */
  readonly prefix: P;
  readonly secret: string;
  /** The previous secret. An instance that uses it, or used it, may have created the successor. */
  readonly previousSecret?: string | undefined;
}

export interface RefreshTokens<P extends string = string> {
  /**
   * Returns the possible successors, one for each secret. A new successor is always the first one. If the token was
   * used earlier, the successor whose hash is stored was issued.
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

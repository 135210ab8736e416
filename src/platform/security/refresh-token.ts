/**
 * The successor of a refresh token can be made again, though no token is stored: its time is that of the used token's
 * first use, and its 16 bytes are an HMAC over the used token by a key that only this service has. So a client that
 * lost the answer to a refresh, or refreshed in two tabs at once, gets the same successor again.
 */
import { createHmac } from 'node:crypto';
import { ID_RANDOM_BYTES, idFrom, type PrefixedId } from '../ids.js';

export interface RefreshTokenSettings<P extends string> {
  /** What every refresh token begins with. */
  readonly prefix: P;
  readonly secret: string;
  /** An instance whose secret is or was this one may have made the successor. */
  readonly previousSecret?: string | undefined;
}

export interface RefreshTokens<P extends string = string> {
  /** The first is the one to give out now. For an earlier use, the one that is stored was given out. */
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

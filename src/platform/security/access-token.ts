/**
 * Access tokens: short-lived JWTs with HS256 only. jsonwebtoken checks the signature. This file also rejects a missing
 * `exp`, one-byte secrets, string payloads, and audience lists.
 */
import { createHmac, createSecretKey, type KeyObject, createHash, randomInt } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { ACCESS_TOKEN } from '../caller-limits.js';

export interface AccessTokenSettings<B extends Bearer> {
  readonly secret: string;
  /** Verifies tokens but signs none, so you can change the secret without logging users out. */
  readonly previousSecret?: string | undefined;
  readonly issuer: string;
  readonly audience: string;
  readonly ttlSeconds: number;
  /** True if this service could have issued a token with these claims. */
  isBearer(this: void, claims: Readonly<Record<keyof Bearer, unknown>>): claims is B;
  /** The time in milliseconds since 1970. */
  readonly now?: () => number;
}

export interface Bearer {
  readonly userId: string;
  readonly sessionId: string;
  readonly role: string;
}

export type Claims<B extends Bearer = Bearer> = B & { readonly expiresAtSeconds: number };

export interface SignedToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Why a token is rejected. Only a token with a valid signature is 'expired' or 'issued_in_future'. */
export type TokenProblem = 'malformed' | 'invalid' | 'expired' | 'issued_in_future';

export interface AccessTokens<B extends Bearer = Bearer> {
  sign(bearer: B): SignedToken;
  /** The claims of a valid token, or the reason to reject it. */
  verify(token: string): Claims<B> | TokenProblem;
}

const SECRET_BYTES_MIN = 32;

export function createAccessTokens<B extends Bearer>(settings: AccessTokenSettings<B>): AccessTokens<B> {
  const { secret, previousSecret, issuer, audience, ttlSeconds, isBearer, now = Date.now } = settings;
  const signing = signingKey(secret);
  const keys = keysByHeader(previousSecret === undefined ? [signing] : [signing, signingKey(previousSecret)]);
  const nowSeconds = () => Math.floor(now() / 1000);
  /** A signature stays valid forever, so payloads are cached. Each call checks the token's times. */
  const payloads = new LRUCache<string, object>({ max: ACCESS_TOKEN.cachedPayloadsMax });

  function verifiedPayload(token: string): object | undefined {
    const cachedPayload = payloads.get(token);
    if (cachedPayload) return cachedPayload;
    const key = keys.get(headerOf(token));
    const payload = key && signedPayload(token, key, nowSeconds());
    if (!payload || 'nbf' in payload) return payload;
    payloads.set(token, payload);
    return payload;
  }

  return {
    sign({ userId, sessionId, role }) {
      const iat = nowSeconds();
      const exp = iat + ttlSeconds;
      const payload = { iss: issuer, aud: audience, sub: userId, sid: sessionId, role, iat, exp };
      const token = jwt.sign(payload, signing.key, { algorithm: 'HS256', keyid: signing.id });
      return { token, expiresAt: new Date(exp * 1000) };
    },

    verify(token) {
      if (typeof token !== 'string' || token.length > ACCESS_TOKEN.charactersMax) return 'malformed';
      const payload = verifiedPayload(token);
      if (payload) return claimsIn(payload, { issuer, audience, isBearer, nowSeconds: nowSeconds() });
      return THREE_PARTS.test(token) ? 'invalid' : 'malformed';
    },
  };
}

const THREE_PARTS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

interface SigningKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** For a string, jsonwebtoken would build a key object on every call, at fifty times the cost. */
function signingKey(secret: string): SigningKey {
  const bytes = Buffer.from(secret);
  if (bytes.length < SECRET_BYTES_MIN) throw new Error(`A token secret needs at least ${SECRET_BYTES_MIN} bytes.`);
  const key = createSecretKey(bytes);
  // A truncated keyed hash, which reveals no more about the secret than a signature does.
  const id = createHmac('sha256', key).update('key id of access tokens').digest('base64url').slice(0, 11);
  return { id, key };
}

/**
 * All of a secret's tokens share one encoded header, which finds the key. A header with another algorithm, no key ID,
 * or its own key (`jwk`, `x5u`) isn't even decoded.
 */
function keysByHeader(keys: readonly SigningKey[]): Map<string, KeyObject> {
  return new Map(keys.map(({ id, key }) => [headerOf(jwt.sign({}, key, { algorithm: 'HS256', keyid: id })), key]));
}

function headerOf(token: string): string {
  return token.slice(0, token.indexOf('.'));
}

/** `{"` in base64url. jsonwebtoken would treat a JSON string that contains an object as that object. */
const ENCODED_OBJECT = 'eyJ';

function signedPayload(token: string, key: KeyObject, nowSeconds: number): object | undefined {
  if (!token.startsWith(ENCODED_OBJECT, token.indexOf('.') + 1)) return undefined;
  try {
    // The expiry is checked later with the other claims.
    const options = { algorithms: ['HS256' as const], clockTimestamp: nowSeconds, ignoreExpiration: true };
    const payload = jwt.verify(token, key, options);
    return typeof payload === 'object' ? payload : undefined;
  } catch {
    // jsonwebtoken throws a different error for each defect, but callers get one response.
    return undefined;
  }
}

interface ClaimChecks<B extends Bearer> extends Pick<AccessTokenSettings<B>, 'issuer' | 'audience' | 'isBearer'> {
  readonly nowSeconds: number;
}

function claimsIn<B extends Bearer>(
  payload: object,
  { issuer, audience, isBearer, nowSeconds }: ClaimChecks<B>,
): Claims<B> | TokenProblem {
  const { iss, aud, sub, sid, role, iat, exp }: Record<string, unknown> = { ...payload };
  if (iss !== issuer || aud !== audience) return 'invalid';
  if (!isSecond(iat) || !isSecond(exp)) return 'invalid';
  const bearer = { userId: sub, sessionId: sid, role };
  if (!isBearer(bearer)) return 'invalid';
  if (iat > nowSeconds + ACCESS_TOKEN.clockSkewSecondsMax) return 'issued_in_future';
  if (exp <= nowSeconds) return 'expired';
  return { ...bearer, expiresAtSeconds: exp };
}

function isSecond(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** The prefix of API keys. The database stores only a key's SHA-256. */
const API_KEY_PREFIX = 'jmk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const API_KEY_CHARACTERS = 40;
const API_KEY = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${API_KEY_CHARACTERS}}$`);

export function newApiKeySecret(): string {
  return (
    API_KEY_PREFIX + Array.from({ length: API_KEY_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  );
}

export function isApiKeySecret(bearer: string): boolean {
  return API_KEY.test(bearer);
}

export function hashOfApiKey(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

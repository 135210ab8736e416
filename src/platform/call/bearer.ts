/** Who calls, by the bearer token of the Authorization header: an access token of a session, or an API key. */
import type { UnauthenticatedReason } from '../errors.js';
import type { ApiKeyAccess } from '../../market/rules/entities/api-key.js';
import type { ApiKeyId } from '../../market/rules/ids.js';
import type { Bearer, Viewer } from '../../market/rules/viewer.js';
import type { Claims } from '../security/access-token.js';
import { hashOfApiKey, isApiKeySecret } from '../security/api-key.js';
import { findKeyHolder } from '../../market/store/sessions/api-keys.js';
import type { Db } from '../db/database.js';
import { findActiveSession } from '../../market/store/sessions/sessions.js';
import type { Services } from '../../market/operations/services.js';

/** Why there is no viewer, and a message where the usual one, about a session, does not fit. */
export interface NoViewer {
  readonly reason: UnauthenticatedReason;
  readonly message?: string;
  /** What an operator must know and a client need not: the clocks of two instances differ. */
  readonly loggedAs?: 'issued_in_future';
}

export type Credentials =
  | { readonly kind: 'session'; readonly claims: Claims<Bearer> }
  | { readonly kind: 'API key'; readonly secretHash: string }
  | ({ readonly kind: 'none' } & NoViewer);

/** The token is empty if the header holds no bearer token, and undefined if there is no header. */
export function readCredentials({ accessTokens }: Services, token: string | undefined): Credentials {
  if (token === undefined) return { kind: 'none', reason: 'missing' };
  if (isApiKeySecret(token)) return { kind: 'API key', secretHash: hashOfApiKey(token) };
  const claims = accessTokens.verify(token);
  if (claims === 'issued_in_future') return { kind: 'none', reason: 'invalid', loggedAs: claims };
  return typeof claims === 'string' ? { kind: 'none', reason: claims } : { kind: 'session', claims };
}

/** By memory alone: undefined where the database must be asked, as it is for API keys and for admins. */
export function viewerInMemory({ live }: Services, credentials: Credentials): Viewer | undefined {
  if (credentials.kind !== 'session') return undefined;
  const { userId, sessionId } = credentials.claims;
  const viewer = live.activeSessions.find(sessionId);
  // Whoever has just confirmed an email may go on at once, on any instance.
  const isRelied = viewer?.userId === userId && viewer.role !== 'admin' && !viewer.mustVerifyEmail;
  return isRelied ? viewer : undefined;
}

/** The viewer, and the API key that was used, if any, with what it may do. */
export interface CallerIdentity {
  readonly viewer: Viewer;
  readonly apiKey?: ApiKeyId;
  readonly access?: ApiKeyAccess;
}

/** By the database. */
export async function identify(
  services: Services,
  credentials: Credentials,
  db: Db,
): Promise<CallerIdentity | NoViewer> {
  if (credentials.kind === 'none') return credentials;
  if (credentials.kind === 'API key') return identifyByKey(services, credentials.secretHash, db);
  const { claims } = credentials;
  const viewer = await services.live.activeSessions.lookUp(claims.sessionId, async () => {
    const session = await findActiveSession(db, claims);
    return session && { ...session, viewer: withDuties(services, session) };
  });
  return viewer ? { viewer } : { reason: 'session_ended' };
}

interface FoundViewer {
  readonly viewer: Viewer;
  readonly emailVerified: boolean;
}

function withDuties({ requireVerifiedEmail }: Services, { viewer, emailVerified }: FoundViewer): Viewer {
  return requireVerifiedEmail && !emailVerified ? { ...viewer, mustVerifyEmail: true } : viewer;
}

async function identifyByKey(services: Services, secretHash: string, db: Db): Promise<CallerIdentity | NoViewer> {
  const { keyUses } = services;
  const holder = await findKeyHolder(db, secretHash);
  if (typeof holder === 'string') return KEY_PROBLEMS[holder];
  keyUses.note(holder.keyId);
  return { viewer: withDuties(services, holder), apiKey: holder.keyId, access: holder.access };
}

const KEY_PROBLEMS = {
  unknown: { reason: 'invalid', message: 'There is no such API key; create one.' },
  revoked: { reason: 'session_ended', message: 'This API key was revoked; create another.' },
  expired: { reason: 'expired', message: 'This API key has expired; create another.' },
} as const satisfies Record<string, NoViewer>;

/** Authenticates the caller by the Authorization header: an access token of a session, or an API key. */
import type { UNAUTHORIZED } from '../rules/errors.js';
import type { ApiKeyId, UserId } from '../rules/ids.js';
import type { Viewer } from '../rules/viewer.js';
import type { Claims } from '../security/access-token.js';
import { hashOfApiKey, isApiKeySecret } from '../security/api-key.js';
import { findKeyHolder } from '../store/api-keys.js';
import type { Db } from '../store/database.js';
import { findViewer } from '../store/sessions.js';
import type { Services } from './services.js';

/** Why no viewer was found, and a message where the usual one, about a session, does not fit. */
export interface NoViewer {
  readonly reason: keyof (typeof UNAUTHORIZED)['UNAUTHENTICATED'];
  readonly message?: string;
}

export interface Bearer {
  readonly isApiKey: boolean;
  /** When an access token expires; undefined for an API key, whose session ends when the key does. */
  readonly expiresAt: Date | undefined;
  /** The user that the token names, or the key had when it was last found valid; only for the log. */
  claimedUser(): UserId | undefined;
  /** The id of the API key, if it is cached; only for the log. */
  keyId(): ApiKeyId | undefined;
  /** The viewer of the last time when the database found the session active. */
  cached(): Viewer | undefined;
  find(db: Db): Promise<Viewer | NoViewer>;
  /** Called when a session check in another statement has found the cached session active. */
  found(): void;
}

export function readBearer(services: Services, token: string | undefined): Bearer {
  if (token === undefined) return new BadBearer('missing');
  if (isApiKeySecret(token)) return new KeyBearer(services, hashOfApiKey(token));
  const claims = services.accessTokens.verify(token);
  return typeof claims === 'string' ? new BadBearer(claims) : new SessionBearer(services, claims);
}

class BadBearer implements Bearer {
  readonly isApiKey = false;
  readonly expiresAt = undefined;

  constructor(private readonly reason: NoViewer['reason']) {}

  claimedUser(): undefined {}

  keyId(): undefined {}

  cached(): undefined {}

  find(): Promise<NoViewer> {
    return Promise.resolve({ reason: this.reason });
  }

  found(): void {}
}

class SessionBearer implements Bearer {
  readonly isApiKey = false;

  constructor(
    private readonly services: Services,
    private readonly claims: Claims,
  ) {}

  get expiresAt(): Date {
    return new Date(this.claims.expiresAtSeconds * 1000);
  }

  claimedUser(): UserId {
    return this.claims.userId;
  }

  keyId(): undefined {}

  cached(): Viewer | undefined {
    const viewer = this.services.viewers.get(this.claims.sessionId);
    return viewer?.userId === this.claims.userId ? viewer : undefined;
  }

  async find(db: Db): Promise<Viewer | NoViewer> {
    const { userId, sessionId } = this.claims;
    const viewer = await findViewer(db, { userId, sessionId });
    if (viewer) this.services.viewers.set(sessionId, viewer);
    else this.services.viewers.delete(sessionId);
    return viewer ?? { reason: 'session_ended' };
  }

  found(): void {}
}

const KEY_PROBLEMS = {
  unknown: { reason: 'invalid', message: 'There is no such API key; create one.' },
  revoked: { reason: 'session_ended', message: 'This API key was revoked; create another.' },
  expired: { reason: 'expired', message: 'This API key has expired; create another.' },
} as const satisfies Record<string, NoViewer>;

class KeyBearer implements Bearer {
  readonly isApiKey = true;
  readonly expiresAt = undefined;

  constructor(
    private readonly services: Services,
    private readonly secretHash: string,
  ) {}

  claimedUser(): UserId | undefined {
    return this.cached()?.userId;
  }

  keyId(): ApiKeyId | undefined {
    return this.services.keyHolders.get(this.secretHash)?.keyId;
  }

  cached(): Viewer | undefined {
    return this.services.keyHolders.get(this.secretHash)?.viewer;
  }

  async find(db: Db): Promise<Viewer | NoViewer> {
    const { keyHolders } = this.services;
    const holder = await findKeyHolder(db, this.secretHash);
    if (typeof holder === 'string') {
      keyHolders.delete(this.secretHash);
      return KEY_PROBLEMS[holder];
    }
    keyHolders.set(this.secretHash, holder);
    this.found();
    return holder.viewer;
  }

  found(): void {
    const holder = this.services.keyHolders.get(this.secretHash);
    if (holder) this.services.keyUses.note(holder.keyId);
  }
}

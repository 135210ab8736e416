/** Who the Authorization header names: a session by its access token, a program by its API key, or nobody. */
import type { UNAUTHORIZED } from '../rules/errors.js';
import type { ApiKeyId, UserId } from '../rules/ids.js';
import type { Viewer } from '../rules/viewer.js';
import type { Claims } from '../security/access-token.js';
import { hashOfApiKey, isApiKeySecret } from '../security/api-key.js';
import { findKeyHolder } from '../store/api-keys.js';
import type { Db } from '../store/database.js';
import { findViewer } from '../store/sessions.js';
import type { Services } from './services.js';

/** Why nobody is found, and a sentence for a person where the usual one is about a session. */
export interface NobodyFound {
  readonly reason: keyof (typeof UNAUTHORIZED)['UNAUTHENTICATED'];
  readonly message?: string;
}

export interface Bearer {
  readonly isApiKey: boolean;
  /** When an access token ends; undefined for an API key, whose end is that of its session. */
  readonly expiresAt: Date | undefined;
  /** Whose it says to be, or was: for the log alone. */
  claimedUser(): UserId | undefined;
  /** Which API key it is, as far as that is known: for the log alone. */
  keyId(): ApiKeyId | undefined;
  /** Who it was when the database last found it good. */
  cached(): Viewer | undefined;
  find(db: Db): Promise<Viewer | NobodyFound>;
  /** The cached one was found good again, by a statement that had more to do. */
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

  constructor(private readonly reason: NobodyFound['reason']) {}

  claimedUser(): undefined {}

  keyId(): undefined {}

  cached(): undefined {}

  find(): Promise<NobodyFound> {
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

  async find(db: Db): Promise<Viewer | NobodyFound> {
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
} as const satisfies Record<string, NobodyFound>;

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

  async find(db: Db): Promise<Viewer | NobodyFound> {
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

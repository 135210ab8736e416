/** Whom the Authorization header stands for: a session by its access token, a program by its API key, or nobody. */
import type { UNAUTHORIZED } from '../rules/errors.js';
import type { Viewer } from '../rules/viewer.js';
import type { Claims } from '../security/access-token.js';
import { hashOfApiKey, isApiKeySecret } from '../security/api-key.js';
import { findKeyHolder } from '../store/api-keys.js';
import type { Db } from '../store/database.js';
import { findViewer } from '../store/sessions.js';
import type { House } from './house.js';

/** Why nobody is found, and what a person is told where the usual sentence is about a session. */
export interface NobodyFound {
  readonly reason: keyof (typeof UNAUTHORIZED)['UNAUTHENTICATED'];
  readonly message?: string;
}

export interface Bearer {
  readonly isApiKey: boolean;
  /** Who it was when the database last found it good. */
  cached(): Viewer | undefined;
  find(db: Db): Promise<Viewer | NobodyFound>;
  /** The cached one was found good again, by a statement that had more to do. */
  found(): void;
}

export function readBearer(house: House, token: string | undefined): Bearer {
  if (token === undefined) return new BadBearer('missing');
  if (isApiKeySecret(token)) return new KeyBearer(house, hashOfApiKey(token));
  const claims = house.accessTokens.verify(token);
  return typeof claims === 'string' ? new BadBearer(claims) : new SessionBearer(house, claims);
}

class BadBearer implements Bearer {
  readonly isApiKey = false;

  constructor(private readonly reason: NobodyFound['reason']) {}

  cached(): undefined {}

  find(): Promise<NobodyFound> {
    return Promise.resolve({ reason: this.reason });
  }

  found(): void {}
}

class SessionBearer implements Bearer {
  readonly isApiKey = false;

  constructor(
    private readonly house: House,
    private readonly claims: Claims,
  ) {}

  cached(): Viewer | undefined {
    const viewer = this.house.viewers.get(this.claims.sessionId);
    return viewer?.userId === this.claims.userId ? viewer : undefined;
  }

  async find(db: Db): Promise<Viewer | NobodyFound> {
    const { userId, sessionId } = this.claims;
    const viewer = await findViewer(db, { userId, sessionId });
    if (viewer) this.house.viewers.set(sessionId, viewer);
    else this.house.viewers.delete(sessionId);
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

  constructor(
    private readonly house: House,
    private readonly secretHash: string,
  ) {}

  cached(): Viewer | undefined {
    return this.house.keyHolders.get(this.secretHash)?.viewer;
  }

  async find(db: Db): Promise<Viewer | NobodyFound> {
    const { keyHolders } = this.house;
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
    const holder = this.house.keyHolders.get(this.secretHash);
    if (holder) this.house.keyUses.note(holder.keyId);
  }
}

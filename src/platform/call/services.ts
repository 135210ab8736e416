/** The parts of a market that the platform needs: its services and its kind of viewer. */
import type { Logger } from 'pino';
import type { Db, Database } from '../db/database.js';
import type { UnauthenticatedReason } from '../errors.js';
import type { AccessTokens, Claims } from '../security/access-token.js';
import type { Live } from '../live/live.js';
import type { RateBudget, RateLimits } from '../security/rate-limit.js';
import type { Quotas } from '../quotas/quotas.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { RecordedEffects } from './dry-run.js';
import type { StoredAnswers } from './idempotency.js';

export interface FrameViewer {
  readonly userId: string;
  readonly sessionId: string;
  readonly role: string;
}

/** The part of a viewer that an access token names. */
type BearerOf<V extends FrameViewer> = Pick<V, 'userId' | 'sessionId' | 'role'>;

/** Why there is no viewer. Has a message of its own if the usual message, which is about a session, doesn't fit. */
export interface NoViewer {
  readonly reason: UnauthenticatedReason;
  readonly message?: string;
  /**
   * This reason appears only in the log. If two instances' clocks differ, an operator must know, but a client doesn't
   * need to.
   */
  readonly loggedAs?: 'issued_in_future';
}

/** The contents of the Authorization header. */
export type Credentials<V extends FrameViewer = FrameViewer> =
  | { readonly kind: 'session'; readonly claims: Claims<BearerOf<V>> }
  | { readonly kind: 'API key'; readonly secretHash: string }
  | ({ readonly kind: 'none' } & NoViewer);

/** The viewer. Includes the API key and its scope if the viewer used one. */
export interface CallerIdentity<V> {
  readonly viewer: V;
  readonly apiKey?: string;
  readonly onlyReads?: boolean;
}

/** Credentials that name somebody. */
export type GivenCredentials<V extends FrameViewer> = Exclude<Credentials<V>, { readonly kind: 'none' }>;

export interface Viewers<V extends FrameViewer> {
  /** Looks for the viewer only in memory. Returns undefined if the database must be queried. */
  inMemory(credentials: GivenCredentials<V>): V | undefined;
  find(credentials: GivenCredentials<V>, db: Db): Promise<CallerIdentity<V> | NoViewer>;
  /** The viewer of a session that was active at its last lookup. */
  lastKnown(sessionId: V['sessionId']): V | undefined;
}

export interface FrameServices<V extends FrameViewer = FrameViewer> {
  readonly db: Database;
  readonly live: Pick<Live, 'wake' | 'sessions'>;
  readonly quotas: Quotas;
  readonly metrics: Metrics;
  readonly accessTokens: Pick<AccessTokens<BearerOf<V>>, 'verify'>;
  readonly viewers: Viewers<V>;
  readonly rateLimits: RateLimits;
  /** The rate limit with this name. The platform itself consumes `read`, `invalidToken`, and `expiredToken`. */
  budget(name: string): RateBudget;
  /**
   * The text's HMACs. The first one uses the current secret. If JWT_PREVIOUS_SECRET is set, a second one uses that
   * secret.
   */
  hmacs(text: string): readonly string[];
  readonly storedAnswers: StoredAnswers;
  readonly recordedEffects: RecordedEffects;
  readonly log: Logger;
}

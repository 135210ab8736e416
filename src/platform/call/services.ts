/** The services and the viewer that a market provides to the platform. */
import type { Logger } from 'pino';
import type { Db, Database } from '../db/database.js';
import type { Replica } from '../db/stale-reads.js';
import type { Refusal, UnauthenticatedReason } from '../errors.js';
import type { AccessTokens, Claims } from '../security/access-token.js';
import type { Live } from '../live/live.js';
import type { RateBudget, RateLimits } from '../security/rate-limit.js';
import type { Quotas } from '../quotas/quotas.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { RecordedEffects } from './dry-run.js';
import type { StoredAnswers } from './idempotency.js';

export interface PlatformViewer {
  readonly userId: string;
  readonly sessionId: string;
  readonly role: string;
  /** True if what the caller changes is rolled back. Its changes must not let them read anything that is private. */
  readonly isInDryRun?: boolean;
}

type BearerOf<V extends PlatformViewer> = Pick<V, 'userId' | 'sessionId' | 'role'>;

/** Why there is no viewer. The message replaces the usual one, which is about a session. */
export interface NoViewer {
  readonly reason: UnauthenticatedReason;
  readonly message?: string;
  /** A reason for the log only. Operators must know if two servers' clocks differ, but clients don't need to. */
  readonly loggedAs?: 'issued_in_future';
}

export type Credentials<V extends PlatformViewer = PlatformViewer> =
  | { readonly kind: 'session'; readonly claims: Claims<BearerOf<V>> }
  | { readonly kind: 'API key'; readonly secretHash: string }
  | ({ readonly kind: 'none' } & NoViewer);

export interface CallerIdentity<V> {
  readonly viewer: V;
  readonly apiKey?: string;
  readonly onlyReads?: boolean;
}

export type GivenCredentials<V extends PlatformViewer> = Exclude<Credentials<V>, { readonly kind: 'none' }>;

export interface Viewers<V extends PlatformViewer> {
  /** Looks for the viewer only in memory. Undefined if only the database can tell. */
  inMemory(credentials: GivenCredentials<V>): V | undefined;
  find(credentials: GivenCredentials<V>, db: Db): Promise<CallerIdentity<V> | NoViewer>;
  /** The viewer as of the last lookup that found the session active. */
  lastKnown(sessionId: V['sessionId']): V | undefined;
}

export interface PlatformServices<V extends PlatformViewer = PlatformViewer> {
  readonly db: Database;
  readonly live: Pick<Live, 'wake' | 'sessionEnds'>;
  /** Undefined without `DATABASE_REPLICA_URL`. */
  readonly replica?: Replica | undefined;
  readonly quotas: Quotas;
  readonly metrics: Metrics;
  readonly accessTokens: Pick<AccessTokens<BearerOf<V>>, 'verify'>;
  readonly viewers: Viewers<V>;
  readonly rateLimits: RateLimits;
  /** The rate limit with this name. The platform itself uses `read`, `invalidToken`, and `expiredToken`. */
  budget(name: string): RateBudget;
  /** The text's HMACs: under the current secret, and under JWT_PREVIOUS_SECRET if it's set. */
  hmacs(text: string): readonly string[];
  readonly storedAnswers: StoredAnswers;
  readonly recordedEffects: RecordedEffects;
  /** Adds details that only the market knows to a refusal. Runs only for refused calls. */
  describeRefusal?(refusal: Refusal, caller: { readonly viewer: V | null; readonly db: Db }): Promise<void>;
  readonly log: Logger;
}

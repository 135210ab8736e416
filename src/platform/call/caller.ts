/** A request's caller: their credentials, and the rate limits that the request consumes. */
import type { RequestRecord } from '../telemetry/record.js';
import { inWords, NO_BEARER_TOKEN, refuse, unauthenticated } from '../errors.js';
import { hashOfApiKey, isApiKeySecret } from '../security/access-token.js';
import type { RateLimitResult } from '../security/rate-limit.js';
import type { Client } from '../quotas/quota.js';
import type { RequestUnderWay } from '../quotas/quotas.js';
import type { Db, RequestDb } from '../db/database.js';
import { createDryRun, type DryRun } from './dry-run.js';
import type { Credentials, PlatformServices, PlatformViewer, NoViewer } from './services.js';

export interface CallerRequest {
  readonly record: RequestRecord;
  readonly requestId: string;
  /** The client whose quotas count this request. Its user is set once the caller is authenticated. */
  readonly client: Client;
  /** Empty if the Authorization header has no bearer token. Undefined without the header. */
  readonly bearer: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The name that the client program sends for itself. */
  readonly program?: string | null;
}

export interface Consumption {
  refund(): Promise<void>;
}

type BudgetOf<S extends PlatformServices> = Parameters<S['budget']>[0];

export class Caller<V extends PlatformViewer = PlatformViewer, S extends PlatformServices<V> = PlatformServices<V>> {
  /** The rate limits that this request has consumed, for the response headers. */
  readonly rateLimitResults = new Map<string, RateLimitResult>();
  /** The database for calls outside a dry run. Its connections count against the caller's quota. */
  readonly pool: RequestDb;
  dryRun: DryRun | undefined;
  replayed = false;
  /** True if the caller uses a read-only API key. Set once the viewer is known. */
  onlyReads = false;
  readonly client: Client;
  /**
   * The request's place in the quota of requests in progress. Once the user is known, `identify` counts it for the
   * user, and throws if they have too many.
   */
  underWay: Pick<RequestUnderWay, 'identify' | 'end'> | undefined;
  #viewer: Promise<V> | undefined;
  #isFromMemory = false;
  #sessionId: string | undefined;
  #hasEnded = false;
  readonly #credentials: Credentials<V>;

  constructor(
    readonly services: S,
    readonly request: CallerRequest,
  ) {
    this.#credentials = readCredentials(services.accessTokens, request.bearer);
    this.client = request.client;
    if (this.#credentials.kind === 'session') {
      const { sessionId, userId } = this.#credentials.claims;
      request.record.claimedUser = userId;
      if (services.viewers.lastKnown(sessionId)?.userId === userId) this.client.user = userId;
    }
    this.pool = services.db.ofRequest(this.client);
  }

  get hasApiKey(): boolean {
    return this.#credentials.kind === 'API key';
  }

  /** Undefined for an API key. */
  get tokenExpiresAt(): Date | undefined {
    if (this.#credentials.kind !== 'session') return undefined;
    return new Date(this.#credentials.claims.expiresAtSeconds * 1000);
  }

  get db(): Db {
    return this.dryRun?.transaction ?? this.pool;
  }

  beginDryRun(): void {
    this.dryRun = createDryRun(this.pool, this.services.recordedEffects);
  }

  /** Runs a whole request, and then rolls back its dry run, if it started one. */
  async withDryRunEnd<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.services.db.asOneRequest(work);
    } finally {
      await this.dryRun?.end();
    }
  }

  /** Looks up the viewer once per request. `byDatabase` skips the cache. */
  viewer({ byDatabase = false } = {}): Promise<V> {
    if (!this.#viewer || (byDatabase && this.#isFromMemory))
      this.#viewer = this.#authenticate(byDatabase || this.#hasEnded);
    return this.dryRun ? this.#viewer.then((viewer) => ({ ...viewer, isInDryRun: true })) : this.#viewer;
  }

  /**
   * Called when sessions end. If one of them is the caller's own, their next operation checks it in the database.
   * Otherwise, the cached session would still count as active.
   */
  forgetViewerOf(endedSessions: readonly { readonly id: string }[]): void {
    if (!endedSessions.some(({ id }) => id === this.#sessionId)) return;
    this.#viewer = undefined;
    this.#hasEnded = true;
  }

  async #authenticate(byDatabase: boolean): Promise<V> {
    const { viewers } = this.services;
    const credentials = this.#credentials;
    if (credentials.kind === 'none') return this.#refuseCredentials(credentials);
    const inMemory = byDatabase ? undefined : viewers.inMemory(credentials);
    this.#isFromMemory = inMemory !== undefined;
    const identity = inMemory ? { viewer: inMemory } : await viewers.find(credentials, this.db);
    if ('reason' in identity) return this.#refuseCredentials(identity);
    this.#sessionId = identity.viewer.sessionId;
    this.request.record.apiKey = identity.apiKey;
    this.onlyReads = identity.onlyReads === true;
    this.underWay?.identify(identity.viewer.userId);
    return identity.viewer;
  }

  async #refuseCredentials({ reason, message, loggedAs }: NoViewer): Promise<never> {
    this.request.record.reason ??= loggedAs;
    const budget = BUDGETS_OF_BAD_TOKENS[reason];
    if (budget) await this.consume(budget, this.client.address);
    throw unauthenticated(reason, message);
  }

  /** Counts the call against a rate limit, or fails with `retryAfter`. The count can be refunded. */
  async consume(name: BudgetOf<S>, identity: string, counted = 'requests'): Promise<Consumption> {
    const result = await this.tryConsume(name, identity);
    this.rateLimitResults.set(name, result);
    if (!result.allowed) {
      const { retryAfterSeconds: retryAfter } = result;
      const message = `Too many ${counted}. Try again in ${inWords(retryAfter)}.`;
      throw refuse('RATE_LIMITED', { message, details: { retryAfter, limit: name } });
    }
    return {
      refund: () => {
        this.rateLimitResults.delete(name);
        return result.refund();
      },
    };
  }

  /** Consumes the rate limit without reporting it in the response headers. Doesn't fail if the limit is reached. */
  async tryConsume(name: BudgetOf<S>, identity: string): Promise<RateLimitResult> {
    const { rateLimits, metrics } = this.services;
    const result = await rateLimits.consume(this.services.budget(name), identity);
    if (!result.allowed) metrics.recordRateLimit(name);
    return result;
  }
}

/** A call without a token isn't a guess, so it isn't counted. */
const BUDGETS_OF_BAD_TOKENS: Readonly<Record<NoViewer['reason'], 'invalidToken' | 'expiredToken' | undefined>> = {
  missing: undefined,
  malformed: 'invalidToken',
  invalid: 'invalidToken',
  expired: 'expiredToken',
  session_ended: 'invalidToken',
};

function readCredentials<V extends PlatformViewer>(
  accessTokens: PlatformServices<V>['accessTokens'],
  token: string | undefined,
): Credentials<V> {
  if (token === undefined) return { kind: 'none', reason: 'missing' };
  if (token === '') return { kind: 'none', reason: 'malformed', message: NO_BEARER_TOKEN };
  if (isApiKeySecret(token)) return { kind: 'API key', secretHash: hashOfApiKey(token) };
  const claims = accessTokens.verify(token);
  if (claims === 'issued_in_future') return { kind: 'none', reason: 'invalid', loggedAs: claims };
  return typeof claims === 'string' ? { kind: 'none', reason: claims } : { kind: 'session', claims };
}

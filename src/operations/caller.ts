/** The caller of one request: their credentials, and the rate-limit budgets that the request draws on. */
import { createHash } from 'node:crypto';
import type { RequestRecord } from '../record.js';
import { BUDGET_WINDOW_SECONDS, type BudgetName } from '../rules/limits.js';
import { refuse, unauthorized } from '../rules/errors.js';
import type { Viewer } from '../rules/viewer.js';
import { addressIdentity } from '../security/address.js';
import type { RateBudget, Taken } from '../security/rate-limit.js';
import type { Holder } from '../shares/share.js';
import type { RequestUnderWay } from '../shares/shares.js';
import type { Db, SessionCheck, SessionValues } from '../store/database.js';
import { readBearer, type Bearer, type NoViewer } from './bearer.js';
import { createDryRun, type DryRun } from './dry-run.js';
import type { Services } from './services.js';

export interface Request {
  readonly record: RequestRecord;
  readonly requestId: string;
  readonly address: string;
  /** The holder that the shares of this request are counted for; its user is set once it is known. */
  readonly holder: Holder;
  /** The token of the Authorization header: empty if it is no bearer token, undefined if there is no header. */
  readonly bearer: string | undefined;
  /** The value of the Idempotency-Key header. */
  readonly idempotencyKey?: string | undefined;
}

/** A call that was counted in a budget. */
export interface Drawn {
  giveBack(): Promise<void>;
}

/** A session that an earlier request found active, which this request must still check. */
export class CachedSession implements SessionCheck {
  readonly values: SessionValues;
  isDone = false;

  constructor(
    private readonly caller: Caller,
    readonly viewer: Viewer,
  ) {
    this.values = { checkedSession: viewer.sessionId, checkedUser: viewer.userId };
  }

  passed(): void {
    this.isDone = true;
    this.caller.isActive(this.viewer);
  }

  async ask(): Promise<void> {
    if (this.isDone) return;
    await this.caller.viewer();
    this.isDone = true;
  }
}

export class Caller {
  /** The budgets that this request was counted in, for the answer's headers. */
  readonly taken = new Map<BudgetName, Taken>();
  /** The database outside a dry run, on the caller's share of connections. */
  readonly pool: Db;
  /** Set where this request is a dry run. */
  dryRun: DryRun | undefined;
  /** Whether an earlier answer was replayed. */
  replayed = false;
  readonly holder: Holder;
  /** Gets the user once the session is known to be active; throws if the user has too many requests under way. */
  underWay: Pick<RequestUnderWay, 'identify' | 'end'> | undefined;
  #viewer: Promise<Viewer> | undefined;
  readonly #bearer: Bearer;

  constructor(
    readonly services: Services,
    readonly request: Request,
  ) {
    this.#bearer = readBearer(services, request.bearer);
    request.record.claimedUser = this.#bearer.claimedUser();
    request.record.apiKey = this.#bearer.keyId();
    this.holder = request.holder;
    this.holder.user = this.#bearer.cached()?.userId;
    this.pool = services.db.of(this.holder);
  }

  /** Whether the caller has an API key, which may do less than a session. */
  get bearsApiKey(): boolean {
    return this.#bearer.isApiKey;
  }

  /** When the access token expires; undefined for an API key. */
  get tokenExpiresAt(): Date | undefined {
    return this.#bearer.expiresAt;
  }

  /** The database of this request's operations: the pool, or the transaction of the dry run. */
  get db(): Db {
    return this.dryRun?.transaction ?? this.pool;
  }

  keepNothing(): void {
    this.dryRun = createDryRun(this.pool);
  }

  /** Runs a whole request, and then ends its dry run if it became one. */
  async endingDryRun<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.services.db.asOneHolder(work);
    } finally {
      await this.dryRun?.end();
    }
  }

  /**
   * Checks the session against its row once in each request, so that a log-out takes effect at once on all instances.
   */
  viewer(): Promise<Viewer> {
    this.#viewer ??= this.#authenticate();
    return this.#viewer;
  }

  /** The cached session, if this request has not checked it yet. */
  cachedSession(): CachedSession | undefined {
    if (this.#viewer || this.db !== this.pool) return undefined;
    const viewer = this.#bearer.cached();
    return viewer && new CachedSession(this, viewer);
  }

  /** Called when a session check in another statement has found the session active. */
  isActive(viewer: Viewer): void {
    this.#viewer ??= Promise.resolve(viewer);
    this.#bearer.found();
  }

  /** Called after a log-out: the operations that follow in the same request are not authenticated. */
  forgetViewer(): void {
    this.#viewer = undefined;
  }

  async #authenticate(): Promise<Viewer> {
    const found = await this.#bearer.find(this.db);
    if ('reason' in found) return this.#refuseBearer(found);
    this.request.record.apiKey = this.#bearer.keyId();
    this.underWay?.identify(found.userId);
    return found;
  }

  async #refuseBearer({ reason, message }: NoViewer): Promise<never> {
    const budget = BUDGETS_OF_BAD_TOKENS[reason];
    if (budget) await this.draw(budget, addressIdentity(this.request.address));
    throw unauthorized('UNAUTHENTICATED', reason, message);
  }

  /** Counts the call in a budget, or refuses it with `retryAfter`. The count can be given back. */
  async draw(name: BudgetName, identity: string): Promise<Drawn> {
    const { rateLimits, metrics } = this.services;
    const budget = this.#budget(name);
    const taken = await rateLimits.take(budget, identity);
    this.taken.set(name, taken);
    if (!taken.allowed) {
      metrics.rateLimited(name);
      throw refuse('RATE_LIMITED', { details: { retryAfter: taken.retryAfterSeconds, limit: name } });
    }
    return {
      giveBack: () => {
        this.taken.delete(name);
        return rateLimits.giveBack(budget, identity, taken);
      },
    };
  }

  #budget(name: BudgetName): RateBudget {
    return { name, max: this.services.budgets[name], windowSeconds: BUDGET_WINDOW_SECONDS };
  }
}

/** The budget of a caller whose token is invalid. A call without a token is counted in none, since it is no guess. */
const BUDGETS_OF_BAD_TOKENS: Readonly<Record<NoViewer['reason'], BudgetName | undefined>> = {
  missing: undefined,
  malformed: 'invalidToken',
  invalid: 'invalidToken',
  expired: 'expiredToken',
  session_ended: 'invalidToken',
};

/** An identity of fixed length for a text that the client chose. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** One request’s caller as an API found them: who they claim to be, and which budgets they draw on. */
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
import { readBearer, type Bearer, type NobodyFound } from './bearer.js';
import { createDryRun, type DryRun } from './dry-run.js';
import type { Services } from './services.js';

export interface Request {
  readonly record: RequestRecord;
  readonly requestId: string;
  readonly address: string;
  /** Who the shares of this request are counted for: its user is named here once it is known. */
  readonly holder: Holder;
  /** The token of the Authorization header: empty if it is no bearer token, undefined if there is no header. */
  readonly bearer: string | undefined;
  /** The value of the Idempotency-Key header. */
  readonly idempotencyKey?: string | undefined;
}

/** What was taken from a budget. */
export interface Drawn {
  giveBack(): Promise<void>;
}

/** Who a caller was when their session was last found active, which is still to be checked in this request. */
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
  /** The budgets that this request drew on, for the answer's headers. */
  readonly taken = new Map<BudgetName, Taken>();
  /** Where this request reads and writes for real, on its caller's share. */
  readonly pool: Db;
  /** Set once it is known that this request keeps nothing. */
  dryRun: DryRun | undefined;
  /** Whether an answer was an earlier one, given again. */
  replayed = false;
  readonly holder: Holder;
  /** Hears whose request this is once the session is known to be active; throws if they have too many under way. */
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

  /** A program by its key, which may do less than its owner by a session. */
  get bearsApiKey(): boolean {
    return this.#bearer.isApiKey;
  }

  /** When the access token ends; undefined for an API key. */
  get tokenExpiresAt(): Date | undefined {
    return this.#bearer.expiresAt;
  }

  /** Where this request's operations read and write: the pool, or the one transaction of a dry run. */
  get db(): Db {
    return this.dryRun?.transaction ?? this.pool;
  }

  keepNothing(): void {
    this.dryRun = createDryRun(this.pool);
  }

  /** Runs all of a request that may become a dry run, which is over then. */
  async endingDryRun<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.services.db.asOneHolder(work);
    } finally {
      await this.dryRun?.end();
    }
  }

  /** Checked once a request, against the session's row: a log-out anywhere holds everywhere at once. */
  viewer(): Promise<Viewer> {
    this.#viewer ??= this.#authenticate();
    return this.#viewer;
  }

  /** Of a session that was found active by an earlier request and that nobody has checked yet in this one. */
  cachedSession(): CachedSession | undefined {
    if (this.#viewer || this.db !== this.pool) return undefined;
    const viewer = this.#bearer.cached();
    return viewer && new CachedSession(this, viewer);
  }

  /** A statement that had more to do has found the session active. */
  isActive(viewer: Viewer): void {
    this.#viewer ??= Promise.resolve(viewer);
    this.#bearer.found();
  }

  /** After a log-out in the same request, what follows has no caller. */
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

  async #refuseBearer({ reason, message }: NobodyFound): Promise<never> {
    const budget = BUDGETS_OF_BAD_TOKENS[reason];
    if (budget) await this.draw(budget, addressIdentity(this.request.address));
    throw unauthorized('UNAUTHENTICATED', reason, message);
  }

  /** Takes one from a budget, or refuses with when to come back. What was taken can be given back. */
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

/** The budget of a caller whose token is invalid. A caller without a token draws on none, since they guess none. */
const BUDGETS_OF_BAD_TOKENS: Readonly<Record<NobodyFound['reason'], BudgetName | undefined>> = {
  missing: undefined,
  malformed: 'invalidToken',
  invalid: 'invalidToken',
  expired: 'expiredToken',
  session_ended: 'invalidToken',
};

/** An identity for text that a stranger chose, hashed to a fixed length. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

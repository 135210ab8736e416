/**
 * Times and sizes that callers don't see. For the limits that they do see, see `caller-limits.ts`. A query plan's
 * constants are next to its SQL.
 */

/**
 * Postgres notifies every instance of ended sessions. An instance without a recent heartbeat queries the database on
 * every call.
 */
export const SESSIONS_IN_MEMORY = {
  /** This many sessions take about fifteen megabytes. */
  max: 50_000,
  entryAgeMsMax: 30_000,
  heartbeatAgeMsMax: 5_000,
} as const;

/**
 * A call that waits longer gets a 503 from this server before HAProxy gives up on it (`timeout server` in
 * `deploy/haproxy.cfg`).
 */
export const HASHING = { waitMs: 15_000, idleThreadsMax: 2 } as const;

/** The queue of work to do after a commit, on each instance. */
export const QUEUE = {
  /** If there is a place for a due task, the task waits no longer than this. */
  pollEveryMs: 1_000,
  /** How often tasks are claimed even if polls find no due tasks, because a claim may have failed. */
  claimEveryMs: 30_000,
  /** How long a stopping server waits for running tasks. */
  finishWithinMs: 5_000,
  /** The fraction by which a retry's delay may vary. */
  retrySpread: 0.1,
  /** How long a key counts as slow after a slow task. */
  slowForMs: 600_000,
  slowKeysMax: 1_000,
} as const;

/** The database settings, unless the environment says otherwise. */
export const DATABASE = {
  poolSize: 10,
  queueTimeoutMs: 5_000,
  /**
   * If no call has received a response for this fraction of the queue timeout, the database is the reason for a full
   * queue.
   */
  silentPartOfQueueTimeout: 0.4,
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5_000,
  idleInTransactionTimeoutMs: 15_000,
  connectTimeoutSeconds: 5,
  /** How many times a transaction is attempted if it fails with a serialization failure or a deadlock. */
  attempts: 4,
  /** The longest pause before the second attempt. Each later pause can be longer by as much. */
  retryPauseMs: 50,
  migrationTimeoutMs: 600_000,
} as const;

/** Calls queue behind a migration that waits for a lock, so a migration's lock timeout is shorter than a call's. */
export const MIGRATIONS = {
  lockTimeoutMs: 1_000,
  retryAfterMs: 2_000,
  retryForMs: 600_000,
  /** How often an instance checks whether another instance has migrated the database. */
  pollEveryMs: 500,
} as const;

/** These pools are separate from the APIs' pool, so events, deliveries, and calls don't wait for each other. */
export const POOLS = {
  probe: { applicationName: 'job-marketplace probe', poolSize: 1, statementTimeoutMs: 1_000, lockTimeoutMs: 500 },
  events: { applicationName: 'job-marketplace events', poolSize: 2, idleInTransactionTimeoutMs: 1_000 },
  queue: { applicationName: 'job-marketplace queue', poolSize: 2, idleInTransactionTimeoutMs: 5_000 },
} as const;

/**
 * The pause after a batch depends on how long the batch took. Numbering twenty events costs as much as numbering three.
 * So a busy instance numbers more events at a time, and an idle instance numbers them soon.
 */
export const NUMBERING_PAUSE = { timesAsLong: 4, atLeastMs: 5, atMostMs: 20 } as const;

/**
 * The number of events that one short transaction numbers, and the maximum number of events that are counted as
 * waiting.
 */
export const NUMBERING = { eventsAtOnce: 1_000, eventsWaitingMax: 10_000 } as const;

export const LIVE = {
  /**
   * This is longer than any statement or connection attempt takes. If there is no result or heartbeat by then, the
   * connections count as lost.
   */
  answerWithinMs: 11_000,
  batchEventsMax: 500,
} as const;

export const TIMEOUTS = {
  headMs: 10_000,
  /** The time limit for receiving the whole request. */
  requestMs: 30_000,
  /** The time limit for the client to read the whole response. */
  answerMs: 120_000,
  /** How long the client may go without reading any bytes while a response is sent. */
  stalledMs: 30_000,
  idleMs: 65_000,
  /** The time limit for a new WebSocket's client to send `connection_init`. */
  webSocketInitMs: 5_000,
  /** Proxies close a connection that is silent for a minute. */
  webSocketPingMs: 25_000,
  /**
   * A stream ends this long after its access token expires. A client that refreshes the token in time doesn't miss any
   * events.
   */
  afterExpiryMs: 60_000,
  /** When the server stops, unfinished calls are cut off after this time. */
  drainMs: 10_000,
} as const;

/**
 * The time from the stop signal until the process ends, even if the database hasn't responded. The lame-duck period
 * isn't included.
 */
export const STOP_WITHIN_MS = 24_000;

/** Tests use shorter timeouts. */
export type Timeouts = Readonly<Record<keyof typeof TIMEOUTS, number>>;

/** How long a stopping server waits for requests that may be on their way. */
export const DRAINING = {
  /** How long a connection that looks idle stays open. The client may have just sent a request on it. */
  idleConnectionMs: 250,
  /**
   * How long a connection that was never used stays open. Browsers open connections in advance, and a request may still
   * be on its way.
   */
  unusedConnectionMs: 1_000,
  /** After this time, the server stops listening even if new connections keep arriving. */
  acceptMs: 1_000,
} as const;

/**
 * After `failures` failed checks in a row, there is an outage. A single failure may be due to the watch's own
 * connection. A silent database is noticed before the first call has waited too long for a place (`queueTimeoutMs`).
 */
export const DATABASE_WATCH = {
  pollEveryMs: 2_000,
  pollWhileAwayEveryMs: 500,
  lookAgainAfterMs: 100,
  answerWithinMs: 1_250,
  failures: 2,
} as const;

/** The lock timeout of a dry run's transaction, once it holds locks. */
export const DRY_RUN_LOCK_WAIT_MS = 50;

/** How long the server counts as busy after it refuses a call because the whole server is over capacity. */
export const BUSY_AFTER_REFUSAL_MS = 5_000;

/** After a failure or a late response, documents aren't looked up in Redis for `documentPauseMs` milliseconds. */
export const REDIS = { setupTimeoutMs: 1_000, retryIntervalMsMax: 1_000, waitMs: 150, documentPauseMs: 1_000 } as const;

/**
 * A call may be removed from a window's count until this long before the window ends, so the call is never removed from
 * the next window's count.
 */
export const UNCOUNT_UNTIL_MS_BEFORE_END = 1_000;

/** This allows about a thousand typical documents. A syntax tree takes up to a hundred times the memory of its text. */
export const DOCUMENT_CACHE_CHARACTERS_MAX = 500_000;

/**
 * The times and sizes of the server's own services, which callers don't see as limits (see `caller-limits.ts`). The
 * constants of a query plan are next to its SQL. Names include their units.
 */

/**
 * The limits on sessions in memory. An instance learns of a session's end over a connection to Postgres. If the
 * instance hasn't received its own heartbeat recently, it queries the database on every call.
 */
export const SESSIONS_IN_MEMORY = {
  /**
   * How many sessions that the database has found active are in memory. These sessions take about fifteen megabytes.
   */
  max: 50_000,
  /** The maximum age of an entry. An older entry is read from the database again. */
  entryAgeMsMax: 30_000,
  /** The maximum age of the last heartbeat received. */
  heartbeatAgeMsMax: 5_000,
} as const;

/**
 * How long a call may wait for its hash. A call that waits longer gets our 503 before HAProxy gives up on it (`timeout
 * server` in `deploy/haproxy.cfg`).
 */
export const HASHING = { waitMs: 15_000, idleThreadsMax: 2 } as const;

/** The queue of work to do after a commit, on each instance. */
export const QUEUE = {
  /**
   * How often an instance looks for due tasks. If there is a place for a due task, the task waits no longer than this
   * interval.
   */
  pollEveryMs: 1_000,
  /** How often tasks are claimed even if polls find nothing, because a claim may have failed. */
  claimEveryMs: 30_000,
  /** How long a stopping server waits for running tasks. */
  finishWithinMs: 5_000,
  /** The fraction by which a retry's delay may vary. */
  retrySpread: 0.1,
  /** How long a key counts as slow after a slow task, and how many such keys are remembered. */
  slowForMs: 600_000,
  slowKeysMax: 1_000,
} as const;

/** The database settings, unless the environment says otherwise. */
export const DATABASE = {
  poolSize: 10,
  queueTimeoutMs: 5_000,
  /**
   * A part of the queue timeout. If no call has received a response for this long, the database is the reason for a
   * full queue.
   */
  silentPartOfQueueTimeout: 0.4,
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5_000,
  idleInTransactionTimeoutMs: 15_000,
  connectTimeoutSeconds: 5,
  /** How often a transaction is attempted if it fails with a serialization failure or a deadlock. */
  attempts: 4,
  migrationTimeoutMs: 600_000,
} as const;

/**
 * The times of a migration. Calls queue behind a migration that waits for a lock, so its lock timeout is shorter than
 * theirs (`DATABASE.lockTimeoutMs`).
 */
export const MIGRATIONS = {
  lockTimeoutMs: 1_000,
  retryAfterMs: 2_000,
  retryForMs: 600_000,
  /** How often to check whether another instance has migrated the database. */
  pollEveryMs: 500,
} as const;

/**
 * The sizes of pools that are separate from the APIs' pool. As a result, events, deliveries, and calls don't wait for
 * each other.
 */
export const POOLS = {
  probe: { applicationName: 'job-marketplace probe', poolSize: 1, statementTimeoutMs: 1_000, lockTimeoutMs: 500 },
  events: { applicationName: 'job-marketplace events', poolSize: 2, idleInTransactionTimeoutMs: 1_000 },
  queue: { applicationName: 'job-marketplace queue', poolSize: 2, idleInTransactionTimeoutMs: 5_000 },
} as const;

/**
 * The pause after each batch of numbered events, in proportion to how long the batch took. Numbering twenty events
 * costs as much as numbering three. So a busy instance numbers more events at a time, and an idle instance numbers them
 * soon.
 */
export const NUMBERING_PAUSE = { timesAsLong: 4, atLeastMs: 5, atMostMs: 20 } as const;

/** The number of events that one short transaction numbers, and the maximum that is counted as waiting. */
export const NUMBERING = { eventsAtOnce: 1_000, eventsWaitingMax: 10_000 } as const;

export const LIVE = {
  /**
   * How long queries and heartbeats may take, which is longer than a statement or a connection can take. If no query
   * for events returns within this time, or no heartbeat comes back, the connections are lost.
   */
  answerWithinMs: 11_000,
  /** The number of events that one statement reads for an instance's streams. */
  batchEventsMax: 500,
} as const;

/** The timeout of each part of a call. */
export const TIMEOUTS = {
  /** The time until the head of a request has arrived. */
  headMs: 10_000,
  /** The time until the whole request has arrived. */
  requestMs: 30_000,
  /** The time until the client has read the whole response. */
  answerMs: 120_000,
  /** How long the client may go without reading any bytes while a response is sent. */
  stalledMs: 30_000,
  /** The idle time between requests. */
  idleMs: 65_000,
  /** The time until the client of an open WebSocket has sent its `connection_init`. */
  webSocketInitMs: 5_000,
  /** The interval between pings on a WebSocket. Proxies close a connection that is silent for a minute. */
  webSocketPingMs: 25_000,
  /**
   * The time between the expiry of a stream's access token and the end of the stream. A client that refreshes its token
   * within this time loses nothing.
   */
  afterExpiryMs: 60_000,
  /** When the server stops, the time until unfinished calls are cut off. */
  drainMs: 10_000,
} as const;

/**
 * The time from the stop signal until the process ends, even if the database hasn't responded. The lame-duck period
 * isn't included.
 */
export const STOP_WITHIN_MS = 24_000;

/** The same timeouts with other values. Tests use shorter timeouts. */
export type Timeouts = Readonly<Record<keyof typeof TIMEOUTS, number>>;

/** How long a stopping server waits for requests that may be on their way. */
export const DRAINING = {
  /** How long a connection that looks idle stays open, because a client may have just sent a request on it. */
  idleConnectionMs: 250,
  /**
   * How long an unused connection stays open. Browsers open connections in advance, and a request may still be on its
   * way.
   */
  unusedConnectionMs: 1_000,
  /**
   * How long the server accepts queued connections. After this time, it stops listening even if new connections keep
   * arriving.
   */
  acceptMs: 1_000,
} as const;

/**
 * The timing of the database checks. After `failures` failed checks in a row, there is an outage. A single failure may
 * be due to the watch's own connection. A silent database is noticed before the first call has waited too long for a
 * place (`queueTimeoutMs`).
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

/** How long the server counts as busy after it refused a call because the whole server was over capacity. */
export const BUSY_AFTER_REFUSAL_MS = 5_000;

/**
 * How long a call waits for Redis. After a failure or a late response, documents aren't looked up in Redis for a while.
 */
export const REDIS = { setupTimeoutMs: 1_000, retryIntervalMsMax: 1_000, waitMs: 150, documentPauseMs: 1_000 } as const;

/**
 * A call may be removed from a window's count until this long before the window ends, so it's never removed from the
 * next window's count.
 */
export const UNCOUNT_UNTIL_MS_BEFORE_END = 1_000;

/**
 * The total size of validated documents in the cache, which allows about a thousand typical documents. A document's
 * syntax tree takes up to a hundred times the memory of its text.
 */
export const DOCUMENT_CACHE_CHARACTERS_MAX = 500_000;

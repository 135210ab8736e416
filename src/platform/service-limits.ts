/**
 * The times and sizes of the server's own services, which callers don't see as limits (see `caller-limits.ts`).
 * Constants of a query plan are next to their SQL. Names include their units.
 */

/**
 * Sessions in memory. An instance learns of a session's end over a connection to Postgres. If it hasn't received its
 * own heartbeat recently, it queries the database on every call.
 */
export const SESSIONS_IN_MEMORY = {
  /** Sessions that the database has found active: about fifteen megabytes. */
  max: 50_000,
  /** An older entry is read from the database again. */
  entryAgeMsMax: 30_000,
  /** The maximum age of the last heartbeat received. */
  heartbeatAgeMsMax: 5_000,
} as const;

/** A call that waits longer gets our 503, before HAProxy gives up on it (`timeout server` in `deploy/haproxy.cfg`). */
export const HASHING = { waitMs: 15_000, idleThreadsMax: 2 } as const;

/** The queue of work to do after a commit, on each instance. */
export const QUEUE = {
  /** A due task waits no longer than this if there is a place for it. */
  pollEveryMs: 1_000,
  /** A failed claim is repeated after this time, whatever the polls find. */
  claimEveryMs: 30_000,
  /** How long a stopping server waits for running tasks. */
  finishWithinMs: 5_000,
  /** A retry's delay varies by up to this fraction. */
  retrySpread: 0.1,
  /** How long a key counts as slow after a slow task, and how many such keys are remembered. */
  slowForMs: 600_000,
  slowKeysMax: 1_000,
} as const;

/** The database, unless the environment says otherwise. */
export const DATABASE = {
  poolSize: 10,
  queueTimeoutMs: 5_000,
  /** If no call has received a response for this part of the timeout, the database is the reason for a full queue. */
  silentPartOfQueueTimeout: 0.4,
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5_000,
  idleInTransactionTimeoutMs: 15_000,
  connectTimeoutSeconds: 5,
  /** Attempts of a transaction that fails with a serialization failure or a deadlock. */
  attempts: 4,
  migrationTimeoutMs: 600_000,
} as const;

/**
 * Calls queue behind a migration that waits for a lock. This is shorter than the time they'd wait
 * (`DATABASE.lockTimeoutMs`).
 */
export const MIGRATIONS = {
  lockTimeoutMs: 1_000,
  retryAfterMs: 2_000,
  retryForMs: 600_000,
  /** How often to check whether another instance has migrated the database. */
  pollEveryMs: 500,
} as const;

/** Connections separate from the APIs' pool, so that events, deliveries, and calls don't wait for each other. */
export const POOLS = {
  probe: { applicationName: 'job-marketplace probe', poolSize: 1, statementTimeoutMs: 1_000, lockTimeoutMs: 500 },
  events: { applicationName: 'job-marketplace events', poolSize: 2, idleInTransactionTimeoutMs: 1_000 },
  queue: { applicationName: 'job-marketplace queue', poolSize: 2, idleInTransactionTimeoutMs: 5_000 },
} as const;

/**
 * Numbering twenty events costs as much as numbering three. After each batch, the instance pauses in proportion to its
 * duration. A busy instance therefore numbers more events at a time, and an idle one numbers them soon.
 */
export const NUMBERING_PAUSE = { timesAsLong: 4, atLeastMs: 5, atMostMs: 20 } as const;

/** The number of events that one short transaction numbers, and the maximum that is counted as waiting. */
export const NUMBERING = { eventsAtOnce: 1_000, eventsWaitingMax: 10_000 } as const;

export const LIVE = {
  /**
   * Longer than a statement or a connection can take. If no query for events returns within this time, or no heartbeat
   * comes back, the connections are lost.
   */
  answerWithinMs: 11_000,
  /** The number of events that one statement reads for an instance's streams. */
  batchEventsMax: 500,
} as const;

/** Per part of a call. */
export const TIMEOUTS = {
  /** Until the head of a request has arrived. */
  headMs: 10_000,
  /** Until the whole request has arrived. */
  requestMs: 30_000,
  /** Until the client has read the whole response. */
  answerMs: 120_000,
  /** How long the client may go without reading any bytes while a response is sent. */
  stalledMs: 30_000,
  /** Between requests. */
  idleMs: 65_000,
  /** Until the client of an open WebSocket has sent its `connection_init`. */
  webSocketInitMs: 5_000,
  /** Between pings on a WebSocket. Proxies close a connection that is silent for a minute. */
  webSocketPingMs: 25_000,
  /**
   * From the expiry of a stream's access token to the end of the stream. A client that refreshes in time loses nothing.
   */
  afterExpiryMs: 60_000,
  /** When the server stops: until unfinished calls are cut off. */
  drainMs: 10_000,
} as const;

/** From the signal, not counting the lame-duck period. Then the process ends, even if the database hasn't responded. */
export const STOP_WITHIN_MS = 24_000;

/** The tests use shorter ones. */
export type Timeouts = Readonly<Record<keyof typeof TIMEOUTS, number>>;

/** How long a stopping server waits for requests that may be on their way. */
export const DRAINING = {
  /** A client may have just sent a request on a connection that looks idle. */
  idleConnectionMs: 250,
  /** Browsers open connections in advance. A request may still be on its way on one. */
  unusedConnectionMs: 1_000,
  /** The server stops listening after this time, even if new connections keep arriving. */
  acceptMs: 1_000,
} as const;

/**
 * This many failures in a row count as an outage, since a single one may be the watch's own connection. A silent
 * database is noticed before the first call has waited too long for a place (`queueTimeoutMs`).
 */
export const DATABASE_WATCH = {
  pollEveryMs: 2_000,
  pollWhileAwayEveryMs: 500,
  lookAgainAfterMs: 100,
  answerWithinMs: 1_250,
  failures: 2,
} as const;

/** For the dry run's transaction, once it holds locks. */
export const DRY_RUN_LOCK_WAIT_MS = 50;

/** How long the server counts as busy after it refused a call because the whole server was over capacity. */
export const BUSY_AFTER_REFUSAL_MS = 5_000;

/**
 * How long a call waits for Redis. After a failure or a late response, documents aren't looked up there for a while.
 */
export const REDIS = { setupTimeoutMs: 1_000, retryIntervalMsMax: 1_000, waitMs: 150, documentPauseMs: 1_000 } as const;

/** A call may be uncounted until this long before its window ends, so it is never taken out of the next window. */
export const UNCOUNT_UNTIL_MS_BEFORE_END = 1_000;

/**
 * The total size of cached validated documents: about a thousand typical ones. A document's syntax tree takes up to a
 * hundred times the memory of its text.
 */
export const DOCUMENT_CACHE_CHARACTERS_MAX = 500_000;

/**
 * Internal times and sizes. `caller-limits.ts` has the limits that callers see. A query plan's constants are next to
 * its SQL.
 */

/**
 * Postgres notifies every server of ended sessions. A server without a recent heartbeat queries the database on every
 * call.
 */
export const SESSIONS_IN_MEMORY = {
  /** This many sessions take about fifteen megabytes. */
  max: 50_000,
  entryAgeMsMax: 30_000,
  heartbeatAgeMsMax: 5_000,
} as const;

/**
 * A call that waits longer gets this server's 503 before HAProxy gives up (`timeout server` in `deploy/haproxy.cfg`).
 */
export const HASHING = { waitMs: 15_000, idleThreadsMax: 2 } as const;

/** Each server's queue of work to do after a commit. */
export const QUEUE = {
  /** How long a due task may wait if a slot is free. */
  pollEveryMs: 1_000,
  /** Claims tasks this often even if polls find none, because a claim may have failed. */
  claimEveryMs: 30_000,
  /** How long a stopping server waits for running tasks. */
  finishWithinMs: 5_000,
  /** A retry's delay varies by up to this fraction. */
  retrySpread: 0.1,
  /** How long a key counts as slow after a slow task. */
  slowForMs: 600_000,
  slowKeysMax: 1_000,
  /** How long the end of a task waits for a lock at a time, and the pause until it tries again. */
  lockWaitMs: 200,
  lockPauseMs: 1_000,
} as const;

export const DATABASE = {
  poolSize: 10,
  queueTimeoutMs: 5_000,
  /** If no call gets a response for this fraction of the queue timeout, the database caused the full queue. */
  silentPartOfQueueTimeout: 0.4,
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5_000,
  idleInTransactionTimeoutMs: 15_000,
  connectTimeoutSeconds: 5,
  /** How many times to attempt a transaction that fails with a serialization failure or a deadlock. */
  attempts: 4,
  /** The longest pause before the second attempt. Each later pause can be longer by as much. */
  retryPauseMs: 50,
  migrationTimeoutMs: 600_000,
} as const;

/** The replica that serves reads that may be slightly stale (`db/replica.ts`). */
export const REPLICA = {
  pollEveryMs: 1_000,
  /** Shorter than the interval, so checks never overlap. */
  answerWithinMs: 900,
  /** After a longer gap between two of the primary's positions, reads must reach the second one. */
  gapMsMax: 2_500,
  /** The highest DATABASE_REPLICA_LAG_MAX_SECONDS. A write or a task can wait this long for the replica. */
  lagMaxSecondsMax: 20,
  /** How long a user's reads must include their last write. Longer than `lagMaxSecondsMax`. */
  positionKeptSeconds: 30,
  /** This many users' positions take about ten megabytes of an instance's memory. */
  usersMax: 100_000,
  /** How often a write that can't share its position checks if the replica has reached it. */
  waitStepMs: 20,
  /** An instance that gets no other instance's heartbeat for this long is considered the only one. */
  aloneAfterMs: 3_000,
} as const;

/** Shorter than a call's lock timeout, because calls queue behind a migration that waits. */
export const MIGRATIONS = { lockTimeoutMs: 1_000, retryAfterMs: 2_000, retryForMs: 600_000, pollEveryMs: 500 } as const;

/** Calls to the payment provider, and the events that it sends. */
export const PAYMENT_PROVIDER = {
  /** With a retry, a refund's two calls end before HAProxy gives up. */
  timeoutMs: 5_000,
  retriesMax: 1,
  eventBytesMax: 64 * 1024,
  /** The maximum age of an event's signature. */
  signatureSeconds: 300,
} as const;

/** Separate from the APIs' pool, so events, deliveries, and calls don't wait for each other. */
export const POOLS = {
  probe: { applicationName: 'job-marketplace probe', poolSize: 1, statementTimeoutMs: 1_000, lockTimeoutMs: 500 },
  events: { applicationName: 'job-marketplace events', poolSize: 2, idleInTransactionTimeoutMs: 1_000 },
  queue: { applicationName: 'job-marketplace queue', poolSize: 2, idleInTransactionTimeoutMs: 5_000 },
} as const;

/**
 * The pause grows with the time that the batch took. Numbering twenty events costs as much as three. So a busy server
 * numbers larger batches, and an idle server numbers events soon.
 */
export const NUMBERING_PAUSE = { timesAsLong: 4, atLeastMs: 5, atMostMs: 20 } as const;

/** How many events one short transaction numbers, and up to how many waiting events are counted. */
export const NUMBERING = { eventsAtOnce: 1_000, eventsWaitingMax: 10_000 } as const;

export const LIVE = {
  /**
   * Longer than any statement or connection attempt takes. Without a result or heartbeat by then, the connections count
   * as lost.
   */
  answerWithinMs: 11_000,
  batchEventsMax: 500,
} as const;

export const TIMEOUTS = {
  headMs: 10_000,
  /** How long a client may take to send its whole request. */
  requestMs: 30_000,
  /** How long a client may take to read the whole response. */
  answerMs: 120_000,
  /** How long a client may read nothing while a response is sent. */
  stalledMs: 30_000,
  idleMs: 65_000,
  /** How long a new WebSocket's client may take to send `connection_init`. */
  webSocketInitMs: 5_000,
  /** Proxies close a connection that is silent for a minute. */
  webSocketPingMs: 25_000,
  /** How long a stream outlives its access token. A client that refreshes in time misses no events. */
  afterExpiryMs: 60_000,
  /** When the server stops, unfinished calls are cut off after this time. */
  drainMs: 10_000,
} as const;

/**
 * The time from the stop signal to the end of the process, even without a response from the database. Doesn't include
 * the lame-duck period.
 */
export const STOP_WITHIN_MS = 24_000;

/** Tests use shorter timeouts. */
export type Timeouts = Readonly<Record<keyof typeof TIMEOUTS, number>>;

/** How long a stopping server waits for requests that may be on their way. */
export const DRAINING = {
  /** How long an idle connection stays open. The client may have just sent a request on it. */
  idleConnectionMs: 250,
  /**
   * How long an unused connection stays open. Browsers open connections in advance, and a request may be on its way.
   */
  unusedConnectionMs: 1_000,
  /** After this time, the server stops listening even if new connections keep arriving. */
  acceptMs: 1_000,
} as const;

/**
 * An outage starts after `failures` failed checks in a row. A single failure may be a problem with the watch's own
 * connection, not the database. A silent database is detected before any call has waited too long for a slot
 * (`queueTimeoutMs`).
 */
export const DATABASE_WATCH = {
  pollEveryMs: 2_000,
  pollWhileAwayEveryMs: 500,
  pollAgainAfterMs: 100,
  answerWithinMs: 1_250,
  failures: 2,
} as const;

/** The lock timeout of a dry run's transaction once it holds locks. */
export const DRY_RUN_LOCK_WAIT_MS = 50;

/** How long the server counts as busy after refusing a call for lack of capacity. */
export const BUSY_AFTER_REFUSAL_MS = 5_000;

/** After a failure or a late response, document lookups skip Redis for `documentPauseMs`. */
export const REDIS = { setupTimeoutMs: 1_000, retryIntervalMsMax: 1_000, waitMs: 150, documentPauseMs: 1_000 } as const;

/** A refund is allowed until this long before its window ends. Otherwise, it might reduce the next window's count. */
export const UNCOUNT_UNTIL_MS_BEFORE_END = 1_000;

/** Room for about a thousand typical documents. A syntax tree takes up to a hundred times the memory of its text. */
export const DOCUMENT_CACHE_CHARACTERS_MAX = 500_000;

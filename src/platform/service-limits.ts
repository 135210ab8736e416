/**
 * The times and sizes of the server's own services, which callers do not meet as limits (`limits.ts`). Constants of a
 * plan stand beside their SQL. Units are part of the names.
 */

/**
 * Sessions in memory. The end of a session is heard on a connection to Postgres; an instance that has not heard itself
 * there of late asks the database on every call.
 */
export const SESSIONS_IN_MEMORY = {
  /** Of sessions that the database has found active; some fifteen megabytes. */
  max: 50_000,
  /** An older entry is read from the database again. */
  entryAgeMsMax: 30_000,
  /** How old the youngest heartbeat that was heard may be. */
  heartbeatAgeMsMax: 5_000,
} as const;

/** When keys were last used, which is exact to the minute and collected in memory. */
export const API_KEY_USES = { writeEveryMs: 10_000, keysMax: 10_000 } as const;

/** The last of a full queue waits for 256 hashes, which is a minute at cost 12 where there is one at a time. */
export const HASHING = { waitMs: 120_000, idleThreadsMax: 2 } as const;

/** The queue of what is done after a commit, on each instance. */
export const QUEUE = {
  /** A task whose time has come waits no longer than this, if there is a place for it. */
  pollEveryMs: 1_000,
  /** A claim that failed is made again after so long, whatever the looks find. */
  claimEveryMs: 30_000,
  /** A server that stops waits so long for tasks under way. */
  finishWithinMs: 5_000,
  /** A retry comes sooner or later by up to this part of its delay. */
  retrySpread: 0.1,
  /** A key whose task was slow counts as slow for so long, however quick it is meanwhile. So many are kept. */
  slowForMs: 600_000,
  slowKeysMax: 1_000,
} as const;

/** The database, where the environment does not say otherwise. */
export const DATABASE = {
  poolSize: 10,
  queueTimeoutMs: 5_000,
  /** Where no call was answered for so long, a full queue is the doing of the database. */
  silentPartOfQueueTimeout: 0.4,
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5_000,
  idleInTransactionTimeoutMs: 15_000,
  connectTimeoutSeconds: 5,
  /** Of a transaction that failed with a serialization failure or a deadlock. */
  attempts: 4,
  migrationTimeoutMs: 600_000,
} as const;

/** Calls queue behind a migration that waits for a lock: for less than they would wait (`DATABASE.lockTimeoutMs`). */
export const MIGRATIONS = {
  lockTimeoutMs: 1_000,
  retryAfterMs: 2_000,
  retryForMs: 600_000,
  /** Whether another instance has done it. */
  pollEveryMs: 500,
} as const;

/** Connections apart from the pool of the APIs, so that events, deliveries and calls do not wait for each other. */
export const POOLS = {
  probe: { applicationName: 'job-marketplace probe', poolSize: 1, statementTimeoutMs: 1_000, lockTimeoutMs: 500 },
  events: { applicationName: 'job-marketplace events', poolSize: 2, idleInTransactionTimeoutMs: 1_000 },
  queue: { applicationName: 'job-marketplace queue', poolSize: 2, idleInTransactionTimeoutMs: 5_000 },
} as const;

/**
 * A numbering costs as much for twenty events as for three. After each one the instance pauses in proportion to its
 * duration: a busy instance numbers more events at once, and an idle one numbers them soon.
 */
export const NUMBERING_PAUSE = { timesAsLong: 4, atLeastMs: 5, atMostMs: 20 } as const;

/** Events that one statement numbers, which is one short transaction, and that are counted as waiting for a number. */
export const NUMBERING = { eventsAtOnce: 1_000, eventsWaitingMax: 10_000 } as const;

export const LIVE = {
  /**
   * Longer than a statement or a connection can take. If no query for events returns within this time, or no heartbeat
   * comes back, the connections are lost.
   */
  answerWithinMs: 11_000,
  /** Events that one statement reads for the streams of an instance. */
  batchEventsMax: 500,
} as const;

/** Of each part of a call. */
export const TIMEOUTS = {
  /** Until the head of a request has arrived. */
  headMs: 10_000,
  /** Until the whole request has arrived. */
  requestMs: 30_000,
  /** Until the client has read the whole answer. */
  answerMs: 120_000,
  /** While an answer is sent: how long the client may read no byte of it. */
  stalledMs: 30_000,
  /** Between requests. */
  idleMs: 65_000,
  /** Until the client of an open WebSocket has sent its `connection_init`. */
  webSocketInitMs: 5_000,
  /** Between pings of a WebSocket: proxies cut a connection that is silent for a minute. */
  webSocketPingMs: 25_000,
  /** From the expiry of a stream's access token to the stream's end: a client that refreshes in time loses nothing. */
  afterExpiryMs: 60_000,
  /** Once the server stops: until what is still under way is cut. */
  drainMs: 10_000,
} as const;

/** From the signal on, besides the lame duck's time: then the process ends, whatever the database leaves unanswered. */
export const STOP_WITHIN_MS = 24_000;

/** The tests have shorter ones. */
export type Timeouts = Readonly<Record<keyof typeof TIMEOUTS, number>>;

/** How long a server that stops waits for what may be on its way to it. */
export const DRAINING = {
  /** A client may just have sent a request on a connection that looks idle. */
  idleConnectionMs: 250,
  /** Browsers open connections in advance; a request may still be on its way on one. */
  unusedConnectionMs: 1_000,
  /** The server stops listening after so long, even while new connections keep coming. */
  acceptMs: 1_000,
} as const;

/**
 * So many failures in a row count as away, since a single one may be the watch's own connection. A database that falls
 * silent is noticed before the first call has waited in vain for a place at it (`queueTimeoutMs`).
 */
export const DATABASE_WATCH = {
  pollEveryMs: 2_000,
  pollWhileAwayEveryMs: 500,
  lookAgainAfterMs: 100,
  answerWithinMs: 1_250,
  failures: 2,
} as const;

/** Of the dry run's transaction, once it holds locks. */
export const DRY_RUN_LOCK_WAIT_MS = 50;

/**
 * Begins soon after the start, since some servers are replaced within an hour, but not during it. Refresh tokens are
 * kept for days after the end of their session, so that a stolen one is recognized.
 */
export const HOUSEKEEPING = {
  firstAfterMs: 60_000,
  everyMs: 3_600_000,
  keptDaysAfterEnd: 7,
  /** How much one statement deletes, so that it ends long before its timeout. */
  batchRows: 5_000,
  batchesMax: 1_000,
} as const;

/** Figures of the market and the database; a request for the metrics waits so long for the database. */
export const FIGURES = { everyMs: 30_000, lockWaitsEveryMs: 1_000, databaseWaitMs: 1_000 } as const;

/** The server counts as busy for so long after a call was refused because all of it was beyond capacity. */
export const BUSY_AFTER_REFUSAL_MS = 5_000;

/** A call waits so long for Redis. After a failure or a late answer, documents are not looked for there for a while. */
export const REDIS = { setupTimeoutMs: 1_000, retryIntervalMsMax: 1_000, waitMs: 150, documentPauseMs: 1_000 } as const;

/** A call is taken out of its budget's count until so long before its window ends: never out of the next window. */
export const UNCOUNT_UNTIL_MS_BEFORE_END = 1_000;

/**
 * How many characters of validated documents are kept, about a thousand usual documents. The syntax tree of a document
 * takes up to a hundred times the memory of its text.
 */
export const DOCUMENT_CACHE_CHARACTERS_MAX = 500_000;

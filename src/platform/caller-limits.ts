/**
 * One caller's limits in any market: sizes of requests, documents, and streams, and the quotas. `call/caller.ts` counts
 * calls against rate limits, which each market defines.
 */

/** The maximum length of each kind of text field. Notes and longer fields may contain line breaks. */
export const FIELD_TEXT = { note: 5_000, email: 254, url: 2_000, listItems: 50, cursor: 500, timestamp: 40 } as const;

export const PAGE = {
  perPageDefault: 20,
  perPageMax: 100,
  exactTotalMax: 10_000,
  /** The cap on totals in searches by text or place. */
  exactSearchTotalMax: 1_000,
} as const;

/** The limits on errors in one response. Further errors are only counted, and long strings are cut. */
export const ERRORS = { perAnswerMax: 50, textCharactersMax: 500, nameCharactersMax: 100, locationsMax: 5 } as const;

/** The limits of one GraphQL operation. A document that exceeds one doesn't run at all. */
export const GRAPHQL_LIMITS = {
  /** Tokens in the whole document. Parsing stops at this limit. */
  tokens: 1_000,
  /** Lines in the document. To locate an error, GraphQL counts every line before it. */
  lines: 2_000,
  /** Characters in each name. Response keys and errors repeat the names. */
  nameCharacters: 100,
  depth: 12,
  /** The standard introspection query is 15 levels deep. */
  introspectionDepth: 16,
  introspectionAliases: 1,
  aliases: 15,
  rootMutations: 5,
  /** Logins and signups per operation. With aliases, one request could otherwise try a hundred passwords. */
  entries: 1,
  /** Directives in the whole document. Those in a fragment count once. */
  directives: 10,
  /** Selected fields and fragments. Apollo counts a fragment's fields at each use. */
  selections: 1_000,
  /** Comparisons. GraphQL compares every two selections that share a name in an object. Their arguments count too. */
  repeats: 5_000,
  /**
   * The cost in points of `COST_BYTES`, which limits a response to 20 MB. A hundred jobs with twenty bids each cost
   * 2,100.
   */
  cost: 10_000,
} as const;

/**
 * The sizes that determine costs, in bytes of JSON. An object with its short values costs one point. JSON escapes a
 * control character as six bytes.
 */
export const COST_BYTES = { point: 2_000, textCharacter: 6, renamedField: 400 } as const;

/** The limits on documents that clients register by hash. All of them together take about 20 MB at most. */
export const PERSISTED_QUERIES = { documentsMax: 1_000, documentCharactersMax: 20_000 } as const;

export const WEB_SOCKET = {
  messageBytesMax: 32 * 1024,
  /** Messages per window. Pings and pongs count too. */
  messagesPerWindowMax: 120,
  windowSeconds: 10,
  fragmentsMax: 64,
  /** The client chooses the subscription's ID. Every event repeats it. */
  idCharactersMax: 128,
} as const;

export const STREAM = {
  /** How long an event may wait for its turn. In practice, none waits this long. */
  eventWaitMs: 3_600_000,
  /** The number of events buffered for a client that doesn't read. */
  bufferedEventsMax: 500,
  /**
   * How often a server polls for events while notifications arrive. Polling finds the events that a killed server left
   * without a position.
   */
  eventsPollListeningMs: 950,
  /** How often a server polls for events while notifications don't arrive. */
  eventsPollMs: 250,
  /** How often a server checks the sessions of open streams. A notification about an ended session can get lost. */
  sessionsPollMs: 15_000,
  /** How long a client should wait if its stream was refused for lack of room. */
  retryAfterMs: 1_000,
  /** How long a client may take to respond to a close frame. */
  closeTimeoutMs: 3_000,
  /** How long a client that sent too much may take to read the close reason. */
  floodedCloseTimeoutMs: 2_000,
} as const;

/** Far more than a client needs. With more headers, Node drops the last ones, which proxies add. */
export const HEAD = { bytesMax: 16 * 1024, headersMax: 200 } as const;

export const BODY_BYTES_MAX = 128 * 1024;

/** The maximum depth of JSON in a body or a WebSocket message. */
export const JSON_DEPTH_MAX = 32;

export const JSON_NAMES_MAX = 1_000;

/** Each chunk costs as much as a request. After the first `smallMax`, chunks must average at least `bytesMin`. */
export const BODY_CHUNKS = { smallMax: 1_000, bytesMin: 64 } as const;

/** How much of a rejected body to read and discard. Otherwise, the client might never see the response. */
export const DISCARDED_BODY = { bytesMax: 16_000_000, msMax: 10_000 } as const;

export const IDEMPOTENCY_KEY = { charactersMax: 255, keptHours: 24 } as const;

/** Clients and proxies fail on long headers. Above this size, the response links only the next page, or no page. */
export const LINK_HEADER_BYTES_MAX = 8 * 1024;

export const DRY_RUN_EFFECTS_HEADER_BYTES_MAX = 4 * 1024;

export const SESSION = {
  accessTokenSeconds: 15 * 60,
  refreshTokenDays: 30,
  sessionDaysMax: 90,
  /** A program that logs in for each call reaches this after an hour or more. Until then, no other session ends. */
  perAccountMax: 1_000,
  /** Within this time after its first use, a reused token returns the same successor. Later reuse counts as theft. */
  leewaySeconds: 60,
} as const;

/** Verified tokens' payloads are cached. `clockSkewSecondsMax` allows for servers whose clocks run ahead. */
export const ACCESS_TOKEN = { charactersMax: 4_096, cachedPayloadsMax: 5_000, clockSkewSecondsMax: 60 } as const;

/** Quotas keep one caller from using up what others need. The environment sets three of them (`config.ts`). */
export const QUOTAS = {
  connections: { of: 'connections', perAddress: 1_000, total: 10_000 },
  /** Counts WebSockets without subscriptions too. Behind a proxy, each counts against the client's address. */
  webSockets: { of: 'WebSockets', perUser: 20, perAddress: 1_000, total: 8_000 },
  streams: { of: 'streams', perUser: 10, perAddress: 1_000, total: 8_000 },
  requests: { of: 'requests in progress', perUser: 50, perAddress: 200 },
  /** Parsing a large body or a new document can block the event loop for 100 ms. See `HEAVY_READ`. */
  heavyReads: { of: 'large bodies and new documents waiting to be read', perUser: 50, perAddress: 100, total: 500 },
  databaseQueue: { of: 'calls waiting for the database', perUser: 100, perAddress: 500, total: 1_000 },
  hashingQueue: { of: 'passwords waiting to be hashed', perUser: 8, perAddress: 128, total: 256 },
  unreadBytes: { of: 'bytes of unread responses', perUser: 20_000_000, perAddress: 40_000_000, total: 128_000_000 },
} as const;

export type QuotaName = keyof typeof QUOTAS;

/** Larger bodies, and documents that aren't cached, are parsed one at a time. */
export const HEAVY_READ = { bodyBytesMin: 8 * 1024, waitMs: 5_000 } as const;

/** How many requests a client may send ahead on one connection. If it sends more, the server closes the connection. */
export const REQUESTS_AHEAD_MAX = 16;

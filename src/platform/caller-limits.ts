/** What one caller may use in any market: the maximum sizes of requests, documents, and streams, and the quotas. */

/** The maximum length of each kind of text field in any market. Notes and longer texts may contain line breaks. */
export const FIELD_TEXT = { note: 5_000, email: 254, url: 2_000, listItems: 50, cursor: 500, moment: 40 } as const;

export const PAGE = {
  perPageDefault: 20,
  perPageMax: 100,
  exactTotalMax: 10_000,
  /** The cap on totals for searches by text or place. */
  exactSearchTotalMax: 1_000,
} as const;

/**
 * The limits on the errors in one response, in both APIs. Further errors are only counted, and long strings are cut.
 */
export const ERRORS = { perAnswerMax: 50, textCharactersMax: 500, nameCharactersMax: 100, locationsMax: 5 } as const;

/** The limits of one GraphQL operation. If a document exceeds one of them, nothing in it runs. */
export const GRAPHQL_LIMITS = {
  /** The number of tokens in the whole document. Parsing stops at this limit. */
  tokens: 1_000,
  /** The number of lines in the document. To locate an error, GraphQL counts all lines before the error. */
  lines: 2_000,
  /** The length of each name in the document. It's limited because response keys and errors repeat the names. */
  nameCharacters: 100,
  depth: 12,
  /** The depth of an introspection query. The standard introspection query is 15 levels deep. */
  introspectionDepth: 16,
  introspectionAliases: 1,
  aliases: 15,
  rootMutations: 5,
  /**
   * The number of logins and signups. Without this limit, a hundred aliases of a login would be a hundred guesses in
   * one request.
   */
  entries: 1,
  /** The number of directives in the whole document. Directives in a fragment count once. */
  directives: 10,
  /** The number of selected fields and fragments. Apollo counts a fragment's fields each time the fragment is used. */
  selections: 1_000,
  /**
   * The number of comparisons. GraphQL compares every two selections with the same name in one object, and their
   * arguments add to the count.
   */
  repeats: 5_000,
  /**
   * The cost, in points of `COST_BYTES`. A response is then at most 20 MB. A hundred jobs with twenty bids each cost
   * 2,100 points.
   */
  cost: 10_000,
} as const;

/**
 * The sizes from which costs are computed, in bytes of JSON. An object and its short values count as one point. A
 * control character takes six bytes.
 */
export const COST_BYTES = { point: 2_000, textCharacter: 6, renamedField: 400 } as const;

/** The limits on documents that clients register by hash. In total, these documents take at most about 20 MB. */
export const PERSISTED_QUERIES = { documentsMax: 1_000, documentCharactersMax: 20_000 } as const;

/** The assumed length of a list without `first`. A job's list of available actions is the longest one. */
export const UNPAGED_LIST_ENTRIES = 23;

export const WEB_SOCKET = {
  messageBytesMax: 32 * 1024,
  /** The number of messages, including pings and pongs. */
  messagesPerWindowMax: 120,
  windowSeconds: 10,
  /** The number of fragments in one message. */
  fragmentsMax: 64,
  /** The client chooses the subscription's ID, and each of the subscription's events repeats it. */
  idCharactersMax: 128,
} as const;

export const STREAM = {
  /** The time limit for an event to get its turn. In practice, no event waits this long. */
  eventWaitMs: 3_600_000,
  /** The number of events buffered for a client that doesn't read them. */
  bufferedEventsMax: 500,
  /**
   * How often an instance polls for events while notifications arrive. These polls find events that a killed instance
   * left without a position.
   */
  eventsPollListeningMs: 950,
  /** How often an instance polls for events while notifications don't arrive. */
  eventsPollMs: 250,
  /** How often an instance checks the sessions behind its open streams, because a notification may be lost. */
  sessionsPollMs: 15_000,
  /** How long a client should wait before it tries again, if there is no room for its stream. */
  retryAfterMs: 1_000,
  /** How long a client may take to respond to a close frame. */
  closeTimeoutMs: 3_000,
  /** How long a client that sent too much may take to read the reason for the close. */
  floodedCloseTimeoutMs: 2_000,
} as const;

/** These limits are far more than a client needs. With more headers, Node would drop those that a proxy added last. */
export const HEAD = { bytesMax: 16 * 1024, headersMax: 200 } as const;

export const BODY_BYTES_MAX = 128 * 1024;

/** The depth of JSON in a body or a WebSocket message. */
export const JSON_DEPTH_MAX = 32;

/** The number of names in one JSON object. */
export const JSON_NAMES_MAX = 1_000;

/**
 * After the first `smallMax`, chunks must average at least `bytesMin`, because each chunk costs as much as a request.
 */
export const BODY_CHUNKS = { smallMax: 1_000, bytesMin: 64 } as const;

/** How much of a rejected body is read and discarded, so that the response can arrive. */
export const DISCARDED_BODY = { bytesMax: 16_000_000, msMax: 10_000 } as const;

export const IDEMPOTENCY_KEY = { charactersMax: 255, keptHours: 24 } as const;

/** Clients fail on a response with long headers. Above this size, only the next page is linked. */
export const LINK_HEADER_BYTES_MAX = 8 * 1024;

export const DRY_RUN_EFFECTS_HEADER_BYTES_MAX = 4 * 1024;

export const SESSION = {
  accessTokenSeconds: 15 * 60,
  refreshTokenDays: 30,
  sessionDaysMax: 90,
  /** Within this time of its first use, a used token returns the same successor. Any later reuse counts as theft. */
  leewaySeconds: 60,
} as const;

/** The payloads of verified tokens are cached. `clockSkewSecondsMax` allows for instances whose clocks are ahead. */
export const ACCESS_TOKEN = { charactersMax: 4_096, cachedPayloadsMax: 5_000, clockSkewSecondsMax: 60 } as const;

/** Fair quotas keep one caller from using up what others need. The environment sets three of these (`config.ts`). */
export const QUOTAS = {
  connections: { of: 'connections', perAddress: 1_000, total: 10_000 },
  /** All WebSockets, with or without subscriptions. Behind a proxy, they also count against the caller's address. */
  webSockets: { of: 'WebSockets', perUser: 20, perAddress: 1_000, total: 8_000 },
  /** Subscriptions over WebSockets and over server-sent events. */
  streams: { of: 'streams', perUser: 10, perAddress: 1_000, total: 8_000 },
  requests: { of: 'requests in progress', perUser: 50, perAddress: 200 },
  /** Parsing a large body or a new document can block the event loop for up to 100 ms. See `HEAVY_READ`. */
  heavyReads: { of: 'large bodies and new documents waiting to be read', perUser: 50, perAddress: 100, total: 500 },
  databaseQueue: { of: 'calls waiting for the database', perUser: 100, perAddress: 500, total: 1_000 },
  hashingQueue: { of: 'passwords waiting to be hashed', perUser: 8, perAddress: 128, total: 256 },
  unreadBytes: { of: 'bytes of unread responses', perUser: 20_000_000, perAddress: 40_000_000, total: 128_000_000 },
} as const;

export type QuotaName = keyof typeof QUOTAS;

/** Bodies of at least `bodyBytesMin` bytes, and documents that aren't in a cache, are parsed one after another. */
export const HEAVY_READ = { bodyBytesMin: 8 * 1024, waitMs: 5_000 } as const;

/**
 * How many requests a client may send on one connection while an earlier request is in progress. If a client sends
 * more, the connection is closed.
 */
export const REQUESTS_AHEAD_MAX = 16;

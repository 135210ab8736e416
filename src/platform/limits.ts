/** How much of everything one caller may use, whatever the market: sizes of requests, documents and streams, quotas. */

/** The longest of each kind of text that a field of any market may hold. A note and what is longer may span lines. */
export const FIELD_TEXT = { note: 5_000, email: 254, url: 2_000, listItems: 50, cursor: 500, moment: 40 } as const;

export const PAGE = {
  perPageDefault: 20,
  perPageMax: 100,
  bidsPerPageDefault: 100,
  exactTotalMax: 10_000,
  /** Where jobs are searched by a text or a place. */
  exactSearchTotalMax: 1_000,
} as const;

/**
 * How many errors one answer holds, in both APIs. What is beyond `perAnswerMax` is counted, and longer texts are cut.
 */
export const ERRORS = { perAnswerMax: 50, textCharactersMax: 500, nameCharactersMax: 100, locationsMax: 5 } as const;

/** What one GraphQL operation may ask for. Whatever asks for more is refused before any of it runs. */
export const GRAPHQL_LIMITS = {
  /** Of the whole document; reading it stops there. */
  tokens: 1_000,
  /** Of the whole document: for each place that an error names, the lines before it are counted. */
  lines: 2_000,
  /** Of each name in the document: names of answers and of errors repeat it. */
  nameCharacters: 100,
  depth: 12,
  /** The standard introspection query is 15 levels deep. */
  introspectionDepth: 16,
  introspectionAliases: 1,
  aliases: 15,
  rootMutations: 5,
  /** Log-ins and sign-ups: a hundred aliases of a log-in would be a hundred guesses in one request. */
  entries: 1,
  /** Of the whole document, fragments counted once. */
  directives: 10,
  /** Fields and fragments, those of a fragment counted at each of its uses, by Apollo. */
  selections: 1_000,
  /** Pairs of selections with one name in one object, weighed by their arguments: GraphQL compares each with each. */
  repeats: 5_000,
  /** In points of `COST_BYTES`: a hundred jobs with twenty bids are 2,100. */
  cost: 10_000,
} as const;

/**
 * How many bytes of JSON the parts of an answer may take: an object with its short values is a point, and a control
 * character takes six bytes. So the costliest answer is 20 MB.
 */
export const COST_BYTES = { point: 2_000, textCharacter: 6, renamedField: 400 } as const;

/** Documents that clients register by their hash: some twenty megabytes at most. */
export const PERSISTED_QUERIES = { documentsMax: 1_000, documentCharactersMax: 20_000 } as const;

/** The length that a list without `first` counts with: a job's available actions are the longest of them. */
export const UNPAGED_LIST_ENTRIES = 19;

/** What a client may send on its WebSocket. */
export const WEB_SOCKET = {
  messageBytesMax: 32 * 1024,
  /** Pings and pongs among them. */
  messagesPerWindowMax: 120,
  windowSeconds: 10,
  /** Of one message. */
  fragmentsMax: 64,
  /** Of the name that a client gives a subscription, since each of its events repeats it. */
  idCharactersMax: 128,
} as const;

/** Streams of events. */
export const STREAM = {
  /** How long an event may wait for its turn to be sent: longer than any does. */
  eventWaitMs: 3_600_000,
  /** How many events may be buffered for a client that does not take them. */
  bufferedEventsMax: 500,
  /** Events that a killed instance left wait no longer than this while notifications arrive, */
  eventsPollListeningMs: 950,
  /** and all new events while they do not. */
  eventsPollMs: 250,
  /** The sessions behind open streams are looked at so often, since a notification may be lost. */
  sessionsPollMs: 15_000,
  /** A client for whose stream there is no room may try again after so long. */
  retryAfterMs: 1_000,
  /** How long a client may take to answer a close frame. */
  closeTimeoutMs: 3_000,
  /** How long a client that sent too much may take to read the reason of the close. */
  floodedCloseTimeoutMs: 2_000,
} as const;

/** Of a request: far more than a client needs. Of more headers Node would drop those that a proxy added last. */
export const HEAD = { bytesMax: 16 * 1024, headersMax: 200 } as const;

/** What one request may send. */
export const BODY_BYTES_MAX = 128 * 1024;

/** Of a body, and of a message of a WebSocket. */
export const JSON_DEPTH_MAX = 32;

/** Names in one object. */
export const JSON_NAMES_MAX = 1_000;

/** A body may come in so many chunks, and then in such of so many bytes on average: each costs as much as a request. */
export const BODY_CHUNKS = { smallMax: 1_000, bytesMin: 64 } as const;

/** So much of a refused body is read and discarded, so that the refusal arrives. */
export const DISCARDED_BODY = { bytesMax: 16_000_000, msMax: 10_000 } as const;

export const IDEMPOTENCY_KEY = { charactersMax: 255, keptHours: 24 } as const;

/** Clients fail on an answer with long headers: beyond it only the next page is linked. */
export const LINK_HEADER_BYTES_MAX = 8 * 1024;

/** Of the header that lists what a dry run would have done. */
export const DRY_RUN_EFFECTS_HEADER_BYTES_MAX = 4 * 1024;

export const SESSION = {
  accessTokenSeconds: 15 * 60,
  refreshTokenDays: 30,
  sessionDaysMax: 90,
  /** Within so long of its first use, a refresh token is given the same successor again; later that is theft. */
  leewaySeconds: 60,
} as const;

/** Payloads of verified tokens are cached; another instance's clock may run so far ahead of this one's. */
export const ACCESS_TOKEN = { charactersMax: 4_096, cachedPayloadsMax: 5_000, clockSkewSecondsMax: 60 } as const;

/**
 * Fair quotas of whatever is scarce, so that no caller takes it from the others: beyond its quota a call is refused, or
 * a connection closed. Three numbers have variables (`config.ts`).
 */
export const QUOTAS = {
  connections: { of: 'connections', perAddress: 1_000, total: 10_000 },
  /** Whether or not anything is subscribed to on them; behind a proxy they are counted for the caller's address too. */
  webSockets: { of: 'WebSockets', perUser: 20, perAddress: 1_000, total: 8_000 },
  /** Subscriptions, be it over a WebSocket or over server-sent events. */
  streams: { of: 'streams', perUser: 10, perAddress: 1_000, total: 8_000 },
  requests: { of: 'requests under way', perUser: 50, perAddress: 200 },
  /** To read one takes the event loop for up to 100 ms: see `HEAVY_READ`. */
  heavyReads: { of: 'large bodies and new documents waiting to be read', perUser: 50, perAddress: 100, total: 500 },
  databaseQueue: { of: 'calls waiting for the database', perUser: 100, perAddress: 500, total: 1_000 },
  hashingQueue: { of: 'passwords waiting to be hashed', perUser: 8, perAddress: 128, total: 256 },
  /** Of answers that their callers have not taken yet. */
  unreadBytes: {
    of: 'bytes of answers not yet taken',
    perUser: 20_000_000,
    perAddress: 40_000_000,
    total: 128_000_000,
  },
} as const;

export type QuotaName = keyof typeof QUOTAS;

/** Bodies from so many bytes on are read one after another, as are documents that no cache holds. */
export const HEAVY_READ = { bodyBytesMin: 8 * 1024, waitMs: 5_000 } as const;

/** On one connection, while an earlier one is under way; beyond it the connection is closed. */
export const REQUESTS_AHEAD_MAX = 16;

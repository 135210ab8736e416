/** The numbers of the market: how much one caller may use, and how much its own work takes. Names include units. */
import { FIELD_TEXT } from '../../platform/caller-limits.js';

export const TEXT = {
  ...FIELD_TEXT,
  title: 200,
  long: 10_000,
  line: 200,
  name: 100,
  kind: 64,
  reference: 100,
  /** Per entry. Both lists of a hundred contractors must fit into one response. */
  listItem: 100,
  /** The length of a password in a login attempt. One that is too long to be set is simply wrong. */
  passwordTried: 1_000,
  linkToken: 100,
} as const;

export const BIDS_PER_PAGE_DEFAULT = 100;

export const BID_DURATION_DAYS_MAX = 36_500;

/** The number of days after completion in which a job that was approved without a rating can still be rated. */
export const REVIEW_DAYS_MAX = 30;

/** How far an edit may go from the highest budget since publication, and from the completion date at check-in. */
export const EDITS = { budgetDecreasePercentMax: 10, completionShiftDaysMax: 30 } as const;

export const PASSWORD_BYTES = { min: 8, max: 72 } as const;

/** The largest radius of a list around a place. */
export const NEAR_MILES_MAX = { jobs: 500, contractors: 100 } as const;

/** The largest radius of a list that starts with the nearest, because everything near the place is sorted for it. */
export const NEAREST_MILES_MAX = 100;

/** The number of tokens in one admin's adjustment. */
export const ADJUSTMENT_MAX = 1_000_000;

export const API_KEYS_PER_PERSON_MAX = 20;

/** Webhooks: what one person may have, and how many senders an endpoint and an instance use. */
export const WEBHOOKS = {
  endpointsPerPerson: 5,
  /** The response must be complete by then, however slowly it arrives. */
  attemptMs: 10_000,
  /** How much of a response is read. */
  answerBytes: 16 * 1024,
  /** How much of a response or an error is stored. */
  answerCharacters: 500,
  storedAttemptsMax: 16,
  /** The delay after each failed attempt: eight attempts within about 28 hours. */
  retryAfterSeconds: [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000],
  /** An endpoint is slow if a request takes this long. */
  slowMs: 2_000,
  /** An endpoint that has only failed for this long is paused. */
  failingDays: 3,
  /** How long the old secret also signs after a rotation. */
  oldSecretHours: 24,
  secretsAtOnce: 4,
  deliveriesKeptDays: 30,
  /** How long events wait if their notification is lost. */
  pollEveryMs: 1_000,
  answerHeaderBytes: 16 * 1024,
  errorCharacters: 200,
} as const;

/**
 * How many tasks of each kind an instance runs at the same time, and how long it leases them: longer than any task
 * takes. One person's five endpoints have a fifth of the places for webhooks.
 */
export const TASKS = {
  webhook: { places: 50, placesPerKey: 2, placesOfSlowKeys: 8, leaseSeconds: 30 },
  mail: { places: 10, placesPerKey: 6, placesOfSlowKeys: 2, leaseSeconds: 60 },
  restore: { places: 2, placesPerKey: 2, placesOfSlowKeys: 1, leaseSeconds: 30 },
} as const;

/** How emails are sent. */
export const MAIL = {
  /** Until the mail server is connected and has sent its greeting. */
  connectMs: 10_000,
  /** How long the server may be silent. */
  silenceMs: 30_000,
  /** The whole attempt: shorter than a task's lease. */
  sendMs: 50_000,
  /** A server is slow if it takes this long. */
  slowMs: 5_000,
  /** The delay after each failed attempt: nine attempts within about 25 hours. */
  retryAfterSeconds: [10, 60, 300, 900, 3_600, 10_800, 28_800, 43_200],
  keptDays: 30,
} as const;

/** When keys were last used, to the minute. Collected in memory before it's written. */
export const API_KEY_USES = { writeEveryMs: 10_000, keysMax: 10_000 } as const;

/**
 * Starts soon after startup, since some servers are replaced within the hour, but not during it. Refresh tokens are
 * kept for days after their session has ended, so that a stolen one is recognized.
 */
export const HOUSEKEEPING = {
  firstAfterMs: 60_000,
  everyMs: 3_600_000,
  keptDaysAfterEnd: 7,
  /** The number of rows that one statement deletes, so that it finishes long before its timeout. */
  batchRows: 5_000,
  batchesMax: 1_000,
} as const;

/** Metrics of the market and the database. A request for the metrics waits this long for the database. */
export const FIGURES = { everyMs: 30_000, lockWaitsEveryMs: 1_000, databaseWaitMs: 1_000 } as const;

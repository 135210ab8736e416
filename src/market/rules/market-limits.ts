/** How much of the market one caller may use: rates, lengths. Units are part of the names. */
import { FIELD_TEXT } from '../../platform/caller-limits.js';

export const TEXT = {
  ...FIELD_TEXT,
  title: 200,
  long: 10_000,
  line: 200,
  name: 100,
  kind: 64,
  reference: 100,
  /** Of each: both lists of a hundred contractors must fit into one answer. */
  listItem: 100,
  /** Of a password that is tried: longer ones than can be set are merely wrong. */
  passwordTried: 1_000,
  linkToken: 100,
} as const;

export const BID_DURATION_DAYS_MAX = 36_500;

/** How many days after completion a job that was approved without a rating can still be rated. */
export const REVIEW_DAYS_MAX = 30;

/** How far an edit may go from the highest budget since publication, and from the completion date at check-in. */
export const EDITS = { budgetDecreasePercentMax: 10, completionShiftDaysMax: 30 } as const;

export const PASSWORD_BYTES = { min: 8, max: 72 } as const;

/** How far around a place a list may be asked for. */
export const NEAR_MILES_MAX = { jobs: 500, contractors: 100 } as const;

/** Of a list that begins with the nearest: all that lies near the place is sorted for it. */
export const NEAREST_MILES_MAX = 100;

/** Of tokens, by one admin's adjustment. */
export const ADJUSTMENT_MAX = 1_000_000;

export const API_KEYS_PER_PERSON_MAX = 20;

/** Webhooks: what one person may have, and how much of the senders an endpoint and an instance take. */
export const WEBHOOKS = {
  endpointsPerPerson: 5,
  /** An answer must be complete by then, however slowly it comes. */
  attemptMs: 10_000,
  /** Of an answer, so much is read. */
  answerBytes: 16 * 1024,
  /** Of an answer or an error, so much is kept. */
  answerCharacters: 500,
  storedAttemptsMax: 16,
  /** After each attempt that failed, so many seconds until the next: eight attempts within some 28 hours. */
  retryAfterSeconds: [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000],
  /** An endpoint whose request took so long is slow. */
  slowMs: 2_000,
  /** An endpoint that has only failed for so long is paused. */
  failingDays: 3,
  /** After a rotation the old secret signs along with the new one for so long. */
  oldSecretHours: 24,
  secretsAtOnce: 4,
  deliveriesKeptDays: 30,
  /** Events whose notification was lost wait no longer than this. */
  pollEveryMs: 1_000,
  answerHeaderBytes: 16 * 1024,
  errorCharacters: 200,
} as const;

/**
 * How many tasks of each kind an instance runs at once, and how long it leases them: longer than any task takes. The
 * five endpoints of one person have a fifth of the places for webhooks.
 */
export const TASKS = {
  webhook: { places: 50, placesPerKey: 2, placesOfSlowKeys: 8, leaseSeconds: 30 },
  mail: { places: 10, placesPerKey: 6, placesOfSlowKeys: 2, leaseSeconds: 60 },
  restore: { places: 2, placesPerKey: 2, placesOfSlowKeys: 1, leaseSeconds: 30 },
} as const;

/** How emails are sent. */
export const MAIL = {
  /** Until the mail server is reached and has greeted. */
  connectMs: 10_000,
  /** How long it may be silent. */
  silenceMs: 30_000,
  /** All of it: less than a task is leased for. */
  sendMs: 50_000,
  /** A server that took so long is slow. */
  slowMs: 5_000,
  /** After each attempt that failed, so many seconds until the next: nine attempts in some 25 hours. */
  retryAfterSeconds: [10, 60, 300, 900, 3_600, 10_800, 28_800, 43_200],
  keptDays: 30,
} as const;

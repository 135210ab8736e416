/** The market's limits: what one caller may use, and what the market's own work may use. The names include units. */
import { FIELD_TEXT } from '../../platform/caller-limits.js';

export const TEXT = {
  ...FIELD_TEXT,
  title: 200,
  long: 10_000,
  line: 200,
  name: 100,
  kind: 64,
  reference: 100,
  /** A page of 100 contractors with both of their lists must fit into one response. */
  listItem: 100,
  /** Login accepts passwords that are longer than users can set. They just don't match. */
  passwordTried: 1_000,
  linkToken: 100,
} as const;

export const BIDS_PER_PAGE_DEFAULT = 100;

/** The clock checks due jobs every minute, a batch at a time. */
export const CLOCK = {
  everyMs: 60_000,
  batchJobs: 100,
  settingsBatchJobs: 1_000,
  failurePauseSeconds: 3_600,
  /** If no server's clock ran for longer than this, earlier reminders don't count as warnings. */
  outageSeconds: 3_600,
  advanceDaysMax: 365,
  /** The clock's offset in seconds must fit into an integer column. */
  aheadDaysMax: 20_000,
} as const;

/** How often a contractor can bid on one job. Otherwise, a job's bids and events could grow without bound. */
export const BIDS_ON_ONE_JOB_MAX = 10;

/** How often a job can change. Otherwise, a homeowner could add any number of events to it. */
export const JOB_VERSIONS_MAX = 10_000;

/** How many resolutions the parties can propose in one dispute. */
export const PROPOSALS_MAX = 100;

/** How often a contractor can revise one bid. */
export const BID_REVISIONS_MAX = 10;

export const BID_DURATION_DAYS_MAX = 36_500;

/** The number of days after completion during which a job that was approved without a rating can still be rated. */
export const REVIEW_DAYS_MAX = 30;

/** How often a homeowner can take the award of one job back. */
export const REOPENINGS_MAX = 2;

/** How often a homeowner can send the work on one job back for changes. */
export const CHANGE_REQUESTS_MAX = 3;

/** The number of entries in a request for changes. */
export const CHANGE_REQUEST_ITEMS_MAX = 20;

/** Limits on lowering a budget from its highest value, and on moving the completion date from its value at check-in. */
export const EDITS = { budgetDecreasePercentMax: 10, completionShiftDaysMax: 30 } as const;

export const PASSWORD_BYTES = { min: 8, max: 72 } as const;

/** The number of trades that a list of jobs can be filtered by. */
export const SEARCHED_CATEGORIES_MAX = 20;

export const NEAR_MILES_MAX = { jobs: 500, contractors: 100 } as const;

/** This radius is small, because the server must sort everything within it. */
export const NEAREST_MILES_MAX = 100;

/**
 * The largest balance that an admin's adjustment can lead to. It leaves room for refunds and credits, which must always
 * fit into the balance's 32 bits.
 */
export const ADJUSTED_BALANCE_MAX = 2_000_000_000;
const largestBalance = ADJUSTED_BALANCE_MAX.toLocaleString('en-US');
export const BALANCE_TOO_LARGE = `would make the balance larger than the maximum, ${largestBalance}`;

/** The largest number of tokens in a single adjustment by an admin. */
export const ADJUSTMENT_MAX = 1_000_000;

export const API_KEYS_PER_PERSON_MAX = 20;

export const PURCHASES = {
  openMax: 5,
  perDayMax: 20,
  /** How long a checkout stays open. */
  openMinutes: 60,
  /** When the server first asks the provider about a pending purchase, and how often it then asks again. */
  firstCheckMinutes: 30,
  checkEveryMinutes: 15,
  /** How often the server looks for such purchases, and how many it asks about at a time. */
  everyMs: 60_000,
  atOnce: 20,
  packsMax: 20,
  packTokensMax: 1_000_000,
  /** The largest amount that Stripe accepts in most currencies. */
  amountMax: 99_999_999,
} as const;

export const SAVED_SEARCHES = {
  perPerson: 10,
  /** Without a category or a place, a shorter search would match most jobs. */
  textMin: 3,
  /** How many published jobs are compared with the searches in one batch. */
  publicationsAtOnce: 10,
  /** The longest time that new events wait if their notification is lost. */
  pollEveryMs: 1_000,
} as const;

export const WEBHOOKS = {
  endpointsPerPerson: 5,
  /** The time limit for the complete response, however slowly it arrives. */
  attemptMs: 10_000,
  /** How much of a response is read. */
  answerBytes: 16 * 1024,
  /** How much of a response or an error is stored. */
  answerCharacters: 500,
  storedAttemptsMax: 16,
  /** With these delays, there are eight attempts within about 28 hours. */
  retryAfterSeconds: [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000],
  /** An endpoint counts as slow if a request takes this long. */
  slowMs: 2_000,
  /** The owner is notified once if every attempt has failed for this many days. */
  failingReportedAfterDays: 1,
  /** An endpoint is paused if every attempt has failed for this many days. */
  failingDays: 3,
  /** How many hours the old secret keeps signing after a rotation. */
  oldSecretHours: 24,
  secretsAtOnce: 4,
  deliveriesKeptDays: 30,
  /** How many events one call can replay, and how many one statement enqueues. */
  replayEventsMax: 10_000,
  replayBatchEvents: 500,
  /** The longest time that new events wait if their notification is lost. */
  pollEveryMs: 1_000,
  answerHeaderBytes: 16 * 1024,
  errorCharacters: 200,
} as const;

/**
 * For each kind of task: how many tasks an instance runs at a time, and how long a lease lasts, which is longer than
 * any task takes, including its wait for a replica. A person can have five webhook endpoints, which use at most a fifth
 * of the slots for webhooks.
 */
export const TASKS = {
  webhook: { slots: 50, slotsPerKey: 2, slotsOfSlowKeys: 8, leaseSeconds: 45 },
  mail: { slots: 10, slotsPerKey: 6, slotsOfSlowKeys: 2, leaseSeconds: 75 },
  /** Emails about notifications, which must not delay other emails, such as password resets. */
  notice: { slots: 10, slotsPerKey: 6, slotsOfSlowKeys: 2, leaseSeconds: 75 },
  restore: { slots: 2, slotsPerKey: 2, slotsOfSlowKeys: 1, leaseSeconds: 30 },
} as const;

export const MAIL = {
  /** The time limit until the mail server has accepted the connection and sent its greeting. */
  connectMs: 10_000,
  /** How long the mail server may stay silent. */
  silenceMs: 30_000,
  /** The time limit for the whole attempt, which is shorter than a task's lease. */
  sendMs: 50_000,
  /** A mail server counts as slow if an attempt takes this long. */
  slowMs: 5_000,
  /** With these delays, there are nine attempts within about 25 hours. */
  retryAfterSeconds: [10, 60, 300, 900, 3_600, 10_800, 28_800, 43_200],
  keptDays: 30,
} as const;

export const NOTIFICATION_EMAILS = {
  /** After this many emails in a day, a person's notifications go into the digest. Fixed types don't count. */
  perDayMax: 30,
  digestItemsMax: 50,
  /** A batch includes all rows of its last position, so it can have more rows than this. */
  rowsAtOnce: 500,
  digestsAtOnce: 50,
  /** How many of a person's notifications are read for a digest. */
  digestRowsMax: 100,
  /** Older events aren't emailed, for example after an outage. An email's retries end after about as long. */
  eventHoursMax: 25,
  /** New notifications are collected for this long, because a batch for each event would cost more. */
  pollEveryMs: 1_000,
} as const;

/** The counter of unread notifications stops here. */
export const UNREAD_COUNTED_MAX = 100;

/** The times at which API keys are used are collected in memory before they're written. */
export const API_KEY_USES = { writeEveryMs: 10_000, keysMax: 10_000 } as const;

/**
 * The first cleanup runs soon after startup, because some servers are replaced within the hour. Refresh tokens outlive
 * their session by days, so the server can recognize a stolen one.
 */
export const HOUSEKEEPING = {
  firstAfterMs: 60_000,
  everyMs: 3_600_000,
  keptDaysAfterEnd: 7,
  /** One statement can delete this many rows long before its timeout. */
  batchRows: 5_000,
  batchesMax: 1_000,
} as const;

/**
 * How often metrics are read, and how long a request for them waits for the database. The market's metrics count every
 * job and every user's tokens, so they are read less often.
 */
export const FIGURES = {
  everyMs: 30_000,
  marketEveryMs: 300_000,
  lockWaitsEveryMs: 1_000,
  databaseWaitMs: 1_000,
} as const;

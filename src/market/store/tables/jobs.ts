/** Jobs: the fields that homeowners fill in, the job's state, and the counts that later calls are checked against. */
import { sql, type SQL } from 'drizzle-orm';
import {
  check,
  date,
  doublePrecision,
  foreignKey,
  index,
  integer,
  pgEnum,
  pgTable,
  point,
  text,
} from 'drizzle-orm/pg-core';
import type { JOB } from '../../rules/entities/job.js';
import type { RowOf } from '../../../platform/fields/entity.js';
import { STATES_WITHOUT_PUBLICATION } from '../../rules/lifecycle.js';
import { JOB_STATES, statesIn, type JobState } from '../../rules/states.js';
import { REQUIRED_TO_PUBLISH, URGENCIES } from '../../rules/jobs/publishing.js';
import { homeowners } from './accounts.js';
import { bids } from './bids.js';
import { createdAt, timestamp, money, updatedAt } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

export const jobStatus = pgEnum('job_status', JOB_STATES);
export const urgency = pgEnum('urgency', URGENCIES);

/**
 * Compares states as strings, because Postgres doesn't accept an enum's new value in the transaction that adds it. A
 * migration that adds a state may also change such a check.
 */
const isOneOf = (t: { readonly status: unknown }, states: readonly JobState[]): SQL =>
  sql`${t.status}::text in (${sql.raw(states.map((state) => `'${state}'`).join(', '))})`;

const completedByAward = (t: { readonly status: unknown; readonly awardedBidId: unknown }): SQL =>
  sql`${t.status} = 'completed' and ${t.awardedBidId} is not null`;

export const jobs = pgTable(
  'jobs',
  {
    id: idColumn('job').primaryKey(),
    homeownerId: idColumn('homeowner')
      .notNull()
      .references(() => homeowners.id),
    status: jobStatus().notNull().default('draft'),
    title: text().notNull(),
    description: text().notNull(),
    category: text(),
    budgetMin: money(),
    budgetMax: money(),
    urgency: urgency(),
    addressLine1: text(),
    addressLine2: text(),
    city: text(),
    state: text(),
    zipCode: text(),
    country: text(),
    latitude: doublePrecision(),
    longitude: doublePrecision(),
    desiredStartDate: date({ mode: 'string' }),
    desiredCompletionDate: date({ mode: 'string' }),
    requirements: text(),
    awardedBidId: idColumn('bid'),
    /** This ID is copied from the bid, so one row shows who may work on the job and read its address. */
    awardedContractorId: idColumn('contractor'),
    /** The table `reviews` has a copy of the rating and the review, for the contractor. */
    rating: integer(),
    review: text(),
    version: integer().notNull().default(1),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    /** Edits don't change this time. */
    statusChangedAt: timestamp().notNull().defaultNow(),
    /** The job's highest budget, or a value below all budgets without one. Lists by budget are sorted by it. */
    budgetRank: money()
      .notNull()
      .generatedAlwaysAs(sql`coalesce(budget_max, -1)`),

    highestBudgetMin: money(),
    highestBudgetMax: money(),
    mostTokensPaid: integer().notNull().default(0),
    completionDateAtCheckIn: date({ mode: 'string' }),

    /**
     * The number of the job's events. Every change to the job or its bids is an event that is numbered under the job's
     * lock.
     */
    eventCount: integer().notNull().default(0),
    /** The number of live, accepted, and rejected bids. */
    bidCount: integer().notNull().default(0),
    liveBidCount: integer().notNull().default(0),
    /** The number of all bids, including withdrawn ones. */
    bidsEver: integer().notNull().default(0),
    /** The number of edits that changed a public field. Bids have a copy, which shows whether they're outdated. */
    publicEditCount: integer().notNull().default(0),
    reopeningCount: integer().notNull().default(0),
    changeRequestCount: integer().notNull().default(0),

    // What `rules/jobs/deadlines.ts` computes a job's deadline from. These times are in deadline time.
    deadlineFrom: timestamp(),
    disputedFrom: timestamp(),
    deadlineExtendedSeconds: doublePrecision().notNull().default(0),
    remindedAt: timestamp(),
    pausedFrom: timestamp(),
    /** When the clock checks the job next. Null if it has nothing to do. */
    nextCheckAt: timestamp('next_look_at'),
  },
  (t) => [
    foreignKey({
      name: 'jobs_awarded_bid_is_on_the_job',
      columns: [t.awardedBidId, t.id, t.awardedContractorId],
      foreignColumns: [bids.id, bids.jobId, bids.contractorId],
    }),
    index('jobs_newest').on(t.createdAt, t.id),
    // The columns after the sort columns let a scan skip jobs that don't match without reading their rows.
    index('jobs_of_homeowner').on(t.homeownerId, t.createdAt, t.id, t.status),
    index('jobs_newest_in_state').on(t.status, t.createdAt, t.id, t.budgetMin, t.budgetRank),
    index('jobs_newest_of_trade').on(t.category, t.createdAt, t.id, t.status, t.urgency, t.budgetMin, t.budgetRank),
    // The same indexes, for lists sorted by the latest change.
    index('jobs_recently_updated').on(t.updatedAt, t.id),
    index('jobs_of_homeowner_by_update').on(t.homeownerId, t.updatedAt, t.id, t.status),
    index('jobs_updated_in_state').on(t.status, t.updatedAt, t.id, t.budgetMin, t.budgetRank),
    index('jobs_updated_of_trade').on(t.category, t.updatedAt, t.id, t.status, t.urgency, t.budgetMin, t.budgetRank),
    // In these orders, each index is by state. A list of all jobs is gathered from the first jobs in each state, so
    // each write adds one fewer index entry.
    index('jobs_in_state_by_change').on(t.status, t.statusChangedAt, t.id, t.category),
    index('jobs_highest_budget_in_state').on(t.status, t.budgetRank, t.id, t.category, t.budgetMin),
    index('jobs_of_awardee')
      .on(t.awardedContractorId, t.createdAt, t.id)
      .where(sql`${t.awardedContractorId} is not null`),
    index('jobs_awarded_to')
      .on(t.awardedContractorId, t.homeownerId)
      .where(sql`${t.awardedContractorId} is not null`),
    index('jobs_to_look_at')
      .on(t.nextCheckAt)
      .where(sql`${t.nextCheckAt} is not null`),
    index('jobs_with_paused_deadlines')
      .on(t.id)
      .where(sql`${t.pausedFrom} is not null`),
    // For the jobs of suspended homeowners, who may have left any number of drafts. The state is a literal, because an
    // index can't use an enum's new value in the transaction that adds it.
    index('jobs_open_of_homeowner')
      .on(t.homeownerId, t.id)
      .where(sql`${t.status} = 'open'`),
    index('jobs_with_running_deadlines')
      .on(t.homeownerId, t.id)
      .where(sql`${t.deadlineFrom} is not null and ${t.pausedFrom} is null`),
    check(
      'jobs_award_fits_the_state',
      sql`case
      when ${isOneOf(t, statesIn('unpublished', 'bidding'))} then ${t.awardedBidId} is null
      when ${isOneOf(t, statesIn('end'))} then true
      else ${t.awardedBidId} is not null end`,
    ),
    check('jobs_award_is_whole', sql`(${t.awardedBidId} is null) = (${t.awardedContractorId} is null)`),
    check('jobs_review_fits_the_state', sql`(${t.rating} is null and ${t.review} is null) or (${completedByAward(t)})`),
    check('jobs_rating_is_sound', sql`${t.rating} between 1 and 5`),
    check(
      'jobs_budget_is_sound',
      sql`${t.budgetMin} >= 0 and ${t.budgetMax} >= 0 and ${t.budgetMin} <= ${t.budgetMax}`,
    ),
    check('jobs_dates_are_sound', sql`${t.desiredStartDate} <= ${t.desiredCompletionDate}`),
    check(
      'jobs_published_whole',
      sql`${isOneOf(t, STATES_WITHOUT_PUBLICATION)} or (${sql.join(
        REQUIRED_TO_PUBLISH.map((name) => t[name])
          .filter((column) => !column.notNull)
          .map((column) => sql`${column} is not null`),
        sql` and `,
      )})`,
    ),
    check(
      'jobs_counts_are_sound',
      sql`0 <= ${t.liveBidCount} and ${t.liveBidCount} <= ${t.bidCount} and ${t.bidCount} <= ${t.bidsEver}`,
    ),
    check('jobs_live_bids_fit_the_state', sql`${t.liveBidCount} = 0 or ${isOneOf(t, statesIn('bidding'))}`),
  ],
);

const searchedColumns = () => ({
  jobId: idColumn('job')
    .primaryKey()
    .references(() => jobs.id, { onDelete: 'cascade' }),
  /** A copy of the job's creation time, so results can be sorted without reading the job. */
  createdAt: timestamp().notNull(),
  /** The title and the description in lowercase, with a separator between them. */
  words: text().notNull(),
  town: point({ mode: 'xy' }),
});

/**
 * The columns that searches read. These columns have their own table, so most state changes don't touch any of the
 * table's indexes. A trigger copies the text. The town is the center of the public city, so distances don't reveal
 * anything about the private address.
 */
export const jobSearch = pgTable('job_search', searchedColumns(), (t) => [
  index('job_search_newest').on(t.createdAt, t.jobId),
  index('job_search_words').using('gin', sql`${t.words} gin_trgm_ops`),
  index('job_search_town').using('gist', t.town),
]);

/**
 * A table of only the jobs that are open to bids. Triggers maintain it. The indexes of all jobs could return any number
 * of jobs that are closed to bids, and each of them would have to be read.
 */
export const openJobSearch = pgTable('open_job_search', searchedColumns(), (t) => [
  index('open_job_search_newest').on(t.createdAt, t.jobId),
  index('open_job_search_words').using('gin', sql`${t.words} gin_trgm_ops`),
  index('open_job_search_town').using('gist', t.town),
]);

/** The columns that a job's deadline is computed from. Most calls don't read them. */
export type TimerRow = Pick<
  typeof jobs.$inferSelect,
  'deadlineFrom' | 'disputedFrom' | 'deadlineExtendedSeconds' | 'remindedAt' | 'pausedFrom' | 'nextCheckAt'
>;

export type JobRow = RowOf<typeof JOB, Omit<typeof jobs.$inferSelect, keyof TimerRow>>;

/** Jobs: what their homeowners write, their state, and the counts that later calls are checked against. */
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
import { createdAt, moment, money, updatedAt } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

export const jobStatus = pgEnum('job_status', JOB_STATES);
export const urgency = pgEnum('urgency', URGENCIES);

/**
 * Compares strings. A migration that adds a state and changes a check like this is one transaction, in which Postgres
 * rejects the enum's new value.
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
    /** Copied from the bid, so one row shows who may work on the job and read its address. */
    awardedContractorId: idColumn('contractor'),
    /** From the approval. `reviews` has the same for the contractor. */
    rating: integer(),
    review: text(),
    version: integer().notNull().default(1),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    /** When it entered its current state. No edit changes that. */
    statusChangedAt: moment().notNull().defaultNow(),
    /** Lists are ordered by it: the highest budget, or less than any if there is none. */
    budgetRank: money()
      .notNull()
      .generatedAlwaysAs(sql`coalesce(budget_max, -1)`),

    highestBudgetMin: money(),
    highestBudgetMax: money(),
    mostTokensPaid: integer().notNull().default(0),
    completionDateAtCheckIn: date({ mode: 'string' }),

    /** Every change to the job or its bids is an event, numbered under the job's lock. */
    eventCount: integer().notNull().default(0),
    /** Live, accepted, and rejected bids. */
    bidCount: integer().notNull().default(0),
    liveBidCount: integer().notNull().default(0),
    /** Includes withdrawn bids. */
    bidsEver: integer().notNull().default(0),
  },
  (t) => [
    foreignKey({
      name: 'jobs_awarded_bid_is_on_the_job',
      columns: [t.awardedBidId, t.id, t.awardedContractorId],
      foreignColumns: [bids.id, bids.jobId, bids.contractorId],
    }),
    index('jobs_newest').on(t.createdAt, t.id),
    // The columns after the order's own let other jobs be skipped without reading their rows.
    index('jobs_of_homeowner').on(t.homeownerId, t.createdAt, t.id, t.status),
    index('jobs_in_state').on(t.status, t.createdAt, t.id),
    index('jobs_of_trade').on(t.category, t.createdAt, t.id, t.status, t.urgency),
    // The same for readers who sort by the latest change.
    index('jobs_recently_updated').on(t.updatedAt, t.id),
    index('jobs_of_homeowner_by_update').on(t.homeownerId, t.updatedAt, t.id, t.status),
    index('jobs_in_state_by_update').on(t.status, t.updatedAt, t.id),
    index('jobs_of_trade_by_update').on(t.category, t.updatedAt, t.id, t.status, t.urgency),
    // Only by state. Lists of all jobs are gathered from the first of each state, which saves each write an entry.
    index('jobs_in_state_by_change').on(t.status, t.statusChangedAt, t.id, t.category),
    index('jobs_in_state_by_budget').on(t.status, t.budgetRank, t.id, t.category),
    index('jobs_of_awardee')
      .on(t.awardedContractorId, t.createdAt, t.id)
      .where(sql`${t.awardedContractorId} is not null`),
    index('jobs_awarded_to')
      .on(t.awardedContractorId, t.homeownerId)
      .where(sql`${t.awardedContractorId} is not null`),
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
  /** The job's own creation time, so results can be sorted without reading the job. */
  createdAt: moment().notNull(),
  /** Title and description in lowercase, with a separator between them. */
  words: text().notNull(),
  town: point({ mode: 'xy' }),
});

/**
 * The columns that searches read, separate from the job, so most state changes touch none of these indexes. A trigger
 * copies the text. The town is the center of the public city, so distances reveal nothing about the private address.
 */
export const jobSearch = pgTable('job_search', searchedColumns(), (t) => [
  index('job_search_words').using('gin', sql`${t.words} gin_trgm_ops`),
  index('job_search_town').using('gist', t.town),
]);

/**
 * The same for jobs that are open to bids, maintained by triggers. The indexes of all jobs would lead to any number of
 * jobs that used to be open, and each would have to be read.
 */
export const openJobSearch = pgTable('open_job_search', searchedColumns(), (t) => [
  index('open_job_search_words').using('gin', sql`${t.words} gin_trgm_ops`),
  index('open_job_search_town').using('gist', t.town),
]);

export type JobRow = RowOf<typeof JOB, typeof jobs.$inferSelect>;

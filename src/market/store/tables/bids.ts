/** Bids, and the holds on the tokens that some bids stake. */
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  date,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { BID_STATES, UNCOUNTED_BID_STATE } from '../../rules/states.js';
import { HOLD_STATES } from '../../rules/tokens.js';
import { contractors, users } from './accounts.js';
import { createdAt, timestamp, money, updatedAt } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

export const bidStatus = pgEnum('bid_status', BID_STATES);
export const holdStatus = pgEnum('hold_status', HOLD_STATES);

export const bids = pgTable(
  'bids',
  {
    id: idColumn('bid').primaryKey(),
    jobId: idColumn('job').notNull(),
    contractorId: idColumn('contractor')
      .notNull()
      .references(() => contractors.id),
    status: bidStatus().notNull().default('pending'),
    amount: money().notNull(),
    estimatedDurationDays: integer(),
    message: text(),
    proposedStartDate: date({ mode: 'string' }),
    materialsIncluded: boolean(),
    paymentTerms: text(),
    guaranteedView: boolean().notNull().default(false),
    holdId: idColumn('hold'),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    submittedAt: timestamp().notNull().defaultNow(),
    /** The version of the offer, which rises with each revision. */
    version: integer().notNull().default(1),
    /** The job's `publicEditCount` when the contractor made this offer. */
    jobPublicEditCount: integer().notNull().default(0),
    /** A copy of the job's creation time. With it, a contractor's own jobs can be sorted together with open jobs. */
    jobCreatedAt: timestamp().notNull(),
  },
  (t) => [
    unique('bids_whole_key').on(t.id, t.jobId, t.contractorId),
    uniqueIndex('bids_one_for_each_contractor')
      .on(t.jobId, t.contractorId)
      .where(sql`${t.status} <> ${sql.raw(`'${UNCOUNTED_BID_STATE}'`)}`),
    // This is a second safeguard against two awards of one job. The first one is the job's lock.
    uniqueIndex('bids_one_accepted')
      .on(t.jobId)
      .where(sql`${t.status} = 'accepted'`),
    index('bids_on_job').on(t.jobId, t.guaranteedView, t.createdAt, t.id),
    index('bids_of_contractor').on(t.contractorId, t.createdAt, t.id),
    index('bids_jobs_of_contractor').on(t.contractorId, t.jobCreatedAt, t.jobId),
    check('bids_amount_is_positive', sql`${t.amount} > 0`),
    check('bids_guarantee_has_a_hold', sql`${t.guaranteedView} = (${t.holdId} is not null)`),
  ],
);

/** The offers that contractors have replaced. */
export const bidRevisions = pgTable(
  'bid_revisions',
  {
    bidId: idColumn('bid')
      .notNull()
      .references(() => bids.id),
    version: integer().notNull(),
    amount: money().notNull(),
    estimatedDurationDays: integer(),
    message: text(),
    proposedStartDate: date({ mode: 'string' }),
    materialsIncluded: boolean(),
    paymentTerms: text(),
    replacedAt: timestamp().notNull(),
  },
  (t) => [primaryKey({ columns: [t.bidId, t.version] })],
);

export const holds = pgTable(
  'holds',
  {
    id: idColumn('hold').primaryKey(),
    bidId: idColumn('bid')
      .notNull()
      .unique()
      .references(() => bids.id),
    jobId: idColumn('job').notNull(),
    userId: idColumn('user')
      .notNull()
      .references(() => users.id),
    amount: integer().notNull(),
    status: holdStatus().notNull().default('active'),
    createdAt: createdAt(),
    releasedAt: timestamp(),
    /** When the stake's deadline began, in deadline time. */
    deadlineFrom: timestamp().notNull().defaultNow(),
    /** When the homeowner was last reminded of the bid, in deadline time. */
    remindedAt: timestamp(),
  },
  (t) => [
    index('holds_on_job').on(t.jobId),
    index('holds_active_of_user')
      .on(t.userId)
      .where(sql`${t.status} = 'active'`),
    check('holds_amount_is_positive', sql`${t.amount} > 0`),
    check('holds_release_is_timed', sql`(${t.status} = 'released') = (${t.releasedAt} is not null)`),
  ],
);

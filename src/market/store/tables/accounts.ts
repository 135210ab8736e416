/** People: the account, and its role's profile. */
import { sql, type SQL } from 'drizzle-orm';
import { boolean, check, index, integer, pgEnum, pgTable, text, unique } from 'drizzle-orm/pg-core';
import type { EmailUndoState } from '../../rules/people/email-undo.js';
import { ROLES } from '../../rules/viewer.js';
import { createdAt, timestamp, position, textList, updatedAt } from '../../../platform/db/tables/columns.js';
import { idColumn } from './id-column.js';

export const userType = pgEnum('user_type', ROLES);

interface UserNames {
  readonly firstName: unknown;
  readonly lastName: unknown;
  readonly email: unknown;
  readonly phone: unknown;
}

/**
 * The text that user searches are matched against. It includes the phone number's digits, so a search finds the number
 * in any format. Emails and digits never contain the separator.
 */
export const userWords = (t: UserNames): SQL =>
  sql`lower(${t.firstName} || ' ' || ${t.lastName} || chr(1) || ${t.email} || chr(1) || coalesce(${t.phone}, '')
    || chr(1) || regexp_replace(coalesce(${t.phone}, ''), '[^0-9]', '', 'g'))`;

export const users = pgTable(
  'users',
  {
    id: idColumn('user').primaryKey(),
    email: text().notNull(),
    userType: userType().notNull(),
    firstName: text().notNull(),
    lastName: text().notNull(),
    phone: text(),
    profilePictureUrl: text(),
    passwordHash: text().notNull(),
    referralCode: text().notNull(),
    emailVerified: boolean().notNull().default(false),
    /** True if the mail server permanently rejected the last email to this address. */
    emailUndeliverable: boolean().notNull().default(false),
    emailUndo: text().$type<EmailUndoState>(),
    /**
     * The address that competes with `email` in the last email undo. This address is reserved until support decides.
     */
    emailUndoAddress: text(),
    /** When the person last edited their own fields or profile. */
    profileEditedAt: timestamp(),
    suspendedAt: timestamp(),
    suspendedUntil: timestamp(),
    /** The person has read their notifications up to this position. */
    notificationsReadUpTo: position().notNull().default('0'),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [
    unique('users_email_taken').on(t.email),
    unique('users_referral_code_taken').on(t.referralCode),
    index('users_suspended')
      .on(t.id)
      .where(sql`suspended_at is not null`),
    index('users_email_undos')
      .on(t.emailUndo, t.emailUndoAddress)
      .where(sql`email_undo is not null`),
    // Each filter that may leave only a few users in the list has its own index.
    index('users_suspended_newest')
      .on(t.createdAt, t.id)
      .where(sql`suspended_at is not null`),
    index('users_undeliverable_newest')
      .on(t.createdAt, t.id)
      .where(sql`email_undeliverable`),
    index('users_verified_newest').on(t.emailVerified, t.createdAt, t.id),
    index('users_of_type_verified').on(t.userType, t.emailVerified, t.createdAt, t.id),
    index('users_newest').on(t.createdAt, t.id),
    index('users_of_type').on(t.userType, t.createdAt, t.id),
    index('users_words').using('gin', sql`${userWords(t)} gin_trgm_ops`),
    check('users_email_is_normal', sql`${t.email} = lower(${t.email}) and ${t.email} = btrim(${t.email})`),
  ],
);

export const homeowners = pgTable('homeowners', {
  id: idColumn('homeowner').primaryKey(),
  userId: idColumn('user')
    .notNull()
    .unique()
    .references(() => users.id),
  addressLine1: text(),
  addressLine2: text(),
  city: text(),
  state: text(),
  zipCode: text(),
  country: text(),
  propertyType: text(),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

interface ContractorTexts {
  readonly personName: unknown;
  readonly companyName: unknown;
  readonly bio: unknown;
  readonly specialties: unknown;
  readonly serviceAreas: unknown;
}

/** The expressions for searching contractors, exactly as in the indexes. Strings and list entries are in lowercase. */
export const contractorTerms = {
  words: (t: ContractorTexts): SQL =>
    sql`lower(${t.personName} || chr(1) || coalesce(${t.companyName}, '') || chr(1) || coalesce(${t.bio}, ''))`,
  specialties: (t: ContractorTexts): SQL => sql`lower_all(${t.specialties})`,
  serviceAreas: (t: ContractorTexts): SQL => sql`lower_all(${t.serviceAreas})`,
};

export const contractors = pgTable(
  'contractors',
  {
    id: idColumn('contractor').primaryKey(),
    userId: idColumn('user')
      .notNull()
      .unique()
      .references(() => users.id),
    companyName: text(),
    businessType: text(),
    licenseNumber: text(),
    licenseState: text(),
    insuranceProvider: text(),
    insurancePolicyNumber: text(),
    yearsInBusiness: integer(),
    serviceAreas: textList().notNull().default([]),
    specialties: textList().notNull().default([]),
    bio: text(),
    website: text(),
    verified: boolean().notNull().default(false),
    completedJobs: integer().notNull().default(0),
    ratingSum: integer().notNull().default(0),
    ratingCount: integer().notNull().default(0),
    /** Triggers copy this time from the account, because the list of users reads verified contractors in this order. */
    createdAt: createdAt(),
    updatedAt: updatedAt(),

    /** The same triggers copy the account's first and last name here, so one index covers all searched text. */
    personName: text().notNull().default(''),
    /** The average rating in hundredths. 0 before the first rating. Lists are sorted by this column. */
    ratingRank: integer()
      .notNull()
      .generatedAlwaysAs(
        sql`case when rating_count = 0 then 0 else (round(rating_sum::numeric / rating_count, 2) * 100)::integer end`,
      ),
  },
  (t) => [
    // Each order of the directory has one index for all contractors, and one for lists of only verified or only
    // unverified contractors.
    index('contractors_newest').on(t.createdAt, t.id),
    index('contractors_best_rated').on(t.ratingRank, t.ratingCount, t.id),
    index('contractors_most_completed').on(t.completedJobs, t.ratingRank, t.ratingCount, t.id),
    index('contractors_verified_newest').on(t.verified, t.createdAt, t.id),
    // This index has the order of the list of users, which can show only verified or only unverified contractors.
    index('contractors_verified_users').on(t.verified, t.createdAt, t.userId),
    index('contractors_verified_best_rated').on(t.verified, t.ratingRank, t.ratingCount, t.id),
    index('contractors_verified_most_completed').on(t.verified, t.completedJobs, t.ratingRank, t.ratingCount, t.id),
    index('contractors_terms').using(
      'gin',
      sql`${contractorTerms.words(t)} gin_trgm_ops`,
      contractorTerms.specialties(t),
    ),
    // The index merges new entries immediately, with `fastupdate` off. A search near a place queries the index
    // thousands of times, and each query would read the list of entries that aren't merged yet.
    index('contractors_service_areas').using('gin', contractorTerms.serviceAreas(t)).with({ fastupdate: false }),
    check(
      'contractors_counts_are_sound',
      sql.join(
        [
          sql`${t.completedJobs} >= 0`,
          sql`${t.ratingCount} >= 0`,
          sql`${t.ratingSum} between ${t.ratingCount} and 5 * ${t.ratingCount}`,
        ],
        sql` and `,
      ),
    ),
  ],
);

export type User = typeof users.$inferSelect;
export type Homeowner = typeof homeowners.$inferSelect;
export type Contractor = typeof contractors.$inferSelect;

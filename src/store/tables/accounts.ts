/** People: the account that logs in, and the profile that its role gives it. */
import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, pgEnum, pgTable, text, unique } from 'drizzle-orm/pg-core';
import { ROLES } from '../../rules/viewer.js';
import { createdAt, idColumn, textList, updatedAt } from './columns.js';

export const userType = pgEnum('user_type', ROLES);

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
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [
    unique('users_email_taken').on(t.email),
    unique('users_referral_code_taken').on(t.referralCode),
    index('users_newest').on(t.createdAt, t.id),
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
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [
    check(
      'contractors_counts_are_sound',
      sql`${t.completedJobs} >= 0 and ${t.ratingCount} >= 0 and ${t.ratingSum} between ${t.ratingCount} and 5 * ${t.ratingCount}`,
    ),
  ],
);

export type User = typeof users.$inferSelect;
export type Homeowner = typeof homeowners.$inferSelect;
export type Contractor = typeof contractors.$inferSelect;

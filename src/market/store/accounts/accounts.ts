/** Accounts and their profiles. Only the statements that select credentials return a password hash. */
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { ContractorId, HomeownerId, UserId } from '../../rules/ids.js';
import { CONTRACTOR, HOMEOWNER, USER } from '../../rules/entities/people.js';
import { writtenFields, type RowOf } from '../../../platform/fields/entity.js';
import type { Db } from '../../../platform/db/database.js';
import { balanceShape } from '../ledger/ledger.js';
import { mayBeAbsent } from '../../../platform/db/rows.js';
import {
  builder,
  columns,
  type Placeholders,
  selectFrom,
  mayBeStale,
  statement,
} from '../../../platform/db/statement.js';
import {
  contractors,
  homeowners,
  users,
  type Contractor as ContractorRow,
  type Homeowner as HomeownerRow,
  type User as UserRow,
} from '../tables/accounts.js';
import { tokenBalances } from '../tables/ledger.js';
import { isContractorSuspended } from '../visibility.js';

export const {
  passwordHash: _hash,
  referralCode: _code,
  profileEditedAt: _editedAt,
  notificationsReadUpTo: _readUpTo,
  ...userColumns
} = getTableColumns(users);
export const homeownerShape = getTableColumns(homeowners);
const { ratingSum: _sum, ratingRank: _rank, personName: _name, ...contractorColumns } = getTableColumns(contractors);

export const contractorShape = {
  ...contractorColumns,
  ratingAverage: sql<
    number | null
  >`round(${contractors.ratingSum}::numeric / nullif(${contractors.ratingCount}, 0), 2)::float8`.as('rating_average'),
  suspended: isContractorSuspended.as('suspended'),
};

export type User = RowOf<
  typeof USER,
  Omit<UserRow, 'passwordHash' | 'referralCode' | 'profileEditedAt' | 'notificationsReadUpTo'>
>;
export type Homeowner = RowOf<typeof HOMEOWNER, HomeownerRow>;
export type Contractor = RowOf<
  typeof CONTRACTOR,
  Omit<ContractorRow, 'ratingSum' | 'ratingRank' | 'personName'> & {
    ratingAverage: number | null;
    suspended: boolean | null;
  }
>;

const NEW_USER = ['id', 'email', 'userType', 'firstName', 'lastName', 'phone', 'passwordHash', 'referralCode'] as const;
export type NewUser = Pick<UserRow, (typeof NEW_USER)[number]>;

export const insertUser = statement('insertUser', userColumns, ($: Placeholders<NewUser>, fields) =>
  builder.insert(users).values(columns($, NEW_USER)).returning(fields),
);

export const insertHomeowner = statement(
  'insertHomeowner',
  homeownerShape,
  ($: Placeholders<{ id: HomeownerId; userId: UserId }>, fields) =>
    builder
      .insert(homeowners)
      .values(columns($, ['id', 'userId']))
      .returning(fields),
);

export const insertContractor = statement(
  'insertContractor',
  contractorShape,
  ($: Placeholders<{ id: ContractorId; userId: UserId; companyName: string | null }>, fields) =>
    builder
      .insert(contractors)
      .values(columns($, ['id', 'userId', 'companyName']))
      .returning(fields),
);

/**
 * Includes an account whose email was changed from this address and can still be changed back, and an account that
 * waits for support to decide about this address.
 */
export const selectIdByEmail = statement(
  'selectIdByEmail',
  { id: users.id, userType: users.userType },
  ($: Placeholders<{ email: string }>, fields) =>
    selectFrom(
      users,
      fields,
      sql`users.id in (select id from users where email = ${$('email')} union all select user_id from mails
          where email = ${$('email')} and kind = 'email_changed' and used_at is null and expires_at > now()
          union all select id from users where email_undo = 'pending' and email_undo_address = ${$('email')})`,
    ).limit(1),
);

/** Ignores a suspended user's code, as if it didn't exist. */
export const selectIdByReferralCode = statement(
  'selectIdByReferralCode',
  { id: users.id },
  ($: Placeholders<{ code: string }>, fields) =>
    selectFrom(users, fields, and(eq(users.referralCode, $('code')), sql`suspended_at is null`)),
);

const selectCredentialsByEmail = statement(
  'selectCredentialsByEmail',
  { ...userColumns, passwordHash: users.passwordHash },
  ($: Placeholders<{ email: string }>, fields) => selectFrom(users, fields, eq(users.email, $('email'))),
);

export async function findCredentials(
  db: Db,
  email: string,
): Promise<{ user: User; passwordHash: string } | undefined> {
  const [row] = await selectCredentialsByEmail(db, { email });
  if (!row) return undefined;
  const { passwordHash, ...user } = row;
  return { user, passwordHash };
}

export const selectCredentials = statement(
  'selectCredentials',
  {
    email: users.email,
    emailVerified: users.emailVerified,
    emailUndeliverable: users.emailUndeliverable,
    emailUndo: users.emailUndo,
    emailUndoAddress: users.emailUndoAddress,
    passwordHash: users.passwordHash,
  },
  ($: Placeholders<{ userId: UserId }>, fields) => selectFrom(users, fields, eq(users.id, $('userId'))),
);

export const setPasswordHash = statement(
  'setPasswordHash',
  {},
  ($: Placeholders<{ userId: UserId; passwordHash: string }>) =>
    builder
      .update(users)
      .set({ ...columns($, ['passwordHash']), updatedAt: sql`now()` })
      .where(eq(users.id, $('userId'))),
);

/** The caller must have checked a link that was sent to the address. */
export const setConfirmedEmail = statement(
  'setConfirmedEmail',
  {},
  ($: Placeholders<{ userId: UserId; email: string }>) =>
    builder
      .update(users)
      .set({ ...columns($, ['email']), emailVerified: true, emailUndeliverable: false, updatedAt: sql`now()` })
      .where(eq(users.id, $('userId'))),
);

/** Returns no row if the hash has changed since it was read, such as for the second of two concurrent changes. */
export const replacePasswordHash = statement(
  'replacePasswordHash',
  { id: users.id },
  ($: Placeholders<{ userId: UserId; passwordHash: string; formerHash: string }>, fields) =>
    builder
      .update(users)
      .set({ ...columns($, ['passwordHash']), updatedAt: sql`now()` })
      .where(and(eq(users.id, $('userId')), eq(users.passwordHash, $('formerHash'))))
      .returning(fields),
);

export const selectAccount = statement(
  'selectAccount',
  {
    user: userColumns,
    homeowner: mayBeAbsent(homeownerShape),
    contractor: mayBeAbsent(contractorShape),
    tokens: balanceShape,
    referralCode: users.referralCode,
  },
  ($: Placeholders<{ userId: UserId }>, fields) =>
    builder
      .select(fields)
      .from(users)
      .innerJoin(tokenBalances, eq(tokenBalances.userId, users.id))
      .leftJoin(homeowners, eq(homeowners.userId, users.id))
      .leftJoin(contractors, eq(contractors.userId, users.id))
      .where(eq(users.id, $('userId'))),
);

/**
 * Read the account in a later statement. A row that you join in this statement has the values from before the wait for
 * the lock.
 */
export const lockAccount = statement('lockAccount', { id: users.id }, ($: Placeholders<{ userId: UserId }>, fields) =>
  selectFrom(users, fields, eq(users.id, $('userId'))).for('no key update'),
);

export const EDITABLE_USER = writtenFields(USER);
export const EDITABLE_HOMEOWNER = writtenFields(HOMEOWNER);
export const EDITABLE_CONTRACTOR = writtenFields(CONTRACTOR);

export const updateUser = statement(
  'updateUser',
  {},
  ($: Placeholders<Pick<User, 'id' | (typeof EDITABLE_USER)[number]>>) =>
    builder
      .update(users)
      .set({ ...columns($, EDITABLE_USER), updatedAt: sql`now()` })
      .where(eq(users.id, $('id'))),
);

export const updateHomeowner = statement(
  'updateHomeowner',
  {},
  ($: Placeholders<Pick<Homeowner, 'id' | (typeof EDITABLE_HOMEOWNER)[number]>>) =>
    builder
      .update(homeowners)
      .set({ ...columns($, EDITABLE_HOMEOWNER), updatedAt: sql`now()` })
      .where(eq(homeowners.id, $('id'))),
);

export const updateContractor = statement(
  'updateContractor',
  {},
  ($: Placeholders<Pick<Contractor, 'id' | (typeof EDITABLE_CONTRACTOR)[number]>>) =>
    builder
      .update(contractors)
      .set({ ...columns($, EDITABLE_CONTRACTOR), updatedAt: sql`now()` })
      .where(eq(contractors.id, $('id'))),
);

/** After this, an email undo returns the account only if support agrees. */
export const markProfileEdited = statement('markProfileEdited', {}, ($: Placeholders<{ userId: UserId }>) =>
  builder
    .update(users)
    .set({ profileEditedAt: sql`now()` })
    .where(eq(users.id, $('userId'))),
);

export const selectContractor = mayBeStale(
  statement('selectContractor', { id: contractors.id }, ($: Placeholders<{ id: ContractorId }>, fields) =>
    selectFrom(contractors, fields, eq(contractors.id, $('id'))),
  ),
);

export const lockContractor = statement(
  'lockContractor',
  contractorShape,
  ($: Placeholders<{ id: ContractorId }>, fields) =>
    selectFrom(contractors, fields, eq(contractors.id, $('id'))).for('no key update'),
);

export const setVerified = statement(
  'setVerified',
  contractorShape,
  ($: Placeholders<Pick<Contractor, 'id' | 'verified'>>, fields) =>
    builder
      .update(contractors)
      .set({ ...columns($, ['verified']), updatedAt: sql`now()` })
      .where(eq(contractors.id, $('id')))
      .returning(fields),
);

export const creditCompletion = statement('creditCompletion', {}, ($: Placeholders<{ id: ContractorId }>) =>
  builder
    .update(contractors)
    .set({ completedJobs: sql`${contractors.completedJobs} + 1` })
    .where(eq(contractors.id, $('id'))),
);

export const addRating = statement('addRating', {}, ($: Placeholders<{ id: ContractorId; rating: number }>) =>
  builder
    .update(contractors)
    .set({
      ratingSum: sql`${contractors.ratingSum} + ${$('rating')}::int`,
      ratingCount: sql`${contractors.ratingCount} + 1`,
    })
    .where(eq(contractors.id, $('id'))),
);

/** People and their profiles. A password's hash leaves this file only where a password is about to be checked. */
import { and, eq, getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { ContractorId, HomeownerId, UserId } from '../rules/ids.js';
import { isForEveryone } from '../rules/audiences.js';
import { CONTRACTOR, HOMEOWNER, USER } from '../rules/entities/people.js';
import { writtenFields, type RowOf } from '../rules/entity.js';
import type { Role } from '../rules/viewer.js';
import type { Db } from './database.js';
import { balanceShape } from './ledger.js';
import { asJson, jsonReader, type RowShape } from './rows.js';
import { columns, statement, type Values } from './statement.js';
import { forEachRole, type ViewerIds } from './visibility.js';
import {
  contractors,
  homeowners,
  users,
  type Contractor as ContractorRow,
  type Homeowner as HomeownerRow,
  type User as UserRow,
} from './tables/accounts.js';
import { tokenBalances } from './tables/ledger.js';

export const { passwordHash: _hash, referralCode: _code, ...userColumns } = getTableColumns(users);
const { ratingSum: _sum, ratingRank: _rank, personName: _name, ...contractorColumns } = getTableColumns(contractors);

export const contractorShape = {
  ...contractorColumns,
  ratingAverage: sql<
    number | null
  >`round(${contractors.ratingSum}::numeric / nullif(${contractors.ratingCount}, 0), 2)::float8`.as('rating_average'),
};

export type User = RowOf<typeof USER, Omit<UserRow, 'passwordHash' | 'referralCode'>>;
export type Homeowner = RowOf<typeof HOMEOWNER, HomeownerRow>;
export type Contractor = RowOf<
  typeof CONTRACTOR,
  Omit<ContractorRow, 'ratingSum' | 'ratingRank' | 'personName'> & { ratingAverage: number | null }
>;

const NEW_USER = ['id', 'email', 'userType', 'firstName', 'lastName', 'phone', 'passwordHash', 'referralCode'] as const;
export type NewUser = Pick<UserRow, (typeof NEW_USER)[number]>;

export const insertUser = statement((db, $: Values<NewUser>) =>
  db.insert(users).values(columns($, NEW_USER)).returning(userColumns),
);

export const insertHomeowner = statement((db, $: Values<{ id: HomeownerId; userId: UserId }>) =>
  db
    .insert(homeowners)
    .values(columns($, ['id', 'userId']))
    .returning(),
);

export const insertContractor = statement(
  (db, $: Values<{ id: ContractorId; userId: UserId; companyName: string | null }>) =>
    db
      .insert(contractors)
      .values(columns($, ['id', 'userId', 'companyName']))
      .returning(contractorShape),
);

export const selectIdByEmail = statement((db, $: Values<{ email: string }>) =>
  db.select({ id: users.id, userType: users.userType }).from(users).where(eq(users.email, $.email)),
);

export const selectIdByReferralCode = statement((db, $: Values<{ code: string }>) =>
  db.select({ id: users.id }).from(users).where(eq(users.referralCode, $.code)),
);

const selectCredentials = statement((db, $: Values<{ email: string }>) =>
  db
    .select({ ...userColumns, passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.email, $.email)),
);

export async function findCredentials(
  db: Db,
  email: string,
): Promise<{ user: User; passwordHash: string } | undefined> {
  const [row] = await selectCredentials(db, { email });
  if (!row) return undefined;
  const { passwordHash, ...user } = row;
  return { user, passwordHash };
}

export const selectPasswordHash = statement((db, $: Values<{ userId: UserId }>) =>
  db.select({ email: users.email, passwordHash: users.passwordHash }).from(users).where(eq(users.id, $.userId)),
);

export const setPasswordHash = statement((db, $: Values<{ userId: UserId; passwordHash: string }>) =>
  db
    .update(users)
    .set({ ...columns($, ['passwordHash']), updatedAt: sql`now()` })
    .where(eq(users.id, $.userId)),
);

/** Of two changes at once the second finds the password changed already, and gets no row back. */
export const replacePasswordHash = statement(
  (db, $: Values<{ userId: UserId; passwordHash: string; formerHash: string }>) =>
    db
      .update(users)
      .set({ ...columns($, ['passwordHash']), updatedAt: sql`now()` })
      .where(and(eq(users.id, $.userId), eq(users.passwordHash, $.formerHash)))
      .returning({ id: users.id }),
);

export const selectAccount = statement((db, $: Values<{ userId: UserId }>) =>
  db
    .select({
      user: userColumns,
      homeowner: homeowners,
      contractor: contractorShape,
      tokens: balanceShape,
      referralCode: users.referralCode,
    })
    .from(users)
    .innerJoin(tokenBalances, eq(tokenBalances.userId, users.id))
    .leftJoin(homeowners, eq(homeowners.userId, users.id))
    .leftJoin(contractors, eq(contractors.userId, users.id))
    .where(eq(users.id, $.userId)),
);

/**
 * Read the account after this, and not with it: a row joined to a locked one is as old as the wait for the lock was
 * long.
 */
export const lockAccount = statement((db, $: Values<{ userId: UserId }>) =>
  db.select({ id: users.id }).from(users).where(eq(users.id, $.userId)).for('no key update'),
);

export const EDITABLE_USER = writtenFields(USER);
export const EDITABLE_HOMEOWNER = writtenFields(HOMEOWNER);
export const EDITABLE_CONTRACTOR = writtenFields(CONTRACTOR);

export const updateUser = statement((db, $: Values<Pick<User, 'id' | (typeof EDITABLE_USER)[number]>>) =>
  db
    .update(users)
    .set({ ...columns($, EDITABLE_USER), updatedAt: sql`now()` })
    .where(eq(users.id, $.id)),
);

export const updateHomeowner = statement((db, $: Values<Pick<Homeowner, 'id' | (typeof EDITABLE_HOMEOWNER)[number]>>) =>
  db
    .update(homeowners)
    .set({ ...columns($, EDITABLE_HOMEOWNER), updatedAt: sql`now()` })
    .where(eq(homeowners.id, $.id)),
);

export const updateContractor = statement(
  (db, $: Values<Pick<Contractor, 'id' | (typeof EDITABLE_CONTRACTOR)[number]>>) =>
    db
      .update(contractors)
      .set({ ...columns($, EDITABLE_CONTRACTOR), updatedAt: sql`now()` })
      .where(eq(contractors.id, $.id)),
);

/** Whether the viewer and the person are the two parties of an award. */
const COUNTERPART = {
  homeowner: ($: Values<ViewerIds>) =>
    sql<boolean>`exists (select 1 from jobs j where j.homeowner_id = ${$.homeownerId}
      and j.awarded_contractor_id = "contractors"."id")`,
  contractor: ($: Values<ViewerIds>) =>
    sql<boolean>`exists (select 1 from jobs j where j.awarded_contractor_id = ${$.contractorId}
      and j.homeowner_id = "homeowners"."id")`,
};

/**
 * Whether the contractor has bid on a job of the viewer's. One bid says so: as `exists`, the planner would rather read
 * the bids of everybody once for a whole page.
 */
export const CLIENT = ($: Values<ViewerIds>) =>
  sql<boolean>`coalesce((select true from bids b join jobs j on j.id = b.job_id
    where b.contractor_id = "contractors"."id" and j.homeowner_id = ${$.homeownerId} limit 1), false)`;

const NO = sql<boolean>`false`;

/** People with what the viewer is to each. Named by account or by profile. */
export const selectPeople = forEachRole((role) =>
  statement((db, $: Values<ViewerIds & { ids: string }>) =>
    db
      .select({
        user: userColumns,
        homeowner: homeowners,
        contractor: contractorShape,
        counterpart: role === 'admin' ? NO : COUNTERPART[role]($),
        client: role === 'homeowner' ? CLIENT($) : NO,
      })
      .from(users)
      .leftJoin(homeowners, eq(homeowners.userId, users.id))
      .leftJoin(contractors, eq(contractors.userId, users.id)).where(sql`${users.id} = any(array(
        select id from users where id = any(${$.ids}::text[])
        union all select user_id from homeowners where id = any(${$.ids}::text[])
        union all select user_id from contractors where id = any(${$.ids}::text[])))`),
  ),
);

/** A person with one of their profiles, and what the viewer is to them. */
export interface PersonRow {
  user: User;
  homeowner: Homeowner | null;
  contractor: Contractor | null;
  counterpart: boolean;
  client: boolean;
}

const HOMEOWNER_SHAPE = getTableColumns(homeowners);

/**
 * The fields that somebody asks for, of a profile and of the account behind it. What was not asked for is not in the
 * rows.
 */
export interface PersonFields {
  readonly user: readonly string[];
  readonly profile: readonly string[];
}

/** A homeowner in the columns of another row. Their own jobs are all that homeowners see, and so only themselves. */
export function homeownerColumns(role: Role, $: Values<ViewerIds>, fields: PersonFields) {
  return {
    user: narrowed(userColumns, fields.user),
    homeowner: narrowed(HOMEOWNER_SHAPE, fields.profile),
    ...(role === 'contractor' && isPrivate(fields) && { counterpart: COUNTERPART.contractor($) }),
  };
}

export type HomeownerColumns = Pick<PersonRow, 'user' | 'homeowner'> & Partial<Pick<PersonRow, 'counterpart'>>;

export function homeownerOf({ user, homeowner, counterpart }: Partial<HomeownerColumns>): PersonRow | undefined {
  return user && homeowner
    ? { user, homeowner, contractor: null, counterpart: counterpart === true, client: false }
    : undefined;
}

/** The contractor with this identifier, who has bid on a job that the viewer sees, inside another row. */
export function bidderAsJson(id: SQL, role: Role, $: Values<ViewerIds>, fields: PersonFields): SQL {
  const user = asJson(narrowed(userColumns, fields.user));
  const profile = asJson(narrowed(contractorShape, fields.profile));
  const counterpart = role === 'homeowner' && isPrivate(fields) ? COUNTERPART.homeowner($) : NO;
  return sql`(select json_build_array(${user}, ${profile}, ${counterpart})
    from contractors join users on users.id = contractors.user_id where contractors.id = ${id})`;
}

const ALWAYS = ['id', 'userId'];

/** In the shape's own order, so that the same fields make the same statement. */
export function narrowed<Shape extends RowShape>(
  shape: Shape,
  fields: readonly string[],
  always: readonly string[] = ALWAYS,
): Shape {
  return Object.fromEntries(
    Object.entries(shape).filter(([name]) => always.includes(name) || fields.includes(name)),
  ) as Shape;
}

/** What the viewer is to somebody matters for what is not for everyone. */
function isPrivate({ user, profile }: PersonFields): boolean {
  return [...user, ...profile].some((field) => !isForEveryone(field));
}

type PersonJson = readonly [user: readonly unknown[], profile: readonly unknown[], counterpart: boolean];

/** A homeowner who reads the bids on their job is a client of every bidder. */
export function bidderReader(fields: PersonFields, role: Role): (json: PersonJson) => PersonRow {
  const readUser = jsonReader<User>(narrowed(userColumns, fields.user));
  const readContractor = jsonReader<Contractor>(narrowed(contractorShape, fields.profile));
  const client = role === 'homeowner';
  return ([user, profile, counterpart]) => ({
    user: readUser(user),
    homeowner: null,
    contractor: readContractor(profile),
    counterpart,
    client,
  });
}

/** Whether there is one. */
export const selectContractor = statement((db, $: Values<{ id: ContractorId }>) =>
  db.select({ id: contractors.id }).from(contractors).where(eq(contractors.id, $.id)),
);

export const verifyContractor = statement((db, $: Values<{ id: ContractorId }>) =>
  db
    .update(contractors)
    .set({
      verified: true,
      updatedAt: sql`case when ${contractors.verified} then ${contractors.updatedAt} else now() end`,
    })
    .where(eq(contractors.id, $.id))
    .returning(contractorShape),
);

export const creditCompletion = statement((db, $: Values<{ id: ContractorId }>) =>
  db
    .update(contractors)
    .set({ completedJobs: sql`${contractors.completedJobs} + 1` })
    .where(eq(contractors.id, $.id)),
);

export const addRating = statement((db, $: Values<{ id: ContractorId; rating: number }>) =>
  db
    .update(contractors)
    .set({
      ratingSum: sql`${contractors.ratingSum} + ${$.rating}::int`,
      ratingCount: sql`${contractors.ratingCount} + 1`,
    })
    .where(eq(contractors.id, $.id)),
);

/**
 * People as other users see them, with the viewer's relation to each: in rows of their own, and inside the rows of jobs
 * and bids.
 */
import { eq, getTableColumns, sql, type SQL } from 'drizzle-orm';
import { isForEveryone } from '../rules/audiences.js';
import type { Role } from '../rules/viewer.js';
import { contractorShape, userColumns, type Contractor, type Homeowner, type User } from './accounts.js';
import { asJson, jsonReader, type RowShape } from './rows.js';
import { statement, type Values } from './statement.js';
import { contractors, homeowners, users } from './tables/accounts.js';
import { forEachRole, type ViewerIds } from './visibility.js';

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
 * Whether the contractor has bid on a job of the viewer's. A sub-select of one bid: for an `exists` the planner would
 * read all bids once for a whole page.
 */
export const CLIENT = ($: Values<ViewerIds>) =>
  sql<boolean>`coalesce((select true from bids b join jobs j on j.id = b.job_id
    where b.contractor_id = "contractors"."id" and j.homeowner_id = ${$.homeownerId} limit 1), false)`;

const NO = sql<boolean>`false`;

/** People with the viewer's relation to each, found by the ids of accounts or profiles. */
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

/** A person with one of their profiles, and the viewer's relation to them. */
export interface PersonRow {
  user: User;
  homeowner: Homeowner | null;
  contractor: Contractor | null;
  counterpart: boolean;
  client: boolean;
}

const HOMEOWNER_SHAPE = getTableColumns(homeowners);

/** The included fields of a profile and of its account. The rows have no others. */
export interface PersonFields {
  readonly user: readonly string[];
  readonly profile: readonly string[];
}

/** A homeowner in the columns of another row. Homeowners see only their own jobs, and so only themselves. */
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

/** The contractor with this identifier, a bidder on a job that the viewer sees, inside another row. */
export function bidderAsJson(id: SQL, role: Role, $: Values<ViewerIds>, fields: PersonFields): SQL {
  const user = asJson(narrowed(userColumns, fields.user));
  const profile = asJson(narrowed(contractorShape, fields.profile));
  const counterpart = role === 'homeowner' && isPrivate(fields) ? COUNTERPART.homeowner($) : NO;
  return sql`(select json_build_array(${user}, ${profile}, ${counterpart})
    from contractors join users on users.id = contractors.user_id where contractors.id = ${id})`;
}

const ALWAYS = ['id', 'userId'];

/** In the order of the shape, so that the same fields make the same statement. */
export function narrowed<Shape extends RowShape>(
  shape: Shape,
  fields: readonly string[],
  always: readonly string[] = ALWAYS,
): Shape {
  return Object.fromEntries(
    Object.entries(shape).filter(([name]) => always.includes(name) || fields.includes(name)),
  ) as Shape;
}

/** Whether the viewer's relation to the person matters: it does for fields that not everyone may read. */
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

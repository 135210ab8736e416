/** Reads people as other users see them, from their own rows or as JSON in the rows of jobs and bids. */
import { eq, sql, type SQL } from 'drizzle-orm';
import { isForEveryone, redact, type RedactedRow } from '../../rules/reading/redaction.js';
import { relationsToPerson } from '../../rules/reading/readers.js';
import type { Role, Viewer } from '../../rules/viewer.js';
import {
  contractorShape,
  homeownerShape,
  userColumns,
  type Contractor,
  type Homeowner,
  type User,
} from '../accounts/accounts.js';
import type { Db } from '../../../platform/db/database.js';
import { asJson, jsonReader, mayBeAbsent, type RowShape } from '../../../platform/db/rows.js';
import { asArray, builder, mayBeStale, statement, type Placeholders } from '../../../platform/db/statement.js';
import { contractors, homeowners, users } from '../tables/accounts.js';
import { forEachRole, idsOf, type ViewerIds } from '../visibility.js';

export type ReadableUser = RedactedRow<'user', User>;

export type ReadableHomeowner = RedactedRow<'homeowner', Homeowner> & { user?: ReadableUser };
export type ReadableContractor = RedactedRow<'contractor', Contractor> & { user?: ReadableUser };

/** True if the viewer and the person are the two parties to an award. */
const COUNTERPART = {
  homeowner: ($: Placeholders<ViewerIds>) =>
    sql<boolean>`exists (select 1 from jobs j where j.homeowner_id = ${$('homeownerId')}
      and j.awarded_contractor_id = "contractors"."id")`,
  contractor: ($: Placeholders<ViewerIds>) =>
    sql<boolean>`exists (select 1 from jobs j where j.awarded_contractor_id = ${$('contractorId')}
      and j.homeowner_id = "homeowners"."id")`,
};

/** The subquery reads a single bid. With `exists`, the planner would read all bids once per page. */
export const CLIENT = ($: Placeholders<ViewerIds>) =>
  sql<boolean>`coalesce((select true from bids b join jobs j on j.id = b.job_id
    where b.contractor_id = "contractors"."id" and j.homeowner_id = ${$('homeownerId')} limit 1), false)`;

const NO = sql<boolean>`false`;

const selectPeople = forEachRole((role) =>
  mayBeStale(
    statement(
      'selectPeople',
      ($: Placeholders<ViewerIds & { ids: string }>) => ({
        user: userColumns,
        homeowner: mayBeAbsent(homeownerShape),
        contractor: mayBeAbsent(contractorShape),
        counterpart: role === 'admin' ? NO : COUNTERPART[role]($),
        client: role === 'homeowner' ? CLIENT($) : NO,
      }),
      ($, fields) =>
        builder
          .select(fields)
          .from(users)
          .leftJoin(homeowners, eq(homeowners.userId, users.id))
          .leftJoin(contractors, eq(contractors.userId, users.id)).where(sql`${users.id} = any(array(
        select id from users where id = any(${$('ids')}::text[])
        union all select user_id from homeowners where id = any(${$('ids')}::text[])
        union all select user_id from contractors where id = any(${$('ids')}::text[])))`),
    ),
  ),
);

export interface Person {
  user: ReadableUser;
  homeowner: ReadableHomeowner | null;
  contractor: ReadableContractor | null;
}

/** The result has an entry for each of a person's identifiers, because callers look up the one that was requested. */
export async function readPeople(db: Db, viewer: Viewer, ids: readonly string[]): Promise<Map<string, Person>> {
  const rows = await selectPeople[viewer.role](db, { ids: asArray([...new Set(ids)]), ...idsOf(viewer) });
  const people = new Map<string, Person>();
  for (const { homeowner, contractor, ...row } of rows) {
    const relations = () => relationsToPerson(viewer, row.user.id, row);
    const user = redact('user', row.user, relations);
    const person = {
      user,
      homeowner: homeowner && withAccount(redact('homeowner', homeowner, relations), user),
      contractor: contractor && withAccount(redact('contractor', contractor, relations), user),
    };
    for (const id of [user.id, homeowner?.id, contractor?.id]) if (id !== undefined) people.set(id, person);
  }
  return people;
}

function withAccount<Profile extends object>(profile: Profile, user: ReadableUser): Profile & { user: ReadableUser } {
  return Object.assign(profile, { user });
}

export interface PersonFields {
  readonly user: readonly string[];
  readonly profile: readonly string[];
}

interface Profiles {
  homeowner: ReadableHomeowner;
  contractor: ReadableContractor;
}

/** `awardedTo` is the other party to the award. */
const PROFILES = {
  homeowner: { table: homeowners, shape: homeownerShape, awardedTo: 'contractor' },
  contractor: { table: contractors, shape: contractorShape, awardedTo: 'homeowner' },
} as const;

export function profileAsJson(
  kind: keyof Profiles,
  id: SQL,
  role: Role,
  $: Placeholders<ViewerIds>,
  fields: PersonFields,
): SQL {
  const { table, shape, awardedTo } = PROFILES[kind];
  const user = asJson(narrow(userColumns, fields.user));
  const profile = asJson(narrow<RowShape>(shape, fields.profile));
  const counterpart = role === awardedTo && isPrivate(fields) ? COUNTERPART[role]($) : NO;
  return sql`(select json_build_array(${user}, ${profile}, ${counterpart})
    from ${table} join users on users.id = ${table.userId} where ${table.id} = ${id})`;
}

const ALWAYS = ['id', 'userId'];

/** The columns are in the shape's order, so the same fields always produce the same statement. */
export function narrow<Shape extends RowShape>(
  shape: Shape,
  fields: readonly string[],
  always: readonly string[] = ALWAYS,
): Shape {
  return Object.fromEntries(
    Object.entries(shape).filter(([name]) => always.includes(name) || fields.includes(name)),
  ) as Shape;
}

/** If no field is private, the result doesn't depend on the viewer's relation to the person. */
function isPrivate({ user, profile }: PersonFields): boolean {
  return [...user, ...profile].some((field) => !isForEveryone(field));
}

export type ProfileJson = readonly [user: readonly unknown[], profile: readonly unknown[], counterpart: boolean];

/** A homeowner who reads the bids on their own job is a client of every bidder. */
export function profileReader<Kind extends keyof Profiles>(
  kind: Kind,
  fields: PersonFields,
  role: Role,
): (json: ProfileJson, viewer: Viewer) => Profiles[Kind] {
  const readUser = jsonReader<User>(narrow(userColumns, fields.user));
  const readProfile = jsonReader<Homeowner & Contractor>(narrow<RowShape>(PROFILES[kind].shape, fields.profile));
  const client = kind === 'contractor' && role === 'homeowner';
  return ([userJson, profileJson, counterpart], viewer) => {
    const row = readUser(userJson);
    const relations = () => relationsToPerson(viewer, row.id, { counterpart, client });
    // TypeScript doesn't connect the kind in one list of entities with the kind in the other.
    const profile = redact(kind as 'contractor', readProfile(profileJson), relations);
    return withAccount(profile, redact('user', row, relations)) as unknown as Profiles[Kind];
  };
}

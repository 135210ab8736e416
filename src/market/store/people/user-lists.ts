/** Lists all accounts for admins, newest first, with filters. */
import { and, sql, type SQL } from 'drizzle-orm';
import type { EmailUndoState } from '../../rules/people/email-undo.js';
import type { ContractorId, HomeownerId } from '../../rules/ids.js';
import { PAGE } from '../../../platform/caller-limits.js';
import type { Role } from '../../rules/viewer.js';
import { userColumns, type User } from '../accounts/accounts.js';
import type { Db } from '../../../platform/db/database.js';
import { firstMatches, matchesToCount } from '../../../platform/db/pages/first-matches.js';
import { likePattern } from '../jobs/job-lists.js';
import { pagedList, type List, type Page, type PageRequest, type ScanLimit } from '../../../platform/db/pages/page.js';
import { cachedByKey, type Placeholders, selectFrom } from '../../../platform/db/statement.js';
import { users, userWords } from '../tables/accounts.js';

export interface UserFilter {
  search?: string | null | undefined;
  userType?: Role | null | undefined;
  /** This filter excludes everyone who isn't a contractor. */
  verified?: boolean | null | undefined;
  emailUndo?: EmailUndoState | null | undefined;
  suspended?: boolean | null | undefined;
  emailVerified?: boolean | null | undefined;
  emailUndeliverable?: boolean | null | undefined;
}

export type UserListItem = User & { homeownerId: HomeownerId | null; contractorId: ContractorId | null };

interface FilterValues {
  search: string | null;
}

interface ListKind {
  readonly hasSearch: boolean;
  readonly userType: Role | null;
  readonly verified: boolean | null;
  readonly emailUndo: EmailUndoState | null;
  readonly flags: readonly (readonly [Flag, boolean])[];
}

/** For each filter, an index in list order covers the accounts with the less common value. */
const FLAGS = {
  suspended: sql`"users"."suspended_at" is not null`,
  emailVerified: sql`"users"."email_verified"`,
  emailUndeliverable: sql`"users"."email_undeliverable"`,
};
type Flag = keyof typeof FLAGS;
const FLAG_NAMES = Object.keys(FLAGS) as Flag[];

const lists = cachedByKey<List<FilterValues, UserListItem>>();

export function listUsers(
  db: Db,
  { search = null, userType = null, verified = null, emailUndo = null, ...filter }: UserFilter,
  request: PageRequest,
): Promise<Page<UserListItem>> {
  const flags = FLAG_NAMES.flatMap((name) => (filter[name] == null ? [] : [[name, filter[name]] as const]));
  const kind: ListKind = { hasSearch: search !== null, userType, verified, emailUndo, flags };
  const values = { search: search === null ? null : likePattern(digitsOfPhone(search) ?? search) };
  return lists(JSON.stringify(kind), () => listOf(kind))(db, values, request);
}

/** Drops the leading 1, the country code, because a stored number may lack it. */
function digitsOfPhone(search: string): string | undefined {
  const digits = /^[\d ()+./-]+$/.test(search) ? search.replaceAll(/\D/g, '') : '';
  if (digits.length < PHONE_DIGITS_MIN) return undefined;
  return digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
}

/** The length of a phone number without its area code. */
const PHONE_DIGITS_MIN = 7;

const keys = { createdAt: users.createdAt, id: users.id };
const listedColumns = {
  ...userColumns,
  homeownerId: sql<HomeownerId | null>`(select h.id from homeowners h where h.user_id = "users"."id")`.as(
    'homeowner_id',
  ),
  contractorId: sql<ContractorId | null>`(select c.id from contractors c where c.user_id = "users"."id")`.as(
    'contractor_id',
  ),
};
const few = (rows: number) => sql.raw(String(rows));

function listOf(kind: ListKind): List<FilterValues, UserListItem> {
  const { hasSearch, userType, verified, emailUndo, flags } = kind;
  const isOfContractors = !hasSearch && verified !== null && flags.length === 0;
  const isOfThose = and(
    userType === null ? undefined : sql`${users.userType} = ${sql.raw(`'${userType}'`)}`,
    ...flags.map(([name, value]) => (value ? FLAGS[name] : sql`not (${FLAGS[name]})`)),
    hasSearch || verified === null || isOfContractors ? undefined : isVerified(verified),
  );
  const fits = ($: Placeholders<FilterValues>) =>
    and(hasSearch ? matchesWords($) : undefined, verified === null ? undefined : isVerified(verified));
  // Few accounts have an email undo. An index finds them, and the other filters are checked on each of them.
  if (emailUndo !== null)
    return pagedList({
      name: 'listUsers',
      mayBeStale: true,
      keys,
      direction: 'desc',
      fields: listedColumns,
      rows: ($: Placeholders<FilterValues>, fields, condition) =>
        selectFrom(
          users,
          fields,
          and(sql`${users.emailUndo} = ${sql.raw(`'${emailUndo}'`)}`, isOfThose, fits($), condition),
        ),
    });
  const searched = ($: Placeholders<FilterValues>, condition?: SQL) => ({
    table: sql`users`,
    keys: Object.values(keys),
    listCondition: and(isOfThose, condition),
    fits: fits($) ?? sql`true`,
  });
  const gatherRows = ($: Placeholders<FilterValues>, condition: SQL | undefined, scan: ScanLimit): SQL | undefined => {
    if (hasSearch) return firstMatches(searched($, condition), scan);
    return isOfContractors ? contractorsWho(verified, scan) : undefined;
  };
  return pagedList({
    name: 'listUsers',
    mayBeStale: true,
    keys,
    direction: 'desc',
    fields: listedColumns,
    rows: ($: Placeholders<FilterValues>, fields, condition, scan) => {
      const ids = gatherRows($, condition, scan);
      return selectFrom(users, fields, and(isOfThose, ids ? sql`${users.id} = any(array(${ids}))` : condition));
    },
    ...(hasSearch && {
      exactTotalMax: PAGE.exactSearchTotalMax,
      rowsToCount: ($: Placeholders<FilterValues>, scan: ScanLimit) => matchesToCount(searched($), scan),
    }),
    ...(isOfContractors && {
      // In list order, the planner reads only the list's index.
      rowsToCount: (_: Placeholders<FilterValues>, scan: ScanLimit) =>
        sql`select from (${contractorsWho(verified, scan)}) c
          where ${literal(userType === null || userType === 'contractor')}`,
    }),
  });
}

const literal = (value: boolean) => sql.raw(String(value));

/**
 * The subquery hides the pattern from the planner, because the planner estimates a word's frequency badly. The former
 * address matches while an email undo is pending, because its owner doesn't know the current one. Two indexes find the
 * accounts.
 */
function matchesWords($: Placeholders<FilterValues>): SQL {
  const pattern = sql`(select lower(${$('search')}::text))`;
  return sql`(${userWords(users)} like ${pattern}
    or ${users.emailUndo} = 'pending' and ${users.emailUndoAddress} like ${pattern})`;
}

function isVerified(verified: boolean): SQL {
  return sql`exists (select from contractors c where c.user_id = "users"."id" and c.verified = ${literal(verified)})`;
}

/** A trigger keeps the profile's creation time equal to the account's, so both lists have the same order. */
function contractorsWho(verified: boolean, { atMost, positionCondition, direction }: ScanLimit): SQL {
  const position = positionCondition([sql`c.created_at`, sql`c.user_id`]);
  return sql`select c.user_id from contractors c where ${and(sql`c.verified = ${literal(verified)}`, position)}
    order by c.created_at ${sql.raw(direction)}, c.user_id ${sql.raw(direction)} limit ${few(atMost)}`;
}

/**
 * Rows that fit a condition, in the order of their list. The condition has an index of its own, which knows nothing of
 * that order. What many rows fit is found soonest by reading the list in its order, and what few fit by the condition's
 * index. So the first rows of the list are tried one by one; the index is asked only where they do not fill the page.
 */
import { and, desc, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

/** Where these hold too few for the largest page, at most one row in ten fits: then the index finds few. */
const TRIED = 1_000;

interface Fitting {
  /** The list's own table, which the conditions name. */
  readonly table: SQL;
  /** The keys of the list, the largest first. The last is the identifier. */
  readonly keys: readonly PgColumn[];
  /** What an index in the list's order knows. */
  readonly listed: SQL | undefined;
  readonly fits: SQL;
}

/** The identifiers of the first so many rows, in no order. */
export function firstFitting({ table, keys, listed, fits }: Fitting, atMost: number): SQL {
  const most = sql.raw(String(atMost));
  const names = sql.join(
    keys.map((key) => sql`${key}`),
    sql`, `,
  );
  const order = sql`order by ${sql.join(keys.map(desc), sql`, `)}`;
  const id = sql`${keys.at(-1)}`;
  const tried = sql`select * from ${table} where ${listed ?? sql`true`} ${order} limit ${sql.raw(String(TRIED))}`;
  // As a sub-select of its own, so that the planner asks the condition's index and not the list's.
  const indexed = sql`select ${names} from ${table} where ${and(fits, listed)} offset 0`;
  return sql`with common as materialized (
      select ${id} from (${tried}) ${table} where ${fits} ${order} limit ${most}
    )
    select id from common
    union all
    (select ${id} from (${indexed}) ${table} where (select count(*) from common) < ${most} ${order} limit ${most})`;
}

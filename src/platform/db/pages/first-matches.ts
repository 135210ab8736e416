/**
 * Finds rows that meet a condition, in the order of their list. The condition has its own index, which is not in that
 * order. Where many rows match, reading the list in its order is fastest, and where few match, the condition's index
 * is. So the first rows of the list are checked one by one, and the index is used only where they do not fill the page.
 */
import { and, asc, desc, sql, type SQL } from 'drizzle-orm';
import type { OrderKey } from './keyset.js';
import type { ScanLimit } from './page.js';

/** If these do not fill the largest page, at most one row in ten matches, so that the index finds few. */
const FIRST_ROWS_MAX = 1_000;

interface MatchSource {
  /** The table of the list, which the conditions use. */
  readonly table: SQL;
  /** The keys of the list. The last is the identifier. */
  readonly keys: readonly OrderKey[];
  /** The conditions that an index in the list's order covers. */
  readonly listCondition: SQL | undefined;
  readonly fits: SQL;
}

/** The identifiers of the first rows in the direction of the page, in no particular order. */
export function firstMatches({ table, keys, listCondition, fits }: MatchSource, { atMost, direction }: ScanLimit): SQL {
  const most = sql.raw(String(atMost));
  const names = sql.join(
    keys.map((key) => sql`${key}`),
    sql`, `,
  );
  const order = sql`order by ${sql.join(keys.map(direction === 'asc' ? asc : desc), sql`, `)}`;
  const id = sql`${keys.at(-1)}`;
  const firstMax = sql.raw(String(FIRST_ROWS_MAX));
  const firstRows = sql`select * from ${table} where ${listCondition ?? sql`true`} ${order} limit ${firstMax}`;
  // A separate sub-select, so that the planner uses the condition's index and not the list's.
  const indexRows = sql`select ${names} from ${table} where ${and(fits, listCondition)} offset 0`;
  return sql`with common as materialized (
      select ${id} from (${firstRows}) ${table} where ${fits} ${order} limit ${most}
    )
    select id from common
    union all
    (select ${id} from (${indexRows}) ${table} where (select count(*) from common) < ${most} ${order} limit ${most})`;
}

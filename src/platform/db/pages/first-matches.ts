/**
 * Filters a list by a condition whose index has a different order from the list. Reading in list order is fastest if
 * many rows match, and the condition's index is fastest if few do. So the query checks the list's first rows, and uses
 * the index only if they don't fill the page.
 */
import { and, asc, desc, sql, type SQL } from 'drizzle-orm';
import type { OrderKey } from './keyset.js';
import type { ScanLimit } from './page.js';

/** If this many rows don't fill the largest page, at most one in ten matches. The index then reads few rows. */
const FIRST_ROWS_MAX = 1_000;

interface MatchSource {
  readonly table: SQL;
  /** The sort keys. The last one is the ID. */
  readonly keys: readonly OrderKey[];
  /** The conditions covered by the index in list order. */
  readonly listCondition: SQL | undefined;
  readonly fits: SQL;
}

/** Selects the IDs of the page's first rows, in no particular order. */
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
  // In a separate subquery, the planner uses the condition's index instead of the list's.
  const indexRows = sql`select ${names} from ${table} where ${and(fits, listCondition)} offset 0`;
  return sql`with common as materialized (
      select ${id} from (${firstRows}) ${table} where ${fits} ${order} limit ${most}
    )
    select id from common
    union all
    (select ${id} from (${indexRows}) ${table} where (select count(*) from common) < ${most} ${order} limit ${most})`;
}

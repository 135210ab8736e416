/**
 * Filters a list by a condition whose index has a different order from the list. Reading in list order is fastest if
 * many rows match, and the condition's index is fastest if few do. So the query checks the list's first rows, and uses
 * the index only if they don't fill the page.
 */
import { and, asc, desc, sql, type SQL } from 'drizzle-orm';
import type { Direction, OrderKey } from './keyset.js';
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
export function firstMatches(source: MatchSource, { atMost, direction }: ScanLimit): SQL {
  const { table, keys, listCondition, fits } = source;
  const most = sql.raw(String(atMost));
  const names = sql.join(
    keys.map((key) => sql`${key}`),
    sql`, `,
  );
  const order = sql`order by ${sql.join(keys.map(direction === 'asc' ? asc : desc), sql`, `)}`;
  const id = sql`${keys.at(-1)}`;
  const first = firstRows(source, direction, sql.raw(String(FIRST_ROWS_MAX)));
  // In a separate subquery, the planner uses the condition's index instead of the list's.
  const indexRows = sql`select ${names} from ${table} where ${and(fits, listCondition)} offset 0`;
  return sql`with common as materialized (
      select ${id} from ${first} where ${fits} ${order} limit ${most}
    )
    select id from common
    union all
    (select ${id} from (${indexRows}) ${table} where (select count(*) from common) < ${most} ${order} limit ${most})`;
}

/** Counting in list order is faster only if most rows match. A small sample decides. */
const SAMPLE = { rows: 100, matchesMin: 50 } as const;
/** The scan ends after this many times the rows that it needs if half of them match. */
const SCAN_MARGIN = 1.5;

/** Selects up to `atMost` rows that match, to count them. */
export function matchesToCount(source: MatchSource, { atMost, direction }: ScanLimit): SQL {
  const { table, listCondition, fits } = source;
  const most = sql.raw(String(atMost));
  const scanMax = sql.raw(String(Math.ceil((atMost * SCAN_MARGIN * SAMPLE.rows) / SAMPLE.matchesMin)));
  const first = (rows: SQL) => sql`${firstRows(source, direction, rows)} where ${fits}`;
  const sample = first(sql.raw(String(SAMPLE.rows)));
  const matchesMin = sql.raw(String(SAMPLE.matchesMin));
  const rowsToScan = sql`(select case when count(*) >= ${matchesMin} then ${scanMax} else 0 end from ${sample})`;
  return sql`with scanned as materialized (
      select from ${first(rowsToScan)} limit ${most}
    ), enough as materialized (
      select count(*) >= ${most} as is_enough from scanned
    )
    (select from scanned where (select is_enough from enough)) union all
    (select from ${table} where ${and(fits, listCondition)} and not (select is_enough from enough) limit ${most})`;
}

/** The subquery has the name of its table. */
function firstRows({ table, keys, listCondition }: MatchSource, direction: Direction, rows: SQL): SQL {
  const order = sql.join(keys.map(direction === 'asc' ? asc : desc), sql`, `);
  return sql`(select * from ${table} where ${listCondition ?? sql`true`} order by ${order} limit ${rows}) ${table}`;
}

/**
 * Reads lists page by page, by number or from a position. A position holds a row's sort keys. It stays valid while the
 * list grows, and reading from it costs the same at any depth.
 */
import { asc, desc, getTableName, sql, type Placeholder, type SQL, type Subquery } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { PAGE } from '../../caller-limits.js';
import type { Db } from '../database.js';
import { positionCondition, positionValues, reversed } from './keyset.js';
import type { Direction, KeyValue, OrderKey, Position } from './keyset.js';
import type { Fields, Row } from '../rows.js';
import { countedStatement, builder, cachedByKey, statement, type FieldsOf, type Placeholders } from '../statement.js';

export interface PageRequest {
  readonly size: number;
  readonly offset?: number;
  readonly after?: Position | undefined;
  /** A backward page ends before this position. */
  readonly before?: Position | undefined;
  /** True for a page that is read backward, from `before` or from the end of the list. */
  readonly isBackward?: boolean;
  /** Counts in the same statement, which saves a round trip. */
  readonly withTotal?: boolean | undefined;
}

/** Pages of many lists, all with the same size and position. */
export type SamePageRequest = Pick<PageRequest, 'size' | 'after' | 'before' | 'isBackward'>;

export interface Total {
  readonly count: number;
  /** True if the list has more rows than are counted. */
  readonly isCapped: boolean;
}

export interface Page<Item> {
  readonly size: number;
  readonly rows: readonly Item[];
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
  positionOf(this: void, row: Item): Position;
  /** Counts the rows only when called. */
  total(this: void): Promise<Total>;
}

interface Select {
  orderBy(...columns: SQL[]): Select;
  limit(rows: number): Select;
  offset(rows: Placeholder): Select;
  as(alias: string): Subquery;
  getSQL(): SQL;
}

/** Limits how many rows a statement reads from each of its sources. */
export interface ScanLimit {
  /** The number of rows that each source must return: the first ones after the position. */
  readonly atMost: number;
  readonly rowsNeeded: number;
  readonly offset?: Placeholder;
  /** The list's own direction, or the opposite for a backward page. */
  readonly direction: Direction;
  /** Selects the rows after the position by other columns that hold the same keys. */
  positionCondition(keys: readonly SQL[]): SQL | undefined;
  /** The rows gathered for the total, if they include the page. */
  readonly gatheredRows?: SQL | undefined;
}

interface ListDefinition<V extends object, F extends Fields> {
  /** The name of the list's statements. The total's statement adds ` total`. */
  readonly name: string;
  readonly fields: FieldsOf<V, F>;
  /** The sort columns by their names in the row. The last one must be unique. */
  readonly keys: Readonly<Record<string, OrderKey>>;
  readonly direction: Direction;
  /** True if the list may be read from a replica, like a statement with `mayBeStale`. */
  readonly mayBeStale?: boolean;
  /**
   * Selects the rows, without an order or a limit. `condition` keeps the rows after a position. For the total, `fields`
   * is one indexed column, because reading the others would double the cost.
   */
  rows($: Placeholders<V>, fields: F, condition: SQL | undefined, scan: ScanLimit): Select;
  /** True if `rows` applies the scan limit and the offset itself. */
  readonly appliesScanLimit?: boolean;
  readonly exactTotalMax?: number;
  /** A cheaper set of rows to count, if there is one. */
  rowsToCount?($: Placeholders<V>, scan: ScanLimit): SQL;
  /** Gathers the first rows if one subquery can serve both the total and the page. */
  gatherRows?: (($: Placeholders<V>, scan: ScanLimit) => SQL) | undefined;
  /** The object in the row that holds the keys, if the row itself doesn't. */
  keyObject?(row: Row<F>): object;
}

export interface List<V extends object, Item> {
  (db: Db, values: V, request: PageRequest): Promise<Page<Item>>;
  total(db: Db, values: V): Promise<Total>;
  /** Makes a page of rows that another statement has read. One extra row shows that there are more. */
  pageOf(items: readonly Item[], request: PartOfList, total: () => Promise<Total>): Page<Item>;
  /** Reads the list as part of its parent's row, which supplies some of the values. */
  partOf<P extends keyof V & string>(
    parent: Readonly<Record<P, SQL>>,
    $: Placeholders<Omit<V, P>>,
    request: PartOfList,
  ): { from: SQL; order: SQL };
  totalOf<P extends keyof V & string>(
    parent: Readonly<Record<P, SQL>>,
    $: Placeholders<Omit<V, P>>,
    indexCondition?: SQL,
  ): SQL;
}

export type PageStart = 'first' | 'after' | 'last' | 'before';

export function startOf({ after, before, isBackward }: Omit<SamePageRequest, 'size'>): PageStart {
  if (isBackward) return before ? 'before' : 'last';
  return after ? 'after' : 'first';
}

/** A page that is read as part of its parent's row. `positionValues` supplies its position. */
export interface PartOfList {
  readonly size: number;
  readonly start: PageStart;
  /** A condition that finds the same rows through another index. */
  readonly indexCondition?: SQL | undefined;
}

export function pagedList<V extends object, F extends Fields>(definition: ListDefinition<V, F>): List<V, Row<F>> {
  const { name, fields, exactTotalMax = PAGE.exactTotalMax } = definition;
  const names = Object.keys(definition.keys);
  const columns = Object.values(definition.keys);
  // Only `partOf` and counting by key use this column. Neither occurs in lists that are sorted by an expression.
  const [key] = columns as [PgColumn];
  const directionOf = (start: PageStart) => (isBackward(start) ? reversed(definition.direction) : definition.direction);
  const inOrder = (direction: Direction) => columns.map(direction === 'asc' ? asc : desc);
  const from = (on: Db) => (definition.mayBeStale ? (on.forStaleReads ?? on) : on);
  const countLimit = scanLimitOfCount(exactTotalMax, definition.direction);
  // The SQL contains the page size. As a parameter, it would make Postgres plan every call.
  const pages = cachedByKey<(on: Db, values: V) => Promise<{ rows: Row<F>[]; count?: number }>>();

  function pageStatement(size: number, offset: number, start: PageStart, withTotal: boolean) {
    const atMost = offset > 0 ? roundedUp(offset + size + 1) : size + 1;
    return pages(`${size} ${start} ${offset > 0} ${atMost}${withTotal ? ' counted' : ''}`, () => {
      const gatherRows =
        withTotal && start === 'first' && atMost <= countLimit.atMost ? definition.gatherRows : undefined;
      const direction = directionOf(start);
      const select = ($: Placeholders<V>, selectedFields: F) => {
        const conditionOn = (keys: readonly SQL[]) =>
          hasPosition(start) ? positionCondition(columns, keys, direction, $) : undefined;
        const condition = conditionOn(columns.map((column) => sql`${column}`));
        const scan = {
          atMost,
          rowsNeeded: size + 1,
          ...(offset > 0 && { offset: ($ as Placeholders<{ offset: number }>)('offset') }),
          direction,
          positionCondition: conditionOn,
          gatheredRows: gatherRows && sql`select * from gathered`,
        };
        const page = definition
          .rows($, selectedFields, condition, scan)
          .orderBy(...inOrder(direction))
          .limit(size + 1);
        return scan.offset && !definition.appliesScanLimit ? page.offset(scan.offset) : page;
      };
      if (gatherRows) {
        const count = sql`select count(*)::int from (select from gathered limit ${countLimit.atMost}) g`;
        return countedStatement(
          name,
          fields,
          select,
          () => count,
          ($) => gatherRows($, countLimit),
        );
      }
      if (withTotal) return countedStatement(name, fields, select, counting);
      const withoutTotal = statement(name, fields, select, 'json');
      return async (on, values) => ({ rows: await withoutTotal(on, values) });
    });
  }

  /** Selects one indexed column instead of the fields. `rows` accepts any columns, which `F` can't say. */
  const rowsToCountByKey = ($: Placeholders<V>, condition: SQL | undefined) =>
    definition.rows($, { key } as unknown as F, condition, countLimit);

  // In list order, Postgres reads the list's own index.
  const counting = ($: Placeholders<V>): SQL => {
    const some = definition.rowsToCount
      ? sql`(${definition.rowsToCount($, countLimit)}) counted`
      : rowsToCountByKey($, undefined)
          .orderBy(...inOrder(definition.direction))
          .limit(countLimit.atMost)
          .as('some');
    return builder.select({ count: COUNT }).from(some).getSQL();
  };
  const count = statement(`${name} total`, { count: COUNT }, counting);

  async function readPage(on: Db, values: V, request: PageRequest): Promise<Page<Row<F>>> {
    const { size, offset = 0, after, before, withTotal = false } = request;
    const start = startOf(request);
    const parameters = { offset, ...values, ...positionValues(after ?? before) };
    const page = await pageStatement(size, offset, start, withTotal)(from(on), parameters);
    return pageOf(page.rows, { size, start, isNumbered: offset > 0 }, () =>
      page.count === undefined ? total(on, values) : Promise.resolve(totalOf(page.count, exactTotalMax)),
    );
  }

  async function total(on: Db, values: V): Promise<Total> {
    return totalOf((await count(from(on), values))[0]?.count, exactTotalMax);
  }

  function pageOf(
    items: readonly Row<F>[],
    { size, start, isNumbered = false }: PartOfList & { isNumbered?: boolean },
    countTotal: () => Promise<Total>,
  ): Page<Row<F>> {
    const hasMore = items.length > size;
    const rows = hasMore ? items.slice(0, size) : items;
    const isReversed = isBackward(start);
    return {
      size,
      rows: isReversed ? rows.toReversed() : rows,
      hasNext: isReversed ? start === 'before' : hasMore,
      hasPrevious: isReversed ? hasMore : start === 'after' || isNumbered,
      positionOf: (row) =>
        names.map((each) => ((definition.keyObject?.(row) ?? row) as Record<string, KeyValue>)[each] as KeyValue),
      total: countTotal,
    };
  }

  return Object.assign(readPage, {
    total,
    pageOf,
    partOf(parent: Readonly<Record<string, SQL>>, values: object, { size, start, indexCondition }: PartOfList) {
      const $ = valuesOf<V>(parent, values);
      const position = columns.map((column) => sql`${column}`);
      const direction = directionOf(start);
      const condition = hasPosition(start) ? positionCondition(columns, position, direction, $) : indexCondition;
      const page = definition
        .rows($, typeof fields === 'function' ? fields($) : fields, condition, countLimit)
        .orderBy(...inOrder(direction))
        .limit(size + 1);
      return {
        from: sql`(${page.getSQL()}) ${sql.identifier(getTableName(key.table))}`,
        order: sql.join(inOrder(direction), sql`, `),
      };
    },
    totalOf(parent: Readonly<Record<string, SQL>>, values: object, indexCondition?: SQL) {
      const some = rowsToCountByKey(valuesOf<V>(parent, values), indexCondition).limit(countLimit.atMost);
      return sql`(select count(*) from (${some.getSQL()}) counted)`;
    },
  });
}

const COUNT = sql<number>`count(*)::int`;

/** The parent's column of a name comes before the value. Both fit into SQL, which the type `V` can't say. */
function valuesOf<V>(parent: Readonly<Record<string, SQL>>, values: object): Placeholders<V> {
  const placeholderOf = values as (name: string) => Placeholder;
  return ((name: string) => parent[name] ?? placeholderOf(name)) as unknown as Placeholders<V>;
}

/** Counting stops one row after the largest exact total. */
export function totalOf(count = 0, exactTotalMax: number = PAGE.exactTotalMax): Total {
  return { count: Math.min(count, exactTotalMax), isCapped: count > exactTotalMax };
}

/** One extra row shows that there are more. */
function scanLimitOfCount(exactTotalMax: number, direction: Direction): ScanLimit {
  return { atMost: exactTotalMax + 1, rowsNeeded: exactTotalMax + 1, direction, positionCondition: () => undefined };
}

const isBackward = (start: PageStart) => start === 'last' || start === 'before';
const hasPosition = (start: PageStart) => start === 'after' || start === 'before';

/** Rounds up to a power of two, so pages by number share a few statements. */
function roundedUp(rows: number): number {
  return 2 ** Math.ceil(Math.log2(rows));
}

/** Copies the page with converted rows. All pages share one hidden class because every property is listed. */
export function mapPage<Item, Result>(
  { size, rows: items, hasNext, hasPrevious, positionOf, total }: Page<Item>,
  make: (row: Item) => Result,
): Page<Result> {
  const rows = items.map(make);
  return {
    size,
    rows,
    hasNext,
    hasPrevious,
    positionOf: (result) => positionOf(items[rows.indexOf(result)] as Item),
    total,
  };
}

/**
 * Reads lists page by page, by number or from a position on. A position has the values of the ordering's keys in the
 * last row, so that it stays valid however the list grows, and costs the same at any depth.
 */
import { asc, desc, getTableName, sql, type Placeholder, type SQL, type Subquery } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { PAGE } from '../../limits.js';
import type { Db } from '../database.js';
import { positionCondition, positionValues, reversed } from './keyset.js';
import type { Direction, KeyValue, OrderKey, Position } from './keyset.js';
import type { Fields, Row } from '../rows.js';
import { countedStatement, builder, cachedByKey, statement, type FieldsOf, type Placeholders } from '../statement.js';

export interface PageRequest {
  readonly size: number;
  /** How many rows to skip; for pages by number. */
  readonly offset?: number;
  /** Where the page begins, if not with the first row of the list. */
  readonly after?: Position | undefined;
  /** Where the page ends, for one that is read backwards. */
  readonly before?: Position | undefined;
  /** Whether the page is read backwards: from the end of the list, or from `before`. */
  readonly isBackward?: boolean;
  /** Whether the total is needed: counting in the same statement saves a round trip. */
  readonly withTotal?: boolean | undefined;
}

/** The same page of many lists: all have the same size, and begin or end at the same position. */
export type SamePageRequest = Pick<PageRequest, 'size' | 'after' | 'before' | 'isBackward'>;

export interface Total {
  readonly count: number;
  /** True where there are more rows than the counting limit. */
  readonly isCapped: boolean;
}

export interface Page<Item> {
  /** The maximum number of rows of the page. */
  readonly size: number;
  readonly rows: readonly Item[];
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
  positionOf(this: void, row: Item): Position;
  /** Counts only when it is called. */
  total(this: void): Promise<Total>;
}

/** The part of Drizzle's dynamic select that a page needs. */
interface Select {
  orderBy(...columns: SQL[]): Select;
  limit(rows: number): Select;
  offset(rows: Placeholder): Select;
  as(alias: string): Subquery;
  getSQL(): SQL;
}

/** How far a statement reads, for rows that are gathered from several sources. */
export interface ScanLimit {
  /** Each source needs to return no more rows than this: the first ones of the ordering after the position. */
  readonly atMost: number;
  /** How many of the gathered rows are needed. */
  readonly rowsNeeded: number;
  /** How many of them are skipped before; for pages by number. */
  readonly offset?: Placeholder;
  /** How all keys are sorted: as in the list, or the other way round for a page that is read backwards. */
  readonly direction: Direction;
  /** The condition of the position, for other columns with the same keys. */
  positionCondition(keys: readonly SQL[]): SQL | undefined;
  /** The rows that were gathered for the total, if they contain the page. */
  readonly gatheredRows?: SQL | undefined;
}

interface ListDefinition<V extends object, F extends Fields> {
  /** The name of its statements; that of the total has ` total` behind it. */
  readonly name: string;
  readonly fields: FieldsOf<V, F>;
  /** The columns of the ordering, of which the last makes it total, by their names in the row. */
  readonly keys: Readonly<Record<string, OrderKey>>;
  readonly direction: Direction;
  /**
   * The rows, without order and limit, of which `condition` leaves those behind a position. For the total, the fields
   * are one column of the list's index: the other columns would cost twice as much as the counting.
   */
  rows($: Placeholders<V>, fields: F, condition: SQL | undefined, scan: ScanLimit): Select;
  /** True where `rows` itself applies the scan limit, with its offset. */
  readonly appliesScanLimit?: boolean;
  /** The counting limit, where it is not the usual one. */
  readonly exactTotalMax?: number;
  /** Is counted instead of the rows, where that is less work. */
  rowsToCount?($: Placeholders<V>, scan: ScanLimit): SQL;
  /** The first of the rows, where one sub-select serves the total and the pages that are among them. */
  gatherRows?: (($: Placeholders<V>, scan: ScanLimit) => SQL) | undefined;
  /** The object in the row that has the keys, if not the row itself. */
  keyObject?(row: Row<F>): object;
}

export interface List<V extends object, Item> {
  (db: Db, values: V, request: PageRequest): Promise<Page<Item>>;
  /** How many rows there are in all. */
  total(db: Db, values: V): Promise<Total>;
  /** A page of rows that another statement has read: one more than the page's size, if there are more. */
  pageOf(items: readonly Item[], request: PartOfList, total: () => Promise<Total>): Page<Item>;
  /** The list inside the row of its parent, which has some of the values: rows to select from, and their order. */
  partOf<P extends keyof V & string>(
    parent: Readonly<Record<P, SQL>>,
    $: Placeholders<Omit<V, P>>,
    request: PartOfList,
  ): { from: SQL; order: SQL };
  /** The total of the list, inside the row of its parent. */
  totalOf<P extends keyof V & string>(
    parent: Readonly<Record<P, SQL>>,
    $: Placeholders<Omit<V, P>>,
    indexCondition?: SQL,
  ): SQL;
}

/** Where a page lies: at the beginning of the list, behind a position, at the end, or in front of a position. */
export type PageStart = 'first' | 'after' | 'last' | 'before';

export function startOf({ after, before, isBackward }: Omit<SamePageRequest, 'size'>): PageStart {
  if (isBackward) return before ? 'before' : 'last';
  return after ? 'after' : 'first';
}

/** A page that is read in the row of its parent; `positionValues` gives its position. */
export interface PartOfList {
  readonly size: number;
  readonly start: PageStart;
  /** A condition that finds the same rows by another index. */
  readonly indexCondition?: SQL | undefined;
}

export function pagedList<V extends object, F extends Fields>(parts: ListDefinition<V, F>): List<V, Row<F>> {
  const { name, fields, exactTotalMax = PAGE.exactTotalMax } = parts;
  const names = Object.keys(parts.keys);
  const columns = Object.values(parts.keys);
  // Only `partOf` and counting by key use it, and no list that is sorted by an expression does either.
  const [key] = columns as [PgColumn];
  const directionOf = (start: PageStart) => (isBackward(start) ? reversed(parts.direction) : parts.direction);
  const inOrder = (direction: Direction) => columns.map(direction === 'asc' ? asc : desc);
  const countLimit = scanLimitOfCount(exactTotalMax, parts.direction);
  // The page's size is part of the text: Postgres would plan on every call if it were a parameter.
  const pages = cachedByKey<(on: Db, values: V) => Promise<{ rows: Row<F>[]; count?: number }>>();

  function pageStatement(size: number, offset: number, start: PageStart, withTotal: boolean) {
    const atMost = offset > 0 ? roundedUp(offset + size + 1) : size + 1;
    return pages(`${size} ${start} ${offset > 0} ${atMost}${withTotal ? ' counted' : ''}`, () => {
      const gatherRows = withTotal && start === 'first' && atMost <= countLimit.atMost ? parts.gatherRows : undefined;
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
        const page = parts
          .rows($, selectedFields, condition, scan)
          .orderBy(...inOrder(direction))
          .limit(size + 1);
        return scan.offset && !parts.appliesScanLimit ? page.offset(scan.offset) : page;
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

  /** The rows for a count, which reads one column of the list's index and no field of them. */
  const rowsToCountByKey = ($: Placeholders<V>, condition: SQL | undefined) =>
    parts.rows($, { key } as unknown as F, condition, countLimit);

  // In the order of the list, so that the list's own index is read.
  const counting = ($: Placeholders<V>): SQL => {
    const some = parts.rowsToCount
      ? sql`(${parts.rowsToCount($, countLimit)}) counted`
      : rowsToCountByKey($, undefined)
          .orderBy(...inOrder(parts.direction))
          .limit(countLimit.atMost)
          .as('some');
    return builder.select({ count: COUNT }).from(some).getSQL();
  };
  const count = statement(`${name} total`, { count: COUNT }, counting);

  async function readPage(on: Db, values: V, request: PageRequest): Promise<Page<Row<F>>> {
    const { size, offset = 0, after, before, withTotal = false } = request;
    const start = startOf(request);
    const parameters = { offset, ...values, ...positionValues(after ?? before) };
    const page = await pageStatement(size, offset, start, withTotal)(on, parameters);
    return pageOf(page.rows, { size, start, isNumbered: offset > 0 }, () =>
      page.count === undefined ? total(on, values) : Promise.resolve(totalOf(page.count, exactTotalMax)),
    );
  }

  async function total(on: Db, values: V): Promise<Total> {
    return totalOf((await count(on, values))[0]?.count, exactTotalMax);
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
        names.map((each) => ((parts.keyObject?.(row) ?? row) as Record<string, KeyValue>)[each] as KeyValue),
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
      const page = parts
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

/** The parameters of a statement, some of them from the row of the parent: together they have the names of `V`. */
function valuesOf<V>(parent: Readonly<Record<string, SQL>>, values: object): Placeholders<V> {
  const placeholderOf = values as (name: string) => Placeholder;
  return ((name: string) => parent[name] ?? placeholderOf(name)) as unknown as Placeholders<V>;
}

/** The total for a count, which stops after the largest exact total. */
export function totalOf(count = 0, exactTotalMax: number = PAGE.exactTotalMax): Total {
  return { count: Math.min(count, exactTotalMax), isCapped: count > exactTotalMax };
}

/** The counting limit and one more row, which shows that there are more. */
function scanLimitOfCount(exactTotalMax: number, direction: Direction): ScanLimit {
  return { atMost: exactTotalMax + 1, rowsNeeded: exactTotalMax + 1, direction, positionCondition: () => undefined };
}

const isBackward = (start: PageStart) => start === 'last' || start === 'before';
const hasPosition = (start: PageStart) => start === 'after' || start === 'before';

/** Rounds up to a power of two, so that pages by number need few statements. */
function roundedUp(rows: number): number {
  return 2 ** Math.ceil(Math.log2(rows));
}

/** The same page with converted rows. Its properties are written out, so that all pages have one hidden class. */
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

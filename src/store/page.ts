/**
 * Lists are read a page at a time, either by number or from after a position. A position is the values of the
 * ordering's keys in the last row seen, so it stays true however the list grows, and costs the same at any depth.
 */
import { asc, desc, getTableName, gt, lt, sql, type Placeholder, type SQL, type Subquery } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { PAGE } from '../rules/limits.js';
import type { Db } from './database.js';
import { countedStatement, unconnected, remembering, statement, type Values } from './statement.js';

export type KeyValue = string | number | boolean | Date;
export type Position = readonly KeyValue[];

export interface PageRequest {
  readonly size: number;
  /** How many rows to pass over; for pages asked for by number. */
  readonly offset?: number;
  readonly after?: Position;
  /** Whether it will be asked how many there are in all: to count at once costs no round trip. */
  readonly counted?: boolean | undefined;
}

/** The same page of many lists: each is as long, and each begins after the same position. */
export type SamePageRequest = Pick<PageRequest, 'size' | 'after'>;

export interface Total {
  readonly count: number;
  /** True where there are more rows than anyone counts. */
  readonly capped: boolean;
}

export interface Page<Row> {
  /** How many rows a page holds, at most. */
  readonly size: number;
  readonly rows: readonly Row[];
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
  positionOf(this: void, row: Row): Position;
  /** Counted only when somebody asks. */
  total(this: void): Promise<Total>;
}

/** As much of Drizzle's dynamic select as a page needs. */
interface Select<Row> {
  orderBy(...columns: SQL[]): Select<Row>;
  limit(rows: number): Select<Row>;
  offset(rows: Placeholder): Select<Row>;
  as(alias: string): Subquery;
  prepare(name: string): { execute(values?: Record<string, unknown>): Promise<Row[]> };
  getSQL(): SQL;
}

/** How far a statement reads, for rows that are gathered from several places. */
export interface Reach {
  /** Each place needs to give no more than this: the first so many of the ordering, from after the position on. */
  readonly atMost: number;
  /** Of all that was gathered, so many are wanted. */
  readonly wanted: number;
  /** How many of them are passed over before; for pages asked for by number. */
  readonly offset?: Placeholder;
  /** The position again, for other columns that hold the same keys. */
  behind(keys: readonly SQL[]): SQL | undefined;
  /** What was gathered for the total already, and the page is among. */
  readonly gathered?: SQL | undefined;
}

interface Listing<V extends object, Row> {
  /** The ordering, from the first key to the one that makes it total. Each is named as in the row. */
  readonly keys: Readonly<Record<string, PgColumn>>;
  readonly order: 'newest first' | 'oldest first';
  /** The rows, unordered and unbounded; `within` narrows them to those after a position. */
  rows(db: PostgresJsDatabase, $: Values<V>, within: SQL | undefined, reach: Reach): Select<Row>;
  /** True where `rows` keeps to the reach by itself, offset and all. */
  readonly keepsToReach?: boolean;
  /** How far the rows are counted, where that is not as far as usual. */
  readonly exactTotalMax?: number;
  /** What is counted instead of the rows, where that is less work. */
  counted?(db: PostgresJsDatabase, $: Values<V>, reach: Reach): SQL;
  /** The first of the rows, where one look for them does for the total and for the pages that are among them. */
  gathered?: (($: Values<V>, reach: Reach) => SQL) | undefined;
  /** Where in the row the keys are, if not in the row itself. */
  keyed?(row: Row): object;
}

export interface List<V extends object, Row> {
  (db: Db, values: V, request: PageRequest): Promise<Page<Row>>;
  /** How many rows there are in all. */
  total(db: Db, values: V): Promise<Total>;
  /** A page of rows that were read as a part of another statement: one more than it holds, if there are more. */
  pageOf(found: readonly Row[], request: PartOfList, total: () => Promise<Total>): Page<Row>;
  /** The list inside the row of its parent, which says some of the values: rows to select from, and their order. */
  partOf<P extends keyof V & string>(
    parent: Readonly<Record<P, SQL>>,
    $: Values<Omit<V, P>>,
    request: PartOfList,
  ): { from: SQL; order: SQL };
  /** How many rows it has, inside the row of its parent. */
  totalOf<P extends keyof V & string>(parent: Readonly<Record<P, SQL>>, $: Values<Omit<V, P>>, sooner?: SQL): SQL;
}

/** A page that is read in the row of its parent. */
export interface PartOfList {
  readonly size: number;
  /** Whether it begins after a position, which `positionValues` gives. */
  readonly isAfter: boolean;
  /** A condition that leads to the same rows by another index. */
  readonly sooner?: SQL | undefined;
}

export function listing<V extends object, Row extends object>(parts: Listing<V, Row>): List<V, Row> {
  const names = Object.keys(parts.keys);
  const columns = Object.values(parts.keys);
  const direction = parts.order === 'newest first' ? desc : asc;
  const { exactTotalMax = PAGE.exactTotalMax } = parts;
  const everything = reachOfCount(exactTotalMax);
  // The page's size is part of the text: Postgres would plan anew at every call if it were a parameter.
  const pages = remembering<(db: Db, values: Record<string, unknown>) => Promise<{ rows: Row[]; count?: number }>>();

  function pageStatement(size: number, offset: number, kind: 'first' | 'numbered' | 'after', counted: boolean) {
    const atMost = kind === 'numbered' ? roundedUp(offset + size + 1) : size + 1;
    return pages(`${size} ${kind} ${atMost}${counted ? ' counted' : ''}`, () => {
      const gathered = counted && kind !== 'after' && atMost <= everything.atMost ? parts.gathered : undefined;
      const select = (db: PostgresJsDatabase, $: Values<Record<string, unknown>>) => {
        const behindIt = (keys: readonly SQL[]) =>
          kind === 'after' ? behind(columns, keys, parts.order, $) : undefined;
        const within = behindIt(columns.map((column) => sql`${column}`));
        const reach = {
          atMost,
          wanted: size + 1,
          ...(kind === 'numbered' && { offset: $.offset as Placeholder }),
          behind: behindIt,
          gathered: gathered && sql`select * from gathered`,
        };
        const select = parts
          .rows(db, $ as Values<V>, within, reach)
          .orderBy(...columns.map(direction))
          .limit(size + 1);
        return reach.offset && !parts.keepsToReach ? select.offset(reach.offset) : select;
      };
      if (gathered) {
        const count = sql`select count(*)::int from (select from gathered limit ${everything.atMost}) g`;
        return countedStatement(
          select,
          () => count,
          ($) => gathered($ as Values<V>, everything),
        );
      }
      if (counted) return countedStatement(select, ($) => counting(unconnected, $ as Values<V>).getSQL());
      const uncounted = statement(select, 'json');
      return async (db, values) => ({ rows: await uncounted(db, values) });
    });
  }

  // In the order of the list, so that it is the list's own index that is read.
  const counting = (db: PostgresJsDatabase, $: Values<V>) => {
    const some = parts.counted
      ? sql`(${parts.counted(db, $, everything)}) counted`
      : parts
          .rows(selectingNothingBut(columns, db), $, undefined, everything)
          .orderBy(...columns.map(direction))
          .limit(everything.atMost)
          .as('some');
    return db.select({ count: sql<number>`count(*)::int` }).from(some);
  };
  const count = statement(counting);

  async function one(db: Db, values: V, request: PageRequest): Promise<Page<Row>> {
    const { size, offset = 0, after, counted = false } = request;
    const kind = after ? 'after' : offset > 0 ? 'numbered' : 'first';
    const given = { offset, ...values, ...positionValues(after) };
    const { rows, count } = await pageStatement(size, offset, kind, counted)(db, given);
    return pageOf(rows, size, kind !== 'first', () =>
      count === undefined ? total(db, values) : Promise.resolve(totalOf(count, exactTotalMax)),
    );
  }

  async function total(db: Db, values: V): Promise<Total> {
    return totalOf((await count(db, values))[0]?.count, exactTotalMax);
  }

  function pageOf(found: readonly Row[], size: number, hasPrevious: boolean, counted: () => Promise<Total>): Page<Row> {
    return {
      size,
      rows: found.length > size ? found.slice(0, size) : found,
      hasNext: found.length > size,
      hasPrevious,
      positionOf: (row) =>
        names.map((name) => ((parts.keyed?.(row) ?? row) as Record<string, KeyValue>)[name] as KeyValue),
      total: counted,
    };
  }

  return Object.assign(one, {
    total,
    pageOf: (found: readonly Row[], { size, isAfter }: PartOfList, counted: () => Promise<Total>) =>
      pageOf(found, size, isAfter, counted),
    partOf(parent: Readonly<Record<string, SQL>>, values: object, { size, isAfter, sooner }: PartOfList) {
      const $ = valuesOf<V>(parent, values);
      const position = columns.map((column) => sql`${column}`);
      const within = isAfter ? behind(columns, position, parts.order, $ as Values<Record<string, unknown>>) : sooner;
      const page = parts
        .rows(unconnected, $, within, everything)
        .orderBy(...columns.map(direction))
        .limit(size + 1);
      const [{ table }] = columns as [PgColumn];
      return {
        from: sql`(${page.getSQL()}) ${sql.identifier(getTableName(table))}`,
        order: sql.join(columns.map(direction), sql`, `),
      };
    },
    totalOf(parent: Readonly<Record<string, SQL>>, values: object, sooner?: SQL) {
      const some = parts
        .rows(selectingNothingBut(columns, unconnected), valuesOf<V>(parent, values), sooner, everything)
        .limit(everything.atMost);
      return sql`(select count(*) from (${some.getSQL()}) counted)`;
    },
  });
}

/** The values of a statement, but for those that the row of the parent says. */
function valuesOf<V>(parent: Readonly<Record<string, SQL>>, values: object): Values<V> {
  const get = (_: object, name: string | symbol): unknown => parent[String(name)] ?? Reflect.get(values, name);
  return new Proxy({}, { get }) as Values<V>;
}

/** Of as many rows as were counted, which stops after the largest total that is exact. */
export function totalOf(counted = 0, exactTotalMax: number = PAGE.exactTotalMax): Total {
  return { count: Math.min(counted, exactTotalMax), capped: counted > exactTotalMax };
}

/**
 * For counting, one column is selected that the list's index holds. Columns that nobody reads
 * cost twice what the counting does.
 */
function selectingNothingBut([key]: readonly PgColumn[], db: PostgresJsDatabase): PostgresJsDatabase {
  const select = () => db.select({ key: key as PgColumn });
  return Object.create(db, { select: { value: select } }) as PostgresJsDatabase;
}

/** As far as is counted, and one more, which shows that there are more. */
function reachOfCount(exactTotalMax: number): Reach {
  return { atMost: exactTotalMax + 1, wanted: exactTotalMax + 1, behind: () => undefined };
}

/** Few sizes, and so few statements, for pages by number. */
function roundedUp(rows: number): number {
  return 2 ** Math.ceil(Math.log2(rows));
}

function behind(
  columns: readonly PgColumn[],
  alike: readonly SQL[],
  order: Listing<object, unknown>['order'],
  $: Values<Record<string, unknown>>,
): SQL {
  const list = (items: readonly SQL[]) => sql`(${sql.join([...items], sql`, `)})`;
  const keys = list(alike);
  const position = list(columns.map((column, at) => sql`${$[`key${at}`]}::${sql.raw(column.getSQLType())}`));
  return order === 'newest first' ? lt(keys, position) : gt(keys, position);
}

/** A position as the values that `behind` names. */
export function positionValues(position: Position | undefined): Record<string, KeyValue> {
  return Object.fromEntries((position ?? []).map((value, at) => [`key${at}`, asSent(value)]));
}

function asSent(value: KeyValue): KeyValue {
  return value instanceof Date ? value.toISOString() : value;
}

/**
 * The same page with each row made into something else; a position is still that of the row. Named one by one, so that
 * all pages are of one shape.
 */
export function mapPage<Row, Made>(
  { size, rows: found, hasNext, hasPrevious, positionOf, total }: Page<Row>,
  make: (row: Row) => Made,
  counted = total,
): Page<Made> {
  const rows = found.map(make);
  return {
    size,
    rows,
    hasNext,
    hasPrevious,
    positionOf: (made) => positionOf(found[rows.indexOf(made)] as Row),
    total: counted,
  };
}

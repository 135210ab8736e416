/**
 * Lists are read a page at a time, either by number or from behind a position. A position is the values of the
 * ordering's keys in the last row seen, so it stays true however the list grows, and costs the same at any depth.
 */
import { asc, desc, gt, lt, sql, type Placeholder, type SQL, type Subquery } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { PAGE } from '../rules/limits.js';
import type { Db } from './database.js';
import { statement, type Values } from './statement.js';

export type KeyValue = string | number | boolean | Date;
export type Position = readonly KeyValue[];

export interface PageRequest {
  readonly size: number;
  /** How many rows to pass over; for pages asked for by number. */
  readonly offset?: number;
  readonly after?: Position;
}

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
  positionOf(row: Row): Position;
  /** Counted only when somebody asks. */
  total(): Promise<Total>;
}

/** As much of Drizzle's dynamic select as a page needs. */
interface Select<Row> {
  orderBy(...columns: SQL[]): Select<Row>;
  limit(rows: number): Select<Row>;
  offset(rows: Placeholder): Select<Row>;
  as(alias: string): Subquery;
  prepare(name: string): { execute(values?: Record<string, unknown>): Promise<Row[]> };
}

interface Listing<V extends object, Row> {
  /** The ordering, from the first key to the one that makes it total. Each is named as in the row. */
  readonly keys: Readonly<Record<string, PgColumn>>;
  readonly order: 'newest first' | 'oldest first';
  /** The rows, unordered and unbounded; `within` narrows them to those behind a position. */
  rows(db: PostgresJsDatabase, $: Values<V>, within: SQL | undefined): Select<Row>;
}

export type List<V extends object, Row> = (db: Db, values: V, request: PageRequest) => Promise<Page<Row>>;

export function listing<V extends object, Row extends object>(parts: Listing<V, Row>): List<V, Row> {
  const columns = Object.values(parts.keys);
  const direction = parts.order === 'newest first' ? desc : asc;
  // The page's size stands in the text: Postgres would plan anew at every call if it were a parameter.
  const pages = new Map<string, (db: Db, values: Record<string, unknown>) => Promise<Row[]>>();

  function pageStatement(size: number, kind: 'first' | 'numbered' | 'after') {
    const known = pages.get(`${size} ${kind}`);
    if (known) return known;
    const made = statement((db, $: Values<Record<string, unknown>>) => {
      const within = kind === 'after' ? behind(columns, parts.order, $) : undefined;
      const select = parts.rows(db, $ as Values<V>, within).orderBy(...columns.map(direction)).limit(size + 1);
      return kind === 'numbered' ? select.offset($.offset as Placeholder) : select;
    });
    pages.set(`${size} ${kind}`, made);
    return made;
  }

  const count = statement((db, $: Values<V>) => {
    const some = parts.rows(db, $, undefined).limit(PAGE.exactTotalMax + 1).as('some');
    return db.select({ count: sql<number>`count(*)::int` }).from(some);
  });

  return async (db, values, request) => {
    const { size, offset = 0, after } = request;
    const kind = after ? 'after' : offset > 0 ? 'numbered' : 'first';
    const given = { ...values, offset, ...(after && Object.fromEntries(after.map((value, at) => [`key${at}`, asSent(value)]))) };
    const found = await pageStatement(size, kind)(db, given);
    return {
      size,
      rows: found.slice(0, size),
      hasNext: found.length > size,
      hasPrevious: kind !== 'first',
      positionOf: (row) => Object.keys(parts.keys).map((key) => (row as Record<string, KeyValue>)[key] as KeyValue),
      total: async () => {
        const [counted] = await count(db, values);
        const all = counted?.count ?? 0;
        return { count: Math.min(all, PAGE.exactTotalMax), capped: all > PAGE.exactTotalMax };
      },
    };
  };
}

function behind(columns: readonly PgColumn[], order: Listing<object, unknown>['order'], $: Values<Record<string, unknown>>): SQL {
  const list = (items: readonly SQL[]) => sql`(${sql.join([...items], sql`, `)})`;
  const keys = list(columns.map((column) => sql`${column}`));
  const position = list(columns.map((column, at) => sql`${$[`key${at}`]}::${sql.raw(column.getSQLType())}`));
  return order === 'newest first' ? lt(keys, position) : gt(keys, position);
}

function asSent(value: KeyValue): KeyValue {
  return value instanceof Date ? value.toISOString() : value;
}

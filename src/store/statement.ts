/**
 * Builds a statement with Drizzle once, and sends its text many times. Building SQL costs several times as much as
 * sending it, and a statement that Drizzle prepared on the pool could not run inside a transaction; this one runs on
 * both.
 */
import { Column, is, Param, Placeholder, sql, type DriverValueEncoder, type SQL } from 'drizzle-orm';
import { PgDialect, type PgColumn } from 'drizzle-orm/pg-core';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { LRUCache } from 'lru-cache';
import type { ParameterOrJSON } from 'postgres';
import type { Db } from './database.js';
import { rowReader, type SelectedField, type ValuesFrom } from './rows.js';

/** The parameters of a statement, as placeholders while it is built. */
export type Values<V> = { readonly [K in keyof V & string]: Placeholder<K, V[K]> };

interface Prepared<Rows> {
  execute(values?: Record<string, unknown>): Promise<Rows>;
}

interface Builder<Rows> {
  prepare(name: string): Prepared<Rows>;
  getSQL(): SQL;
}

/** The properties of a built query of Drizzle. */
interface Built {
  fields: SelectedField[] | undefined;
  joinsNotNullableMap: Record<string, boolean> | undefined;
}

/** A Drizzle without a connection, which only builds statements. */
export const unconnected = drizzle.mock({ casing: 'snake_case' });
const dialect = new PgDialect({ casing: 'snake_case' });

interface Form {
  readonly text: string;
  readonly params: readonly Slot[];
}

/** A parameter: the name of its value, and the encoder of its column. */
interface Slot {
  readonly name: string;
  readonly encoder: DriverValueEncoder<unknown, unknown> | undefined;
}

type Build<V, Rows> = (db: PostgresJsDatabase, values: Values<V>) => Builder<Rows>;

interface Ready extends Form {
  read(row: readonly unknown[]): unknown;
}

/**
 * Makes a function that runs a statement. Many rows are fetched as one text of JSON: for the driver, decoding value by
 * value costs three times as much as parsing the text.
 */
export function statement<V extends object, Rows>(build: Build<V, Rows>, from: ValuesFrom = 'driver') {
  const send = sending(build, from);
  return async (db: Db, values: V): Promise<Rows> => {
    const { answer, read } = await send(db, values as Record<string, unknown>);
    return (from === 'json' ? rowsIn(answer) : answer).map(read) as Rows;
  };
}

/**
 * Rows as one text of JSON, and a number from the same statement. Both may select from `gathered`, if it is given.
 */
export function countedStatement<V extends object, Rows>(
  build: Build<V, Rows>,
  count: ($: Values<V>) => SQL,
  gathered?: ($: Values<V>) => SQL,
) {
  const send = sending(build, 'json', { count, gathered });
  return async (db: Db, values: V): Promise<{ rows: Rows; count: number }> => {
    const { answer, read } = await send(db, values as Record<string, unknown>);
    return { rows: rowsIn(answer).map(read) as Rows, count: (answer[0]?.[1] ?? 0) as number };
  };
}

/** What a statement returns in addition to its rows, and the sub-select that both may read. */
interface Additions<V extends object> {
  count?: ($: Values<V>) => SQL;
  gathered?: (($: Values<V>) => SQL) | undefined;
}

function sending<V extends object, Rows>(
  build: Build<V, Rows>,
  from: ValuesFrom,
  { count, gathered }: Additions<V> = {},
) {
  let ready: Ready | undefined;

  function make(): Ready {
    const $ = placeholders<V>();
    const builder = build(unconnected, $);
    const { fields = [], joinsNotNullableMap } = builder.prepare('built') as Prepared<Rows> & Built;
    const rows = builder.getSQL();
    const query = from === 'json' ? asOneText(rows, fields.length, count?.($), gathered?.($)) : rows;
    return { ...formOf(query), read: rowReader(fields, joinsNotNullableMap, from) };
  }

  return async (db: Db, values: Record<string, unknown>) => {
    ready ??= make();
    return { answer: await db.send(ready.text, filled(ready.params, values)), read: ready.read };
  };
}

/** The rows of a query as one JSON array of arrays, in the order of the query. */
function asOneText(query: SQL, width: number, count?: SQL, gathered?: SQL): SQL {
  const names = sql.raw(Array.from({ length: width }, (_, at) => `c${at}`).join(', '));
  const before = gathered ? sql`with gathered as materialized (${gathered}) ` : sql``;
  return sql`${before}select coalesce(json_agg(json_build_array(${names})), '[]')${count ? sql`, (${count})` : sql``}
    from (${query}) listed (${names})`;
}

function rowsIn([row]: unknown[][]): unknown[][] {
  return (row?.[0] as unknown[][] | undefined) ?? [];
}

/**
 * Makes the text and the parameters of a statement. Constants such as page sizes are part of the text: Postgres keeps
 * one generic plan where parameters do not change the plan, and plans on every call where they might. A value that is
 * used in several places is sent once.
 */
function formOf(query: SQL): Form {
  const { sql: text, params } = dialect.sqlToQuery(query.inlineParams());
  const slots = params.map(slotOf);
  const kept = slots.filter((slot, at) => slots.findIndex((other) => isSame(slot, other)) === at);
  const numbered = text.replaceAll(/\$(\d+)/g, (_, number) => {
    const slot = slots[Number(number) - 1] as Slot;
    return `$${kept.findIndex((other) => isSame(slot, other)) + 1}`;
  });
  return { text: numbered, params: kept };
}

function slotOf(param: unknown): Slot {
  const [placeholder, encoder] = is(param, Param) ? [param.value, param.encoder] : [param, undefined];
  if (!is(placeholder, Placeholder)) throw new Error('A statement holds a value that has no name.');
  const isPlain = !encoder || encoder.mapToDriverValue === Column.prototype.mapToDriverValue;
  return { name: placeholder.name, encoder: isPlain ? undefined : encoder };
}

function isSame(one: Slot, other: Slot): boolean {
  return one.name === other.name && one.encoder === other.encoder;
}

/** Drizzle itself encodes null like any other value, which turns it into a text for some types of columns. */
function filled(params: readonly Slot[], values: Readonly<Record<string, unknown>>): ParameterOrJSON<never>[] {
  return params.map(({ name, encoder }) => {
    const value = values[name];
    if (value === undefined && !(name in values)) throw new Error(`A statement was not given its ${name}.`);
    return (value == null || !encoder ? (value ?? null) : encoder.mapToDriverValue(value)) as ParameterOrJSON<never>;
  });
}

/** The named values as columns to insert or to set, each with the encoder of its column. */
export function columns<V extends object, const K extends keyof V & string>($: Values<V>, names: readonly K[]) {
  const named: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, $[name]]));
  // Drizzle accepts a placeholder wherever it accepts SQL, although its type for `set` does not.
  return named as { [Name in K]: SQL };
}

/**
 * A whole row of a table, for `insert into … select`: the named values with the encoders of their columns, and null for
 * all others.
 */
export function rowOf(
  shape: Readonly<Record<string, PgColumn>>,
  values: Readonly<Record<string, SQL | Placeholder>>,
): SQL {
  return sql.join(
    Object.entries(shape).map(([name, column]) => sql`${values[name] ?? null}::${sql.raw(column.getSQLType())}`),
    sql`, `,
  );
}

/** How many statements by selection are kept; one that was dropped is built again. */
const VARIANTS_MAX = 500;

/** A cache that makes a value once for each key, and keeps the most recently used ones. */
export function remembering<Made extends object>(max = VARIANTS_MAX): (key: string, make: () => Made) => Made {
  const known = new LRUCache<string, Made>({ max });
  return (key, make) => {
    const kept = known.get(key);
    if (kept) return kept;
    const made = make();
    known.set(key, made);
    return made;
  };
}

/**
 * A list of texts as one parameter, for `= any(…::text[])`. The driver cannot determine the type of the list itself.
 */
export function asArray(values: readonly string[]): string {
  return `{${values.map((value) => JSON.stringify(value)).join(',')}}`;
}

function placeholders<V extends object>(): Values<V> {
  return new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) }) as Values<V>;
}

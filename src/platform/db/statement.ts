/**
 * Builds a statement with Drizzle once and reuses its text, because building SQL costs several times as much as sending
 * it. Unlike Drizzle's own prepared statements, this one also runs inside transactions.
 */
import { Column, is, Param, Placeholder, sql, type DriverValueEncoder, type SQL, type SQLWrapper } from 'drizzle-orm';
import { PgDialect, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import { LRUCache } from 'lru-cache';
import type { ParameterOrJSON } from 'postgres';
import { named, type Db, type NamedStatement } from './database.js';
import { rowReader, type Fields, type Row, type RowReader, type ValuesFrom } from './rows.js';

export interface Placeholders<V> {
  <Name extends keyof V & string>(name: Name): Placeholder<Name, V[Name]>;
}

export const builder = drizzle.mock({ casing: 'snake_case' });
const dialect = new PgDialect({ casing: 'snake_case' });

export function selectFrom(table: PgTable, fields: Fields, condition: SQL | undefined) {
  return builder.select(fields).from(table).where(condition).$dynamic();
}

export type FieldsOf<V, F extends Fields> = F | (($: Placeholders<V>) => F);

/** Builds a query with these columns, with Drizzle's builders or as SQL text. */
type Build<V, F> = ($: Placeholders<V>, fields: F) => SQLWrapper;

/**
 * Name a statement after its constant, so you can find the line of a slow one. Many rows arrive as one JSON text, which
 * the driver parses three times as fast as separate values.
 */
export function statement<V extends object, F extends Fields>(
  name: string,
  fields: FieldsOf<V, F>,
  build: Build<V, F>,
  from: ValuesFrom = 'driver',
): (db: Db, values: V) => Promise<Row<F>[]> {
  const send = prepare(name, fields, build, from);
  return async (on, values) => {
    const { answer, read } = await send(on, values as Record<string, unknown>);
    return (from === 'json' ? rowsIn(answer) : answer).map(read) as Row<F>[];
  };
}

/**
 * Returns the rows as one JSON text, along with a number. Both may read the rows of `gatherRows` under the name
 * `gathered`.
 */
export function countedStatement<V extends object, F extends Fields>(
  name: string,
  fields: FieldsOf<V, F>,
  build: Build<V, F>,
  count: ($: Placeholders<V>) => SQL,
  gatherRows?: ($: Placeholders<V>) => SQL,
): (db: Db, values: V) => Promise<{ rows: Row<F>[]; count: number }> {
  const send = prepare(name, fields, build, 'json', { count, gatherRows });
  return async (on, values) => {
    const { answer, read } = await send(on, values as Record<string, unknown>);
    return { rows: rowsIn(answer).map(read) as Row<F>[], count: (answer[0]?.[1] ?? 0) as number };
  };
}

/**
 * Lets a statement read a replica, whose rows may be a few seconds old. In a transaction, and in a request that writes,
 * it reads the primary.
 */
export function mayBeStale<Values extends unknown[], Answer>(
  read: (db: Db, ...values: Values) => Answer,
): (db: Db, ...values: Values) => Answer {
  return (db, ...values) => read(db.forStaleReads ?? db, ...values);
}

/** The extra number that a statement returns, and the subquery that the number and the rows share. */
interface Additions<V> {
  readonly count?: ($: Placeholders<V>) => SQL;
  readonly gatherRows?: (($: Placeholders<V>) => SQL) | undefined;
}

interface Ready {
  readonly statement: NamedStatement;
  readonly params: readonly Parameter[];
  readonly read: RowReader['read'];
}

function prepare<V, F extends Fields>(
  name: string,
  fields: FieldsOf<V, F>,
  build: Build<V, F>,
  from: ValuesFrom,
  { count, gatherRows }: Additions<V> = {},
) {
  let ready: Ready | undefined;

  function make(): Ready {
    const $ = placeholderOf as Placeholders<V>;
    const selectedFields = typeof fields === 'function' ? fields($) : fields;
    const { width, read } = rowReader(selectedFields, from);
    const rows = build($, selectedFields).getSQL();
    const query = from === 'json' ? asOneText(rows, width, count?.($), gatherRows?.($)) : rows;
    // The SQL contains constants such as page sizes. If a parameter can change the plan, Postgres plans every call.
    const { sql: text, params } = dialect.sqlToQuery(query.inlineParams());
    return { statement: named(name, text), params: params.map(parameterOf), read };
  }

  return async (on: Db, values: Record<string, unknown>) => {
    ready ??= make();
    return { answer: await on.send(ready.statement, fillParameters(ready.params, values)), read: ready.read };
  };
}

function placeholderOf(name: string): Placeholder {
  return sql.placeholder(name);
}

/** Selects a query's rows as one JSON array of arrays, in order. */
function asOneText(query: SQL, width: number, count?: SQL, gatheredRows?: SQL): SQL {
  const names = sql.raw(Array.from({ length: width }, (_, at) => `c${at}`).join(', '));
  const before = gatheredRows ? sql`with gathered as materialized (${gatheredRows}) ` : sql``;
  return sql`${before}select coalesce(json_agg(json_build_array(${names})), '[]')${count ? sql`, (${count})` : sql``}
    from (${query}) listed (${names})`;
}

function rowsIn([row]: unknown[][]): unknown[][] {
  return (row?.[0] as unknown[][] | undefined) ?? [];
}

interface Parameter {
  readonly name: string;
  readonly encoder: DriverValueEncoder<unknown, unknown> | undefined;
}

function parameterOf(param: unknown): Parameter {
  const [placeholder, encoder] = is(param, Param) ? [param.value, param.encoder] : [param, undefined];
  if (!is(placeholder, Placeholder)) throw new Error('A statement holds a value that has no name.');
  const isPlain = !encoder || encoder.mapToDriverValue === Column.prototype.mapToDriverValue;
  return { name: placeholder.name, encoder: isPlain ? undefined : encoder };
}

/** Skips null, which Drizzle would encode as a string for some column types. */
function fillParameters(
  params: readonly Parameter[],
  values: Readonly<Record<string, unknown>>,
): ParameterOrJSON<never>[] {
  return params.map(({ name, encoder }) => {
    const value = values[name];
    if (value === undefined && !(name in values)) throw new Error(`A statement was not given its ${name}.`);
    return (value == null || !encoder ? (value ?? null) : encoder.mapToDriverValue(value)) as ParameterOrJSON<never>;
  });
}

/** The named values as columns to insert or set, encoded for their columns. */
export function columns<V extends object, const K extends keyof V & string>($: Placeholders<V>, names: readonly K[]) {
  const byName: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, $(name)]));
  // Drizzle accepts placeholders here, although its type for `set` doesn't.
  return byName as { [Name in K]: SQL };
}
/** A whole row for `insert into … select`. Columns without a value get null. */
export function insertedRow(
  shape: Readonly<Record<string, PgColumn>>,
  values: Readonly<Record<string, SQL | Placeholder>>,
): SQL {
  return sql.join(
    Object.entries(shape).map(([name, column]) => sql`${values[name] ?? null}::${sql.raw(column.getSQLType())}`),
    sql`, `,
  );
}

/** The number of cached statements. A dropped statement is simply rebuilt. */
const VARIANTS_MAX = 500;

/** Creates one value per key, and keeps the most recently used ones. */
export function cachedByKey<Result extends object>(max = VARIANTS_MAX): (key: string, make: () => Result) => Result {
  const cache = new LRUCache<string, Result>({ max });
  return (key, make) => {
    const cachedResult = cache.get(key);
    if (cachedResult) return cachedResult;
    const result = make();
    cache.set(key, result);
    return result;
  };
}

/** Passes a list as one parameter for `= any(…::text[])`. The driver can't determine the list's type. */
export function asArray(values: readonly string[]): string {
  return `{${values.map((value) => JSON.stringify(value)).join(',')}}`;
}

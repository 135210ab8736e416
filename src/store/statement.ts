/**
 * A statement is built by Drizzle once and then sent by name for ever. Building SQL costs several times what sending
 * it does, and a statement that Drizzle prepared on the pool could not run inside a transaction; this one runs on
 * either.
 */
import { Column, is, Param, Placeholder, sql, type DriverValueEncoder, type SQL } from 'drizzle-orm';
import { PgDialect, type PgColumn } from 'drizzle-orm/pg-core';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { LRUCache } from 'lru-cache';
import type { ParameterOrJSON } from 'postgres';
import type { Db, SessionCheck } from './database.js';
import { rowReader, type SelectedField, type ValuesFrom } from './rows.js';
import { sessionIsActive } from './session-check.js';

/** The values that a statement takes when it is run, as placeholders while it is built. */
export type Values<V> = { readonly [K in keyof V & string]: Placeholder<K, V[K]> };

interface Prepared<Rows> {
  execute(values?: Record<string, unknown>): Promise<Rows>;
}

interface Builder<Rows> {
  prepare(name: string): Prepared<Rows>;
  getSQL(): SQL;
}

/** What a prepared query of Drizzle holds once it is built. */
interface Built {
  fields: SelectedField[] | undefined;
  joinsNotNullableMap: Record<string, boolean> | undefined;
}

/** A Drizzle that builds and never sends. */
export const unconnected = drizzle.mock({ casing: 'snake_case' });
const dialect = new PgDialect({ casing: 'snake_case' });

interface Form {
  readonly text: string;
  readonly params: readonly Slot[];
}

/** A parameter: a value by its name, and how its column wants it. */
interface Slot {
  readonly name: string;
  readonly encoder: DriverValueEncoder<unknown, unknown> | undefined;
}

type Build<V, Rows> = (db: PostgresJsDatabase, values: Values<V>, sessionIsActive?: SQL) => Builder<Rows>;

interface Ready extends Form {
  readonly width: number;
  read(row: readonly unknown[]): unknown;
}

/**
 * A select can check a session without knowing. What writes is handed the condition that the session is active, to do
 * nothing without it; a statement that does not use the condition waits until the session was checked. Where rows are
 * many, they come as one text of JSON: to take them apart value by value costs the driver three times what it costs to
 * read the text.
 */
export function statement<V extends object, Rows>(build: Build<V, Rows>, from: ValuesFrom = 'driver') {
  const send = sending(build, from);
  return async (db: Db, values: V): Promise<Rows> => {
    const { answer, read } = await send(db, values as Record<string, unknown>);
    return (from === 'json' ? rowsIn(answer) : answer).map(read) as Rows;
  };
}

/**
 * Rows as one text of JSON, and a number that the same statement finds. Both may select from `gathered`, if it is
 * given.
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

/** What a statement finds besides its rows. */
interface Besides<V extends object> {
  count?: ($: Values<V>) => SQL;
  gathered?: (($: Values<V>) => SQL) | undefined;
}

function sending<V extends object, Rows>(
  build: Build<V, Rows>,
  from: ValuesFrom,
  { count, gathered }: Besides<V> = {},
) {
  const inOneText = (query: SQL, width: number) => {
    const $ = placeholders<V>();
    return asOneText(query, width, count?.($), gathered?.($));
  };
  let ready: Ready | undefined;
  let checking: Form | 'none' | undefined;

  function make(): Ready {
    const builder = build(unconnected, placeholders<V>());
    const { fields = [], joinsNotNullableMap } = builder.prepare('built') as Prepared<Rows> & Built;
    const query = from === 'json' ? inOneText(builder.getSQL(), fields.length) : builder.getSQL();
    return { ...formOf(query), width: fields.length, read: rowReader(fields, joinsNotNullableMap, from) };
  }

  /** The statement with the session check in it. */
  function makeChecking({ text, width }: Ready): Form | 'none' {
    if (!/^(?:select|with gathered as) /.test(text)) {
      const own = formOf(build(unconnected, placeholders<V>(), sessionIsActive).getSQL());
      return own.text === text ? 'none' : own;
    }
    const query = build(unconnected, placeholders<V>()).getSQL();
    return formOf(
      from === 'json'
        ? sql`${inOneText(query, width)} having ${sessionIsActive}`
        : sql`select found.* from (${query}) found where ${sessionIsActive}`,
    );
  }

  async function sendChecking(
    db: Db,
    check: SessionCheck,
    form: Ready,
    values: Record<string, unknown>,
  ): Promise<unknown[][]> {
    checking ??= makeChecking(form);
    if (checking === 'none') {
      await check.ask();
      return db.send(form.text, filled(form.params, values));
    }
    const rows = await db.send(checking.text, filled(checking.params, Object.assign({}, values, check.values)));
    if (rows.length > 0) check.passed();
    return rows;
  }

  return async (db: Db, values: Record<string, unknown>) => {
    ready ??= make();
    const { sessionCheck } = db;
    const answer = await (sessionCheck && !sessionCheck.isDone
      ? sendChecking(db, sessionCheck, ready, values)
      : db.send(ready.text, filled(ready.params, values)));
    return { answer, read: ready.read };
  };
}

/** The rows of a query as one list of lists. They stay in order: the list is made of the query's rows directly. */
function asOneText(query: SQL, width: number, count?: SQL, gathered?: SQL): SQL {
  const names = sql.raw(Array.from({ length: width }, (_, at) => `c${at}`).join(', '));
  const before = gathered ? sql`with gathered as materialized (${gathered}) ` : sql``;
  return sql`${before}select coalesce(json_agg(json_build_array(${names})), '[]')${count ? sql`, (${count})` : sql``}
    from (${query}) listed (${names})`;
}

/** No row at all comes back for a session that is over. */
function rowsIn([row]: unknown[][]): unknown[][] {
  return (row?.[0] as unknown[][] | undefined) ?? [];
}

/**
 * What never changes is part of the text, page sizes above all: Postgres plans once for a text whose parameters tell
 * little, and anew at every call where it would have to guess what they are. A value that is used in several places is
 * sent once.
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

/** Drizzle's own way encodes null like any other value, which makes a text of it for some kinds of columns. */
function filled(params: readonly Slot[], values: Readonly<Record<string, unknown>>): ParameterOrJSON<never>[] {
  return params.map(({ name, encoder }) => {
    const value = values[name];
    if (value === undefined && !(name in values)) throw new Error(`A statement was not given its ${name}.`);
    return (value == null || !encoder ? (value ?? null) : encoder.mapToDriverValue(value)) as ParameterOrJSON<never>;
  });
}

/** The named values as columns to insert or to set. Each is encoded as its column wants it. */
export function columns<V extends object, const K extends keyof V & string>($: Values<V>, names: readonly K[]) {
  const named: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, $[name]]));
  // Drizzle takes a placeholder wherever it takes SQL; only its type for `set` forgets to say so.
  return named as { [Name in K]: SQL };
}

/**
 * A whole row of a table, for `insert into … select`: each value as its column has it, and null where none is named.
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

/** The fields of a part of a statement that go by the names of these. */
export function sameNames<Shape extends object>(shape: Shape, part: Readonly<Record<keyof Shape, unknown>>): Shape {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, part[name as keyof Shape]])) as Shape;
}

/** Of the statements that are made as they are asked for, so many are kept; one that fell out is made anew. */
const VARIANTS_MAX = 500;

/** What is made once for a key and then found again, as long as it is in use. */
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
 * A list of texts as one parameter, for `= any(…::text[])`. The driver cannot tell by itself what kind of list it is.
 */
export function asArray(values: readonly string[]): string {
  return `{${values.map((value) => JSON.stringify(value)).join(',')}}`;
}

function placeholders<V extends object>(): Values<V> {
  return new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) }) as Values<V>;
}

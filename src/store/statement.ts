/**
 * A statement is built by Drizzle once and then sent by name for ever. Building SQL costs several times what sending
 * it does, and a statement that Drizzle prepared on the pool could not run inside a transaction; this one runs on either.
 */
import { is, Param, Placeholder, sql, type SQL } from 'drizzle-orm';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { ParameterOrJSON } from 'postgres';
import type { Db } from './database.js';
import { rowReader, type SelectedField } from './rows.js';

/** The values that a statement takes when it is run, as placeholders while it is built. */
export type Values<V> = { readonly [K in keyof V & string]: Placeholder<K, V[K]> };

interface Prepared<Rows> {
  execute(values?: Record<string, unknown>): Promise<Rows>;
}

interface Builder<Rows> {
  prepare(name: string): Prepared<Rows>;
}

/** What a prepared query of Drizzle holds once it is built. */
interface Built {
  queryString: string;
  params: unknown[];
  fields: SelectedField[] | undefined;
  joinsNotNullableMap: Record<string, boolean> | undefined;
}

/** A Drizzle that builds and never sends. */
const drawingBoard = drizzle.mock({ casing: 'snake_case' });

export function statement<V extends object, Rows>(build: (db: PostgresJsDatabase, values: Values<V>) => Builder<Rows>) {
  let ready: { text: string; params: unknown[]; read: (row: unknown[]) => unknown } | undefined;

  function make() {
    const { queryString, params, fields = [], joinsNotNullableMap } = build(drawingBoard, placeholders<V>()).prepare('built') as Prepared<Rows> & Built;
    return { text: queryString, params, read: rowReader(fields, joinsNotNullableMap) };
  }

  return async (db: Db, values: V): Promise<Rows> => {
    const { text, params, read } = (ready ??= make());
    const rows = await db.send(text, filled(params, values as Record<string, unknown>));
    return rows.map(read) as Rows;
  };
}

/** Drizzle's own way encodes null like any other value, which makes a text of it for some kinds of columns. */
function filled(params: readonly unknown[], values: Readonly<Record<string, unknown>>): ParameterOrJSON<never>[] {
  return params.map((param) => {
    const [placeholder, encoder] = is(param, Param) ? [param.value, param.encoder] : [param, undefined];
    if (!is(placeholder, Placeholder)) return param as ParameterOrJSON<never>;
    if (!(placeholder.name in values)) throw new Error(`A statement was not given its ${placeholder.name}.`);
    const value = values[placeholder.name] ?? null;
    return (value === null || !encoder ? value : encoder.mapToDriverValue(value)) as ParameterOrJSON<never>;
  });
}

/** The named values as columns to insert or to set. Each is encoded as its column wants it. */
export function columns<V extends object, const K extends keyof V & string>($: Values<V>, names: readonly K[]) {
  const named: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, $[name]]));
  // Drizzle takes a placeholder wherever it takes SQL; only its type for `set` forgets to say so.
  return named as { [Name in K]: SQL };
}

/** Of the statements that are made as they are asked for, so many are kept; one that fell out is made anew. */
const VARIANTS_MAX = 500;

/** What is made once for a key and then found again, as long as it is in use. */
export function remembering<Made>(max = VARIANTS_MAX): (key: string, make: () => Made) => Made {
  const known = new Map<string, Made>();
  return (key, make) => {
    let made = known.get(key);
    if (made === undefined) {
      made = make();
      const [oldest] = known.size >= max ? known.keys() : [];
      if (oldest !== undefined) known.delete(oldest);
    } else known.delete(key);
    known.set(key, made);
    return made;
  };
}

/** A list of texts as one parameter, for `= any(…::text[])`. The driver cannot tell by itself what kind of list it is. */
export function asArray(values: readonly string[]): string {
  return `{${values.map((value) => JSON.stringify(value)).join(',')}}`;
}

function placeholders<V extends object>(): Values<V> {
  return new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) }) as Values<V>;
}

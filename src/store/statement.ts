/**
 * A statement is built by Drizzle once and then sent by name for ever. Building SQL costs several times what sending
 * it does, and a statement that Drizzle prepared on the pool could not run inside a transaction; this one runs on either.
 */
import { fillPlaceholders, sql, type Placeholder, type SQL } from 'drizzle-orm';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { mapResultRow } from 'drizzle-orm/utils';
import type { ParameterOrJSON } from 'postgres';
import type { Db } from './database.js';

declare module 'drizzle-orm/utils' {
  /** Exported by Drizzle at run time and left out of its types: turns the driver's row into the selected shape. */
  function mapResultRow(fields: SelectedField[], row: unknown[], joinsNotNullableMap?: Record<string, boolean>): unknown;
}

interface SelectedField {
  path: string[];
  field: unknown;
}

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
  let built: Built | undefined;
  return async (db: Db, values: V): Promise<Rows> => {
    built ??= build(drawingBoard, placeholders<V>()).prepare('built') as Prepared<Rows> & Built;
    const { fields, joinsNotNullableMap } = built;
    const params = fillPlaceholders(built.params, values as Record<string, unknown>) as ParameterOrJSON<never>[];
    const rows = await db.send(built.queryString, params);
    // Without `returning` there is nothing to map, and the rows are empty.
    return (fields ? rows.map((row) => mapResultRow(fields, row, joinsNotNullableMap)) : rows) as Rows;
  };
}

/** The named values as columns to insert or to set. Each is encoded as its column wants it. */
export function columns<V extends object, const K extends keyof V & string>($: Values<V>, names: readonly K[]) {
  const named: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, $[name]]));
  // Drizzle takes a placeholder wherever it takes SQL; only its type for `set` forgets to say so.
  return named as { [Name in K]: SQL };
}

function placeholders<V extends object>(): Values<V> {
  return new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) }) as Values<V>;
}

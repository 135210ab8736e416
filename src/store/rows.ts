/**
 * Converts the driver's values to the rows of a statement. The decoder of each value is chosen once, when the statement
 * is built, and not for every row.
 */
import { Column, getTableName, is, sql, SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

/** A column, SQL, or SQL with a name, and its path in the row. */
export interface SelectedField {
  path: string[];
  field: unknown;
}

type Decode = (value: unknown) => unknown;

interface Cell {
  readonly name: string;
  readonly decode: Decode | undefined;
}

/** Adjacent cells of a row, which belong to the row itself or to an object in it. */
interface Group {
  readonly name: string | undefined;
  /** The index of its first value in the row. */
  readonly first: number;
  readonly cells: Cell[];
  /** True for an outer join: the object is null if its first column, which is not nullable, is null. */
  readonly mayBeAbsent: boolean;
}

/** The format of the values: the driver's own, or JSON. */
export type ValuesFrom = 'driver' | 'json';

export type ReadRow = (values: readonly unknown[]) => Record<string, unknown>;

export function rowReader(
  fields: readonly SelectedField[],
  joinsNotNullable: Readonly<Record<string, boolean>> | undefined,
  from: ValuesFrom,
): ReadRow {
  const groups = groupsOf(fields, joinsNotNullable, from).map((group) => ({ ...group, read: cellsReader(group) }));
  const shape = shapeOf(groups.flatMap(({ name, cells }) => name ?? cells.map((cell) => cell.name)));
  return (values) => {
    const row = { ...shape };
    for (const { name, first, mayBeAbsent, read } of groups) {
      if (name === undefined) read(values, row);
      else row[name] = mayBeAbsent && values[first] === null ? null : read(values);
    }
    return row;
  };
}

/** Reads the cells into an object, by default a new one. */
function cellsReader({ first, cells }: Pick<Group, 'first' | 'cells'>) {
  const shape = shapeOf(cells.map(({ name }) => name));
  return (values: readonly unknown[], into: Record<string, unknown> = { ...shape }): Record<string, unknown> => {
    const object = into;
    let at = first;
    for (const { name, decode } of cells) {
      const value = values[at++];
      object[name] = decode && value !== null ? decode(value) : value;
    }
    return object;
  };
}

/**
 * An object with these properties, copied for each row. Adding properties one by one costs ten times as much, and
 * dozens of them turn the object into a dictionary.
 */
function shapeOf(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

function groupsOf(
  fields: readonly SelectedField[],
  joinsNotNullable: Readonly<Record<string, boolean>> | undefined,
  from: ValuesFrom,
): Group[] {
  const groups: Group[] = [];
  for (const [at, { path, field }] of fields.entries()) {
    const [outer, inner] = path;
    if (outer === undefined || path.length > 2) throw new Error('A row holds values, and objects of values.');
    const name = inner === undefined ? undefined : outer;
    const decode = decoderOf(field);
    const cell = { name: inner ?? outer, decode: from === 'json' ? ofJson(decode) : decode };
    const last = groups.at(-1);
    if (last && last.name === name) last.cells.push(cell);
    else
      groups.push({
        name,
        first: at,
        cells: [cell],
        mayBeAbsent: name !== undefined && is(field, Column) && joinsNotNullable?.[getTableName(field.table)] === false,
      });
  }
  return groups;
}

/** Undefined where the value is not converted. */
function decoderOf(field: unknown): Decode | undefined {
  if (is(field, Column)) {
    // Looked up once: for an aliased column each lookup goes through a proxy.
    const { mapFromDriverValue: decode } = field;
    return decode === Column.prototype.mapFromDriverValue ? undefined : (value) => decode.call(field, value);
  }
  const { decoder } = (is(field, SQL) ? field : (field as SQL.Aliased).sql) as unknown as {
    decoder: { mapFromDriverValue: Decode };
  };
  return decoder === PLAIN ? undefined : (value) => decoder.mapFromDriverValue(value);
}

const PLAIN = (sql`` as unknown as { decoder: object }).decoder;

/** The columns of a row: columns of a table, or SQL with a name. */
export type RowShape = Readonly<Record<string, PgColumn | SQL.Aliased>>;

/** A nested row as an array of its values without names, which is cheapest for the database and the reader. */
export function asJson(shape: RowShape): SQL {
  return sql`json_build_array(${sql.join(
    Object.values(shape).map((field) => (is(field, Column) ? sql`${field}` : sql`${(field as SQL.Aliased).sql}`)),
    sql`, `,
  )})`;
}

/** Reads the array of `asJson`. */
export function jsonReader<Row>(shape: RowShape): (values: readonly unknown[]) => Row {
  const cells = Object.entries(shape).map(([name, field]) => ({ name, decode: ofJson(decoderOf(field)) }));
  const read = cellsReader({ first: 0, cells });
  return (values) => read(values) as Row;
}

/** JSON has arrays; every other value has the same form as from the driver. */
function ofJson(decode: Decode | undefined): Decode | undefined {
  return decode && ((value) => (Array.isArray(value) ? value : decode(value)));
}

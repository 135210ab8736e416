/**
 * From what the driver hands over to the rows that a statement selects. How each value is read is settled once, when
 * the statement is built, and not again for every row.
 */
import { Column, getTableName, is, sql, SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

/** A column, SQL, or SQL with a name; where in the row it goes. */
export interface SelectedField {
  path: string[];
  field: unknown;
}

type Decode = (value: unknown) => unknown;

interface Cell {
  readonly name: string;
  readonly decode: Decode | undefined;
}

/** The adjacent cells of a row that belong to it or to an object in it. */
interface Group {
  readonly name: string | undefined;
  /** Where its values begin among those of the row. */
  readonly first: number;
  readonly cells: Cell[];
  /** True for what came by an outer join: without its first column, which is never null in a row, there is nothing. */
  readonly mayBeAbsent: boolean;
}

/** Where the values come from: each in the driver's own words, or all of them out of JSON. */
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

/** Reads the cells into an object, by default one of their own. */
function cellsReader({ first, cells }: Pick<Group, 'first' | 'cells'>) {
  const shape = { ...shapeOf(cells.map(({ name }) => name)), [READ_WITH]: undefined };
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
 * Under this a row within a row carries what was read together with it: no answer shows it, and nothing else has to
 * remember the row.
 */
export const READ_WITH = Symbol('what was read with the row');

/**
 * An object with these names, copied for each row. Names that are added to a row one by one cost ten times as much, and
 * dozens of them make a dictionary of it.
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

/** Undefined where the value stays as it is. */
function decoderOf(field: unknown): Decode | undefined {
  if (is(field, Column)) {
    // Found once: of a column that goes by another name, each look goes by way of that name.
    const { mapFromDriverValue: decode } = field;
    return decode === Column.prototype.mapFromDriverValue ? undefined : (value) => decode.call(field, value);
  }
  const { decoder } = (is(field, SQL) ? field : (field as SQL.Aliased).sql) as unknown as {
    decoder: { mapFromDriverValue: Decode };
  };
  return decoder === PLAIN ? undefined : (value) => decoder.mapFromDriverValue(value);
}

const PLAIN = (sql`` as unknown as { decoder: object }).decoder;

/** Columns, or SQL with a name: what of a table makes up a row. */
export type RowShape = Readonly<Record<string, PgColumn | SQL.Aliased>>;

/** A row inside a row: its values in order, without their names, which costs the database and the reader least. */
export function asJson(shape: RowShape): SQL {
  return sql`json_build_array(${sql.join(
    Object.values(shape).map((field) => (is(field, Column) ? sql`${field}` : sql`${(field as SQL.Aliased).sql}`)),
    sql`, `,
  )})`;
}

/** Reads what `asJson` wrote. */
export function jsonReader<Row>(shape: RowShape): (values: readonly unknown[]) => Row {
  const cells = Object.entries(shape).map(([name, field]) => ({ name, decode: ofJson(decoderOf(field)) }));
  const read = cellsReader({ first: 0, cells });
  return (values) => read(values) as Row;
}

/** JSON has lists of its own; every other value comes as the driver would hand it over. */
function ofJson(decode: Decode | undefined): Decode | undefined {
  return decode && ((value) => (Array.isArray(value) ? value : decode(value)));
}

/** Converts a statement's values to rows. Chooses each value's decoder once per statement, not once per row. */
import { Column, is, sql, SQL, type GetColumnData } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

export type Field = PgColumn | SQL | SQL.Aliased;

export type RowShape = Readonly<Record<string, Field>>;

/** A statement's columns in order: values and objects of values. */
export type Fields = Readonly<Record<string, Field | RowShape>>;

/** A named expression with a decoder. Drizzle keeps the decoders of `mapWith` private. */
export class ConvertedColumn<T> extends SQL.Aliased<T> {
  readonly convert: (value: never) => T;

  constructor(expression: SQL, name: string, convert: (value: never) => T) {
    super(expression, name);
    this.convert = convert;
  }
}

/** The driver and JSON both return times as strings. */
export const asDate = (text: string): Date => new Date(text);

const MAY_BE_ABSENT = Symbol('from a row that may be absent');

type MayBeAbsent = { readonly [MAY_BE_ABSENT]: true };

/** Marks a part that is null if an outer join finds no row. An object's first column must not be nullable. */
export function mayBeAbsent<Part extends PgColumn | RowShape>(part: Part): Part & MayBeAbsent {
  // Any column can hold null, so only the type changes.
  return (is(part, Column) ? part : { ...part, [MAY_BE_ABSENT]: true }) as Part & MayBeAbsent;
}

export type Row<F> = { -readonly [Name in keyof F as Name extends string ? Name : never]: Value<F[Name]> };

type Value<F> = F extends MayBeAbsent ? Present<F> | null : Present<F>;

type Present<F> = F extends Column
  ? GetColumnData<F>
  : F extends SQL | SQL.Aliased
    ? F['_']['type']
    : F extends object
      ? Row<F>
      : F;

export type ValuesFrom = 'driver' | 'json';

type Decode = (value: unknown) => unknown;

interface Cell {
  readonly name: string;
  readonly decode: Decode | undefined;
}

/** Adjacent cells that belong to the row or to an object in it. */
interface Group {
  readonly name: string | undefined;
  readonly first: number;
  readonly cells: Cell[];
  readonly mayBeAbsent: boolean;
}

export interface RowReader {
  readonly width: number;
  read(values: readonly unknown[]): Record<string, unknown>;
}

export function rowReader(fields: Fields, from: ValuesFrom): RowReader {
  const groups = groupsOf(fields, from).map((group) => ({ ...group, read: cellsReader(group) }));
  const shape = shapeOf(Object.keys(fields));
  return {
    width: groups.reduce((sum, { cells }) => sum + cells.length, 0),
    read(values) {
      const row = { ...shape };
      for (const { name, first, mayBeAbsent: isOptional, read } of groups) {
        if (name === undefined) read(values, row);
        else row[name] = isOptional && values[first] === null ? null : read(values);
      }
      return row;
    },
  };
}

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
 * An object to copy for each row. Adding properties one by one costs ten times as much, and V8 turns an object with
 * dozens into a dictionary.
 */
function shapeOf(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

function groupsOf(fields: Fields, from: ValuesFrom): Group[] {
  const groups: Group[] = [];
  let first = 0;
  for (const [name, field] of Object.entries(fields)) {
    const last = groups.at(-1);
    const cells = isField(field) ? [cellOf(name, field, from)] : cellsOf(field, from);
    if (isField(field) && last && last.name === undefined) last.cells.push(...cells);
    else
      groups.push({
        name: isField(field) ? undefined : name,
        first,
        cells,
        mayBeAbsent: !isField(field) && MAY_BE_ABSENT in field,
      });
    first += cells.length;
  }
  return groups;
}

function isField(field: Field | RowShape): field is Field {
  return is(field, Column) || is(field, SQL) || is(field, SQL.Aliased);
}

function cellsOf(shape: RowShape, from: ValuesFrom): Cell[] {
  return Object.entries(shape).map(([name, field]) => cellOf(name, field, from));
}

function cellOf(name: string, field: Field, from: ValuesFrom): Cell {
  const decode = decoderOf(field);
  return { name, decode: from === 'json' ? ofJson(decode) : decode };
}

function decoderOf(field: Field): Decode | undefined {
  if (field instanceof ConvertedColumn) return field.convert as Decode;
  if (!is(field, Column)) return undefined;
  // Reads the decoder once, because each access to an aliased column goes through a proxy.
  const { mapFromDriverValue: decode } = field;
  return decode === Column.prototype.mapFromDriverValue ? undefined : (value) => decode.call(field, value);
}

/** Selects a nested row as an array of values, which is cheapest for both sides. */
export function asJson(shape: RowShape): SQL {
  const values = Object.values(shape).map((field) => sql`${is(field, SQL.Aliased) ? field.sql : field}`);
  return sql`json_build_array(${sql.join(values, sql`, `)})`;
}

export function jsonReader<Read>(shape: RowShape): (values: readonly unknown[]) => Read {
  const read = cellsReader({ first: 0, cells: cellsOf(shape, 'json') });
  return (values) => read(values) as Read;
}

/** In JSON, arrays are already decoded. All other values look as they do from the driver. */
function ofJson(decode: Decode | undefined): Decode | undefined {
  return decode && ((value) => (Array.isArray(value) ? value : decode(value)));
}

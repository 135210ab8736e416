/**
 * A position in an ordered list consists of the values of one row's sort keys. The position selects the rows after that
 * row.
 */
import { gt, lt, sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { Placeholders } from '../statement.js';

export type KeyValue = string | number | boolean | Date;
export type Position = readonly KeyValue[];

/** A column that a list is sorted by, or an expression that states its type in the same way as a column. */
export interface OrderKey extends SQLWrapper {
  getSQLType(): string;
}

export function orderKey(expression: SQL, type: string): OrderKey {
  return { getSQL: () => expression, getSQLType: () => type };
}

export type Direction = 'asc' | 'desc';

/** Matches the rows after the position in this direction. `positionValues` supplies its parameters. */
export function positionCondition<V>(
  columns: readonly OrderKey[],
  keyColumns: readonly SQL[],
  direction: Direction,
  $: Placeholders<V>,
): SQL {
  const list = (items: readonly SQL[]) => sql`(${sql.join([...items], sql`, `)})`;
  const keys = list(keyColumns);
  const valueOf = $ as Placeholders<Record<string, KeyValue>>;
  const position = list(columns.map((column, at) => sql`${valueOf(`key${at}`)}::${sql.raw(column.getSQLType())}`));
  return direction === 'desc' ? lt(keys, position) : gt(keys, position);
}

/** The parameters of a position, as `positionCondition` uses them. */
export function positionValues(position: Position | undefined): Record<string, KeyValue> {
  return Object.fromEntries((position ?? []).map((value, at) => [`key${at}`, asParameter(value)]));
}

function asParameter(value: KeyValue): KeyValue {
  return value instanceof Date ? value.toISOString() : value;
}

export function reversed(direction: Direction): Direction {
  return direction === 'asc' ? 'desc' : 'asc';
}

/** A position in a sorted list: one row's sort keys. A page starts after this row. */
import { gt, lt, sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { Placeholders } from '../statement.js';

export type KeyValue = string | number | boolean | Date;
export type Position = readonly KeyValue[];

/** A sort column, or an expression that states its type like a column. */
export interface OrderKey extends SQLWrapper {
  getSQLType(): string;
}

export function orderKey(expression: SQL, type: string): OrderKey {
  return { getSQL: () => expression, getSQLType: () => type };
}

export type Direction = 'asc' | 'desc';

/** Matches the rows after the position. `positionValues` supplies the parameters. */
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

export function positionValues(position: Position | undefined): Record<string, KeyValue> {
  return Object.fromEntries((position ?? []).map((value, at) => [`key${at}`, asParameter(value)]));
}

function asParameter(value: KeyValue): KeyValue {
  return value instanceof Date ? value.toISOString() : value;
}

export function reversed(direction: Direction): Direction {
  return direction === 'asc' ? 'desc' : 'asc';
}

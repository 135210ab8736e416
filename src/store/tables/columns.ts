/** Column kinds that several tables share, so that an identifier or a moment means the same everywhere. */
import { customType, numeric, timestamp } from 'drizzle-orm/pg-core';
import type { Id, IdKind } from '../../rules/ids.js';

/** Compared byte by byte whatever the database's locale: cursors rely on that order. */
const byteOrderedText = customType<{ data: string; driverData: string }>({ dataType: () => 'text collate "C"' });

export function idColumn<K extends IdKind>(_kind: K) {
  return byteOrderedText().$type<Id<K>>();
}

/** Kept to the millisecond, which is what clients see and what cursors carry. */
export const moment = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' });

export const createdAt = () => moment().notNull().defaultNow();
export const updatedAt = () => moment().notNull().defaultNow();

export const money = () => numeric({ precision: 12, scale: 2, mode: 'number' });

/** Drizzle's own lists of text lose every backslash on the way back. */
export const textList = customType<{ data: string[]; driverData: string }>({
  dataType: () => 'text[]',
  toDriver: (list) => `{${list.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`,
  fromDriver: (literal) =>
    [...literal.matchAll(/"((?:[^"\\]|\\.)*)"|[^{},]+/gs)].map(
      ([bare, quoted]) => quoted?.replaceAll(/\\(.)/gs, '$1') ?? bare,
    ),
});

/** A place in a list that never ends, as a string of digits: JavaScript's numbers are exact up to 2^53 only. */
export const position = customType<{ data: string; driverData: string | number }>({
  dataType: () => 'bigint',
  fromDriver: String,
});

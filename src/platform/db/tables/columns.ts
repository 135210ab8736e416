/** Column types that several tables share, so an identifier or a time is the same everywhere. */
import { customType, numeric, timestamp } from 'drizzle-orm/pg-core';

/** Text that is compared byte by byte, whatever the database's locale. Cursors rely on that order. */
export const byteOrderedText = customType<{ data: string; driverData: string }>({ dataType: () => 'text collate "C"' });

/** A time with millisecond precision, the same as in clients and cursors. */
export const moment = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' });

export const createdAt = () => moment().notNull().defaultNow();
export const updatedAt = () => moment().notNull().defaultNow();

export const money = () => numeric({ precision: 12, scale: 2, mode: 'number' });

/** Drizzle's own string arrays lose every backslash when they are read. */
export const textList = customType<{ data: string[]; driverData: string }>({
  dataType: () => 'text[]',
  toDriver: (list) => `{${list.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`,
  fromDriver: (literal) =>
    [...literal.matchAll(/"((?:[^"\\]|\\.)*)"|[^{},]+/gs)].map(
      ([bare, quoted]) => quoted?.replaceAll(/\\(.)/gs, '$1') ?? bare,
    ),
});

/** A position in the event log, as a string of digits: JavaScript's numbers are exact only up to 2^53. */
export const position = customType<{ data: string; driverData: string | number }>({
  dataType: () => 'bigint',
  fromDriver: String,
});

import { customType, numeric, timestamp as pgTimestamp } from 'drizzle-orm/pg-core';

/** Text compared byte by byte in every locale. Cursors depend on that order. */
export const byteOrderedText = customType<{ data: string; driverData: string }>({ dataType: () => 'text collate "C"' });

/** A time in milliseconds, the same precision as in clients and cursors. Rounding can put now() in the future. */
export const timestamp = (name = '') => pgTimestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

export const createdAt = () => timestamp().notNull().defaultNow();
export const updatedAt = () => timestamp().notNull().defaultNow();

export const money = () => numeric({ precision: 12, scale: 2, mode: 'number' });

/** Drizzle's own string arrays lose backslashes when read. */
export const textList = customType<{ data: string[]; driverData: string }>({
  dataType: () => 'text[]',
  toDriver: (list) => `{${list.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`,
  fromDriver: (literal) =>
    [...literal.matchAll(/"((?:[^"\\]|\\.)*)"|[^{},]+/gs)].map(
      ([bare, quoted]) => quoted?.replaceAll(/\\(.)/gs, '$1') ?? bare,
    ),
});

/** A position in the event log. It's a string, because JavaScript's numbers are exact only up to 2^53. */
export const position = customType<{ data: string; driverData: string | number }>({
  dataType: () => 'bigint',
  fromDriver: String,
});

/** A list of positions, as the text of a Postgres array. */
export const positionList = customType<{ data: string }>({ dataType: () => 'bigint[]' });

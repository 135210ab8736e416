/**
 * One row that says which builds the schema still supports: all builds that know the migration with the time in this
 * row. A migration updates the row if it removes something that earlier builds use.
 */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, pgTable } from 'drizzle-orm/pg-core';

export const oldestBuild = pgTable(
  'oldest_build',
  { only: boolean().primaryKey().default(true), newestMigration: bigint({ mode: 'number' }).notNull() },
  (t) => [check('oldest_build_is_one', sql`${t.only}`)],
);

/**
 * One row that says which builds the schema still supports: those that know this migration, by its time. A migration
 * that removes something earlier builds use sets it.
 */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, pgTable } from 'drizzle-orm/pg-core';

export const oldestBuild = pgTable(
  'oldest_build',
  { only: boolean().primaryKey().default(true), newestMigration: bigint({ mode: 'number' }).notNull() },
  (t) => [check('oldest_build_is_one', sql`${t.only}`)],
);

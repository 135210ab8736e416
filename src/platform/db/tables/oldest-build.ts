/**
 * The time of the newest migration that the oldest supported build knows. Newer builds also run on this schema. A
 * migration that removes something earlier builds use must update this row.
 */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, pgTable } from 'drizzle-orm/pg-core';

export const oldestBuild = pgTable(
  'oldest_build',
  { only: boolean().primaryKey().default(true), newestMigration: bigint({ mode: 'number' }).notNull() },
  (t) => [check('oldest_build_is_one', sql`${t.only}`)],
);

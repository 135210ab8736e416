/** A database is ready if it answers and has run every migration of this build. */
import { sql } from 'drizzle-orm';
import type { Db } from './database.js';
import { newestMigration } from './migrate.js';
import { builder, statement, type Placeholders } from './statement.js';

const lastMigration = statement(
  'lastMigration',
  { at: sql<number>`coalesce(max(created_at), 0)::float8` },
  (_: Placeholders<object>, fields) => builder.select(fields).from(sql`drizzle.__drizzle_migrations`),
);

export async function isReady(db: Db): Promise<boolean> {
  try {
    const [last] = await lastMigration(db, {});
    return last !== undefined && last.at >= newestMigration();
  } catch {
    // Not ready, for any reason; the log has the reason from the calls that were refused.
    return false;
  }
}

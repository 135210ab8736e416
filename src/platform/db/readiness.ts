/** A server is ready if the database responds and its schema fits this build. */
import { sql } from 'drizzle-orm';
import { Overload } from '../errors.js';
import { codeOf } from './database-errors.js';
import type { Db } from './database.js';
import { newestMigration, oldestSchema } from './migrate.js';
import { builder, statement, type Placeholders } from './statement.js';
import { oldestBuild } from './tables/oldest-build.js';

const lastMigration = statement(
  'lastMigration',
  { at: sql<number>`coalesce(max(created_at), 0)::float8` },
  (_: Placeholders<object>, fields) => builder.select(fields).from(sql`drizzle.__drizzle_migrations`),
);

const selectOldestBuild = statement(
  'selectOldestBuild',
  { at: oldestBuild.newestMigration },
  (_: Placeholders<object>, fields) => builder.select(fields).from(oldestBuild),
);

/** A full database still serves existing connections, so a running server stays ready. */
export const FULL = 'the database accepts no more connections';
export const UNREACHABLE = 'the database cannot be reached';
export const OLDER_SCHEMA = 'the schema is older than this build needs: run npm run migrate';
export const NEWER_SCHEMA = 'the schema is too new for this build: replace this server with a newer release';

const NEWEST = newestMigration();
const OLDEST = oldestSchema();
const NOT_READABLE = 'the role in DATABASE_URL cannot read the table of migrations in the schema drizzle';
const UNDEFINED_TABLE = '42P01';
const INSUFFICIENT_PRIVILEGE = '42501';

export async function unreadinessOf(db: Db): Promise<string | undefined> {
  try {
    const [last] = await lastMigration(db, {});
    if (last === undefined || last.at < OLDEST) return OLDER_SCHEMA;
    if (last.at <= NEWEST) return undefined;
    const [oldest] = await selectOldestBuild(db, {});
    return oldest !== undefined && oldest.at <= NEWEST ? undefined : NEWER_SCHEMA;
  } catch (error) {
    if (error instanceof Overload && error.overloadCause === 'database_full') return FULL;
    const code = codeOf(error);
    if (code === UNDEFINED_TABLE) return OLDER_SCHEMA;
    return code === INSUFFICIENT_PRIVILEGE ? NOT_READABLE : UNREACHABLE;
  }
}

/**
 * Migrates a database to the present schema. Many instances may start at once: one migrates, the others wait for it.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as runMigrations } from 'drizzle-orm/postgres-js/migrator';
import { DATABASE_DEFAULTS, openPool, type Connection } from './database.js';
import { DATABASE } from '../rules/service-limits.js';

const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../schema/migrations', import.meta.url));

/** Any number, as long as every instance uses the same. */
const MIGRATION_LOCK = 7_203_118;

export async function migrate(connection: Connection): Promise<void> {
  const settings = {
    ...DATABASE_DEFAULTS,
    poolSize: 1,
    statementTimeoutMs: DATABASE.migrationTimeoutMs,
    lockTimeoutMs: DATABASE.migrationTimeoutMs,
  };
  const lockHolder = openPool(connection, { ...settings, idleInTransactionTimeoutMs: DATABASE.migrationTimeoutMs });
  const worker = openPool(connection, settings);
  try {
    // Held by a transaction: behind a pooler, a lock of the session would outlive this server.
    await lockHolder.begin(async (sql) => {
      await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
      await runMigrations(drizzle({ client: worker }), { migrationsFolder: MIGRATIONS_FOLDER });
    });
  } finally {
    await Promise.all([lockHolder.end({ timeout: 5 }), worker.end({ timeout: 5 })]);
  }
}

/** The oldest schema that this build serves: its code makes no use of what later migrations have added. */
const OLDEST_SCHEMA = '0026_jobs_of_awardee';

export function oldestSchema(): number {
  const migration = readJournal().find(({ tag }) => tag === OLDEST_SCHEMA);
  if (!migration) throw new Error(`There is no migration ${OLDEST_SCHEMA}.`);
  return migration.when;
}

/** The time of the newest migration that this build knows. */
export function newestMigration(): number {
  return Math.max(...readJournal().map(({ when }) => when));
}

function readJournal(): readonly { tag: string; when: number }[] {
  const journal: unknown = JSON.parse(readFileSync(`${MIGRATIONS_FOLDER}/meta/_journal.json`, 'utf8'));
  return (journal as { entries: { tag: string; when: number }[] }).entries;
}

/**
 * Migrates a database to the current schema. If many servers start together, one migrates and the others wait.
 * src/README.md explains how to write a migration.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readMigrationFiles, type MigrationMeta } from 'drizzle-orm/migrator';
import type { Sql, TransactionSql } from 'postgres';
import { messageOf } from '../errors.js';
import { DATABASE, MIGRATIONS } from '../service-limits.js';
import { codeOf } from './database-errors.js';
import { DATABASE_DEFAULTS, openPool, type Connection } from './database.js';

const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../schema/migrations', import.meta.url));

/** The lock's key. Any number works, as long as every server uses the same one. */
const MIGRATION_LOCK = 7_203_118;

export interface MigrationSettings {
  /** Cancels the wait for the lock. A running migration still finishes. */
  readonly signal?: AbortSignal;
  /** Called while another server migrates the database. `client` is its process ID in pg_stat_activity. */
  readonly onWait?: (client: number | undefined) => void;
  /** Called before each migration, unless the database is new. */
  readonly onRun?: (migration: string) => void;
  /** Called before a migration is retried because it couldn't lock a table in use. */
  readonly onRetry?: (migration: string, error: unknown) => void;
  readonly folder?: string;
  readonly times?: typeof MIGRATIONS | Readonly<Record<keyof typeof MIGRATIONS, number>>;
}

/** Returns the names of the migrations that ran. */
export async function migrate(connection: Connection, settings: MigrationSettings = {}): Promise<readonly string[]> {
  const { signal, onWait, times = MIGRATIONS } = settings;
  const pool = {
    ...DATABASE_DEFAULTS,
    poolSize: 1,
    statementTimeoutMs: 0,
    lockTimeoutMs: DATABASE.migrationTimeoutMs,
    idleInTransactionTimeoutMs: 0,
    applicationName: 'job-marketplace migrations',
  };
  const lockHolder = openPool(connection, pool);
  const worker = openPool(connection, pool);
  try {
    for (let isFirst = true; ; isFirst = false) {
      signal?.throwIfAborted();
      const ran = await lockHolder.begin(async (sql) => (await isLocked(sql)) && runPending(worker, settings));
      if (ran) return ran;
      if (isFirst) onWait?.(await holderOfLock(worker));
      await sleep(times.pollEveryMs, undefined, { ...(signal && { signal }) });
    }
  } finally {
    await Promise.all([lockHolder.end({ timeout: 5 }), worker.end({ timeout: 5 })]);
  }
}

/**
 * The lock belongs to a transaction, because a pooler would keep a session's lock after this server is gone. A
 * concurrent index build waits for every open snapshot. Without parameters, this statement leaves no snapshot open.
 * Each attempt to get the lock runs in a new transaction.
 */
async function isLocked(sql: TransactionSql): Promise<boolean> {
  const [lock] = await sql.unsafe<{ isMine: boolean }[]>(
    `select /* lockMigrations */ pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as "isMine"`,
  );
  return lock?.isMine === true;
}

async function holderOfLock(sql: Sql): Promise<number | undefined> {
  const [client] = await sql<{ pid: number }[]>`
    select /* holderOfLock */ pid from pg_locks where locktype = 'advisory' and objid = ${MIGRATION_LOCK} and granted
      and database = (select oid from pg_database where datname = current_database())`;
  return client?.pid;
}

interface Migration extends MigrationMeta {
  readonly name: string;
}

/** The caller must hold the lock. Migrations are recorded in drizzle-orm's own format. */
export async function runPending(sql: Sql, settings: MigrationSettings = {}): Promise<readonly string[]> {
  const { folder = MIGRATIONS_FOLDER, signal, onRun } = settings;
  await sql`create schema if not exists drizzle`;
  await sql`create table if not exists drizzle.__drizzle_migrations
    (id serial primary key, hash text not null, created_at bigint)`;
  const [{ last = 0 } = {}] = await sql<{ last: number }[]>`
    select /* lastMigration */ coalesce(max(created_at), 0)::float8 as last from drizzle.__drizzle_migrations`;
  const journal = readJournal(folder);
  const pending = readMigrationFiles({ migrationsFolder: folder })
    .map((file, at): Migration => ({ ...file, name: journal[at]?.tag ?? '' }))
    .filter(({ folderMillis }) => folderMillis > last);
  for (const migration of pending) {
    signal?.throwIfAborted();
    if (last > 0) onRun?.(migration.name);
    await runPersistently(sql, migration, settings);
  }
  return pending.map(({ name }) => name);
}

const NO_LOCK = new Set(['55P03', '40P01']);

/**
 * While a migration waits for a table, every call that needs the table waits too. So a migration waits only briefly and
 * then retries.
 */
async function runPersistently(sql: Sql, migration: Migration, settings: MigrationSettings): Promise<void> {
  const { signal, onRetry, times = MIGRATIONS } = settings;
  const until = performance.now() + times.retryForMs;
  const isOutside = /^-- Outside a transaction\b/.test(migration.sql[0] ?? '');
  for (;;) {
    try {
      return await (isOutside ? runOutside(sql, migration) : runInside(sql, migration, times.lockTimeoutMs));
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || !NO_LOCK.has(code) || performance.now() > until) throw failureOf(migration, error);
      onRetry?.(migration.name, error);
      await sleep(times.retryAfterMs, undefined, { ...(signal && { signal }) });
    }
  }
}

async function runInside(sql: Sql, migration: Migration, lockTimeoutMs: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(
      `set local lock_timeout = ${lockTimeoutMs}; set local statement_timeout = ${DATABASE.migrationTimeoutMs}`,
    );
    // If this server lost its lock with its connection, another one may have run this file.
    await tx`lock table drizzle.__drizzle_migrations in share row exclusive mode`;
    const ran = await tx`select from drizzle.__drizzle_migrations where created_at = ${migration.folderMillis}`;
    if (ran.length > 0) return;
    for (const statement of migration.sql) await tx.unsafe(statement);
    await record(tx, migration);
  });
}

/** If a statement fails, earlier ones keep their effects. So each statement must be safe to run again. */
async function runOutside(sql: Sql, migration: Migration): Promise<void> {
  for (const statement of migration.sql) await sql.unsafe(statement);
  await record(sql, migration);
}

async function record(sql: Sql | TransactionSql, { hash, folderMillis }: Migration): Promise<void> {
  await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`;
}

/** Keeps Postgres's code, which shows the caller that the database is at fault. */
function failureOf({ name }: Migration, error: unknown): Error {
  const message = `the migration ${name} failed: ${messageOf(error)}`;
  const code = codeOf(error);
  return Object.assign(new Error(message, { cause: error }), code !== undefined && { code });
}

/** The oldest schema that this build supports. Its code must not depend on later migrations. */
const OLDEST_SCHEMA = '0056_saved_searches';

export function oldestSchema(): number {
  const migration = readJournal().find(({ tag }) => tag === OLDEST_SCHEMA);
  if (!migration) throw new Error(`There is no migration ${OLDEST_SCHEMA}.`);
  return migration.when;
}

/** The time of the newest migration in this build. */
export function newestMigration(): number {
  return Math.max(...readJournal().map(({ when }) => when));
}

function readJournal(folder = MIGRATIONS_FOLDER): readonly { tag: string; when: number }[] {
  const journal: unknown = JSON.parse(readFileSync(`${folder}/meta/_journal.json`, 'utf8'));
  return (journal as { entries: { tag: string; when: number }[] }).entries;
}

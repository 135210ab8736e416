/**
 * The tests' database: one embedded Postgres per run, deleted however vitest ends. Migrations run once, in a template,
 * and each test file gets a copy. Nothing waits for the disk, because no data outlives the run.
 */
import { randomUUID } from 'node:crypto';
import postgres, { type Sql } from 'postgres';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/embedded/embedded.js';
import { migrate } from '../../src/platform/db/migrate.js';
import { folderInMemory, temporaryFolder } from './temporary-folder.js';

type Connection = EmbeddedPostgres['connection'];

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: Connection;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Creating a database writes about a thousand files. In memory, this takes 20 ms instead of 50 to 600.
  const folder = temporaryFolder('test', folderInMemory());
  const server = await startEmbeddedPostgres(folder.path, { settings: HASTY });
  const stop = () => server.stop().finally(folder.remove);
  try {
    await as(server.connection, (sql) => sql.unsafe(`create database ${TEMPLATE}`));
    await migrate({ ...server.connection, database: TEMPLATE });
  } catch (error) {
    await stop();
    throw error;
  }
  project.provide('postgres', server.connection);
  return stop;
}

export interface FreshDatabase {
  readonly connection: Connection;
  drop(): Promise<void>;
}

/**
 * A migrated, empty database for one test file. Copies can run in parallel, because nothing ever connects to the
 * template.
 */
export async function freshDatabase(): Promise<FreshDatabase> {
  return createDatabase(`template ${TEMPLATE} strategy file_copy`);
}

export async function emptyDatabase(): Promise<FreshDatabase> {
  return createDatabase('');
}

async function createDatabase(how: string): Promise<FreshDatabase> {
  const server = inject('postgres');
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await as(server, (sql) => sql.unsafe(`create database ${database} ${how}`));
  return {
    connection: { ...server, database },
    drop: () => as(server, (sql) => sql.unsafe(`drop database if exists ${database} with (force)`)),
  };
}

const TEMPLATE = 'migrated';

const HASTY = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_size=256MB',
  'max_wal_senders=0',
  // Autovacuum workers would connect to the template while it's being copied.
  'autovacuum=off',
  'max_connections=300',
];

async function as(connection: Connection, work: (sql: Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres({ ...connection, max: 1, fetch_types: false, onnotice: () => {} });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

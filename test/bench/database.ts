/** A run's database: its own Postgres, configured as in production, which disappears after the run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { startEmbeddedPostgres } from '../../src/platform/embedded/embedded.js';
import { migrate } from '../../src/platform/db/migrate.js';
import { temporaryFolder } from '../setup/temporary-folder.js';

export interface BenchDatabase {
  readonly sql: Sql;
  /** The server's connection settings. Postgres only listens on a Unix socket, which no URL can express. */
  readonly environment: Readonly<Record<'DATABASE_URL' | 'PGHOST' | 'PGUSER' | 'PGDATABASE', string>>;
  /** The postmaster's process ID. Every backend is its child. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Writes wait for the disk, as they should. Only checkpoints are tuned, so they rarely run during a measurement. */
const SETTINGS = [
  'fsync=on',
  'synchronous_commit=on',
  'shared_buffers=256MB',
  'max_connections=200',
  'max_wal_size=4GB',
  'checkpoint_timeout=30min',
];

/** Without migrations it is empty, for a release that brings its own. */
export async function openDatabase({ migrated = true } = {}): Promise<BenchDatabase> {
  const folder = temporaryFolder('bench');
  const { connection, stop } = await startEmbeddedPostgres(folder.path, { settings: SETTINGS });
  if (migrated) await migrate(connection);
  const sql = postgres({ ...connection, max: 4, fetch_types: false, onnotice: () => {} });
  return {
    sql,
    environment: {
      DATABASE_URL: `postgres:///${connection.database}`,
      PGHOST: connection.host,
      PGUSER: connection.username,
      PGDATABASE: connection.database,
    },
    pid: Number(readFileSync(join(folder.path, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]),
    stop: async () => {
      await sql.end({ timeout: 5 });
      await stop();
      folder.remove();
    },
  };
}

/**
 * Events get their positions and notifications after the response. Otherwise, the product would do this for the stock's
 * events while it is measured. Versions without notifications only number events.
 */
export async function untilSettled(sql: Sql): Promise<void> {
  const [{ isStored } = { isStored: false }] = await sql<{ isStored: boolean }[]>`
    select to_regclass('notification_cursor') is not null as "isStored"`;
  const stored = isStored
    ? sql`and (select stored_up_to from notification_cursor) >= (select max(position) from events)`
    : sql``;
  for (;;) {
    const [row] = await sql`select not exists (select from events where position is null) ${stored} as settled`;
    if (row?.settled) return;
    await sleep(20);
  }
}

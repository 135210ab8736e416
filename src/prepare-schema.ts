/** What stands before the services at a start: the schema is migrated, or was, or whoever does that is waited for. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { MIGRATIONS } from './rules/service-limits.js';
import { connect, type Connection } from './store/database.js';
import { migrate } from './store/migrate.js';
import { OLDER_SCHEMA, unreadinessOf } from './store/readiness.js';

type SchemaSettings = Pick<Config, 'MIGRATE_ON_START' | 'HOST' | 'PORT'>;

export async function prepareSchema(
  config: SchemaSettings,
  log: Logger,
  connection: Connection,
  signal?: AbortSignal,
): Promise<void> {
  if (!config.MIGRATE_ON_START) return untilMigrated(config, log, connection, signal);
  await migrate(connection, {
    ...(signal && { signal }),
    onWait: (holder) => log.warn({ holder }, 'waiting for another instance that migrates the database'),
    onRun: (migration) => log.info({ migration }, 'running a migration'),
    onRetry: (migration, err) => log.warn({ migration, err }, 'a migration waits for a lock; retrying'),
  });
}

/** Lives and is not ready: services that read a table which is not there yet could not even open. */
async function untilMigrated(
  { HOST, PORT }: SchemaSettings,
  log: Logger,
  connection: Connection,
  signal?: AbortSignal,
): Promise<void> {
  const probe = connect(connection, { poolSize: 1 });
  const server = createServer(({ url }, response) => {
    const isAlive = url === '/healthz';
    response.writeHead(isAlive ? 200 : 503, { 'Content-Type': 'application/json', 'Retry-After': '1' });
    response.end(JSON.stringify({ status: isAlive ? 'ok' : OLDER_SCHEMA }));
  });
  try {
    while ((await unreadinessOf(probe)) === OLDER_SCHEMA) {
      if (!server.listening) {
        await once(server.listen(PORT, HOST), 'listening');
        log.warn({ reason: OLDER_SCHEMA }, 'this server is not ready');
      }
      await sleep(MIGRATIONS.lookEveryMs, undefined, { ...(signal && { signal }) });
    }
  } finally {
    server.close().closeAllConnections();
    await probe.close();
  }
}

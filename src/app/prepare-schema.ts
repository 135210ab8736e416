/** Migrates the schema before the services start, or waits until another process has. */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { MIGRATIONS } from '../platform/service-limits.js';
import { connect, type Connection } from '../platform/db/database.js';
import { migrate } from '../platform/db/migrate.js';
import { FULL, NEWER_SCHEMA, OLDER_SCHEMA, UNREACHABLE, unreadinessOf } from '../platform/db/readiness.js';

type SchemaSettings = Pick<Config, 'MIGRATE_ON_START' | 'HOST' | 'PORT'>;

export async function prepareSchema(
  config: SchemaSettings,
  log: Logger,
  connection: Connection,
  signal?: AbortSignal,
): Promise<void> {
  const waitingServer = createWaitingServer(config, log);
  const settings = signal && { signal };
  try {
    if (config.MIGRATE_ON_START)
      await migrate(connection, {
        ...settings,
        onWait: (holder) => {
          waitingServer.say('another instance is migrating the database');
          log.warn({ holder }, 'waiting for another instance that is migrating the database');
        },
        onRun: (migration) => {
          waitingServer.say('the database is being migrated');
          log.info({ migration }, 'running a migration');
        },
        onRetry: (migration, err) => log.warn({ migration, err }, 'a migration is waiting for a lock; retrying'),
      });
    await untilUsable(connection, waitingServer.say, settings);
  } finally {
    waitingServer.close();
  }
}

const WAITED_FOR = new Set([OLDER_SCHEMA, NEWER_SCHEMA, UNREACHABLE, FULL]);

/**
 * Waits until this build can use the schema. Once the services open, they read its tables, and their background work
 * writes to them.
 */
async function untilUsable(
  connection: Connection,
  say: (reason: string) => void,
  settings: { signal: AbortSignal } | undefined,
): Promise<void> {
  const probe = connect(connection, { poolSize: 1 });
  try {
    for (;;) {
      const reason = await unreadinessOf(probe);
      if (reason === undefined || !WAITED_FOR.has(reason)) return;
      say(reason);
      await sleep(MIGRATIONS.pollEveryMs, undefined, settings);
    }
  } finally {
    await probe.close();
  }
}

/** Reports that the server is alive but not ready, until the services open. */
function createWaitingServer({ HOST, PORT }: SchemaSettings, log: Logger) {
  let status = '';
  const server = createServer(({ url }, response) => {
    const isAlive = url === '/healthz';
    response.writeHead(isAlive ? 200 : 503, { 'Content-Type': 'application/json', 'Retry-After': '1' });
    response.end(JSON.stringify({ status: isAlive ? 'ok' : status }));
  });
  server.on('error', (err) => log.warn({ err }, 'this server cannot listen yet'));
  return {
    say: (reason: string) => {
      if (reason === status) return;
      log.warn({ reason }, 'this server is not ready');
      if (status === '') server.listen(PORT, HOST);
      status = reason;
    },
    close: () => server.close().closeAllConnections(),
  };
}

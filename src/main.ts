/** Starts the server: configuration, database, house, doors. Ends all of it on SIGTERM or SIGINT, in the opposite order. */
import { ConfigError, readConfig, type Config } from './config.js';
import { createLog } from './log.js';
import { openHouse } from './open-house.js';
import { ensureAdmin } from './operations/accounts/admins.js';
import { startServer } from './server.js';
import type { Connection } from './store/database.js';

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLog(config.LOG_LEVEL);
  const database = await openDatabase(config);
  const { house, close } = await openHouse(config, log, database.connection);
  if (config.ADMIN_EMAIL && config.ADMIN_PASSWORD) await ensureAdmin(house, config.ADMIN_EMAIL, config.ADMIN_PASSWORD);
  const server = await startServer(house, config);
  welcome(server.url, config);

  const stop = once(async (signal: string) => {
    log.info({ signal }, 'stopping: what was begun is finished');
    await server.close();
    await close();
    await database.stop();
    log.info('stopped');
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal).catch(fail));
}

interface OpenDatabase {
  connection: Connection;
  stop(): Promise<void>;
}

/** With a DATABASE_URL nothing of the embedded database is even loaded. */
async function openDatabase({ DATABASE_URL, DATA_DIR }: Config): Promise<OpenDatabase> {
  if (DATABASE_URL) return { connection: { url: DATABASE_URL }, stop: async () => {} };
  const { startEmbeddedPostgres } = await import('./store/embedded.js');
  return startEmbeddedPostgres(DATA_DIR);
}

function welcome(url: string, config: Config): void {
  const lines = [
    '',
    `  Job Marketplace is open at ${url}`,
    '',
    ...(config.playground ? [`    Playground      ${url}/graphql   (open it in a browser: the first tab signs you up)`] : []),
    `    GraphQL         ${url}/graphql`,
    `    REST            ${url}/v1        (reference at ${url}/v1/docs)`,
    `    Health          ${url}/healthz, ${url}/readyz`,
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function once(work: (signal: string) => Promise<void>): (signal: string) => Promise<void> {
  let begun: Promise<void> | undefined;
  return (signal) => (begun ??= work(signal));
}

function fail(error: unknown): void {
  const plain = error instanceof ConfigError || (error instanceof Error && !error.stack?.includes('node_modules'));
  process.stderr.write(`${plain && error instanceof Error ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
  // Whatever is still open must not keep a server alive that never started.
  setTimeout(() => process.exit(1), 2_000).unref();
}

main().catch(fail);

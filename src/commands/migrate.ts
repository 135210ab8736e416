/** `npm run migrate`: brings the schema to the version that this build knows, while servers run. */
import { assertDatabaseExists, configOfCommand, reachDatabase } from './admin-database.js';
import { readCommand } from './command.js';
import { migrate } from '../platform/db/migrate.js';

async function main(): Promise<void> {
  readCommand({
    name: 'npm run migrate',
    does:
      'Brings the schema of the database to what this release knows. The database is the one of DATA_DIR or\n' +
      'DATABASE_URL; servers of this release and of the one before may run on it meanwhile.',
    options: {},
  });
  const config = configOfCommand();
  const { DATABASE_URL: url, DATA_DIR: folder } = config;
  assertDatabaseExists(url, folder);
  const stopping = new AbortController();
  const reason = new Error('Stopped before all migrations had run; what had, is kept.');
  let running = '';
  const stop = () => {
    // Its transaction ends with the connection. Statements outside a transaction continue in the database.
    if (stopping.signal.aborted) process.exit(1);
    if (running !== '') say(`Stopping after ${running}; the same signal again stops at once.`);
    stopping.abort(reason);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  const database = await reachDatabase(config);
  try {
    const migrations = await migrate(database.connection, {
      signal: stopping.signal,
      onWait: (holder) => say(`Waiting for another instance that migrates the database (process ${holder ?? '?'}) …`),
      onRun: (migration) => {
        running = migration;
        say(`Running ${migration} …`);
      },
      onRetry: (migration, error) => say(`${migration} waits for a lock, and is run again: ${messageOf(error)}`),
    });
    const done =
      migrations.length > 0 ? `${migrations.length} migrations, up to ${migrations.at(-1)}` : 'nothing to do';
    say(`Done: ${done}, in ${database.name}.`);
  } catch (error) {
    throw error instanceof Error && error.name === 'AbortError' ? reason : error;
  } finally {
    await database.stop();
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
});

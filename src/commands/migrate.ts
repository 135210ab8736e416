/** `npm run migrate`: upgrades the schema to this build's version while servers run. */
import { assertDatabaseExists, configOfCommand, reachDatabase } from './admin-database.js';
import { fail, readCommand } from './command.js';
import { messageOf } from '../platform/errors.js';
import { migrate } from '../platform/db/migrate.js';

async function main(): Promise<void> {
  readCommand({
    name: 'npm run migrate',
    does:
      'Upgrades the schema of the database in DATA_DIR or DATABASE_URL to this release. Servers of this release and\n' +
      'the previous one can keep running.',
    options: {},
  });
  const config = configOfCommand();
  const { DATABASE_URL: url, DATA_DIR: folder } = config;
  assertDatabaseExists(url, folder);
  const stopping = new AbortController();
  const reason = new Error('Stopped before all migrations had run. Completed migrations are kept.');
  let running = '';
  const stop = () => {
    // Also ends the connection and an open transaction. Postgres still finishes a statement outside a transaction.
    if (stopping.signal.aborted) process.exit(1);
    if (running !== '') say(`Stopping after ${running}. To stop immediately, send the signal again.`);
    stopping.abort(reason);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  const database = await reachDatabase(config);
  try {
    const migrations = await migrate(database.connection, {
      signal: stopping.signal,
      onWait: (holder) =>
        say(`Waiting for another instance to finish migrating the database (process ${holder ?? '?'})…`),
      onRun: (migration) => {
        running = migration;
        say(`Running ${migration}…`);
      },
      onRetry: (migration, error) => say(`${migration} is waiting for a lock and will be retried: ${messageOf(error)}`),
    });
    const done =
      migrations.length > 0 ? `ran ${migrations.length} migrations, up to ${migrations.at(-1)}` : 'nothing to do';
    say(`Done: ${done} in ${database.name}.`);
  } catch (error) {
    throw error instanceof Error && error.name === 'AbortError' ? reason : error;
  } finally {
    await database.stop();
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().catch(fail);

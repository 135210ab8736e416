/** `npm run backup -- <folder>`: copies the embedded database, whether or not a server is running. */
import { resolve } from 'node:path';
import { assertDatabaseExists, configOfCommand, reachEmbedded } from './admin-database.js';
import { fail, readCommand } from './command.js';
import { backUp } from '../platform/embedded/backup.js';

async function main(): Promise<void> {
  const { positionals } = readCommand({
    name: 'npm run backup',
    operands: '<folder>',
    does:
      'Copies the database in DATA_DIR, and the secret that is stored there, to a new folder. The server can keep\n' +
      'running. If you run your own PostgreSQL, see “Backup and restore” in docs/operating.md.',
    options: {},
  });
  const [target] = positionals;
  if (!target || positionals.length > 1)
    throw new Error('Usage: npm run backup -- <folder>. The folder must not exist yet.');
  const { DATABASE_URL: url, DATA_DIR: folder } = configOfCommand();
  if (url !== undefined)
    throw new Error('DATABASE_URL is set, so back up your PostgreSQL with pg_dump instead (see docs/operating.md).');
  assertDatabaseExists(url, folder);
  const database = await reachEmbedded(folder);
  try {
    await backUp(database.connection, folder, target);
  } finally {
    await database.stop();
  }
  process.stdout.write(`Done: the database in ${resolve(folder)} was copied to ${resolve(target)}.\n`);
}

main().catch(fail);

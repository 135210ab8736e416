/** `npm run backup -- <folder>`: copies the embedded database, whether a server is running on it or not. */
import { resolve } from 'node:path';
import { assertDatabaseExists, configOfCommand, reachEmbedded } from './admin-database.js';
import { readCommand } from './command.js';
import { backUp } from '../platform/embedded/backup.js';

async function main(): Promise<void> {
  const { positionals } = readCommand({
    name: 'npm run backup',
    operands: '<folder>',
    does:
      'Copies the database of DATA_DIR, and the secret that is kept there, to a new folder, while a server runs\n' +
      'on it or not. For a PostgreSQL of your own see docs/operating.md, “Backup and restore”.',
    options: {},
  });
  const [target] = positionals;
  if (!target || positionals.length > 1)
    throw new Error('Usage: npm run backup -- <folder>, where there must be nothing yet.');
  const { DATABASE_URL: url, DATA_DIR: folder } = configOfCommand();
  if (url !== undefined)
    throw new Error('DATABASE_URL names a PostgreSQL of your own: pg_dump backs it up (docs/operating.md).');
  assertDatabaseExists(url, folder);
  const database = await reachEmbedded(folder);
  try {
    await backUp(database.connection, folder, target);
  } finally {
    await database.stop();
  }
  process.stdout.write(`Done: the database in ${resolve(folder)} stands in ${resolve(target)} too.\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});

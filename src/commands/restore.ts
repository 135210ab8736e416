/** `npm run restore -- <folder>`: recreates the embedded database from a backup, and checks it. */
import { resolve } from 'node:path';
import { configOfCommand, reachEmbedded } from './admin-database.js';
import { auditDatabase } from '../market/store/ledger/audit.js';
import { readCommand } from './command.js';
import { restore } from '../platform/embedded/backup.js';

async function main(): Promise<void> {
  const { positionals } = readCommand({
    name: 'npm run restore',
    operands: '<folder>',
    does:
      'Puts what `npm run backup` has copied into DATA_DIR, where there must be no database yet, adds up all\n' +
      'tokens, and prints what there is. Then the server can be started on it.',
    options: {},
  });
  const [source] = positionals;
  if (!source || positionals.length > 1)
    throw new Error('Usage: npm run restore -- <folder>, which a backup has made.');
  const { DATABASE_URL: url, DATA_DIR: folder } = configOfCommand();
  if (url !== undefined)
    throw new Error('DATABASE_URL names a PostgreSQL of your own: pg_restore fills it (docs/operating.md).');
  await restore(source, folder);
  const database = await reachEmbedded(folder);
  try {
    process.stdout.write(`Done, in ${resolve(folder)}: ${await auditDatabase(database.connection)}.\n`);
  } finally {
    await database.stop();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});

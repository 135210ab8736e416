/** `npm run restore -- <folder>`: restores the embedded database from a backup, and checks it. */
import { resolve } from 'node:path';
import { configOfCommand, reachEmbedded } from './admin-database.js';
import { auditDatabase } from '../market/store/ledger/audit.js';
import { fail, readCommand } from './command.js';
import { restore } from '../platform/embedded/backup.js';

async function main(): Promise<void> {
  const { positionals } = readCommand({
    name: 'npm run restore',
    operands: '<folder>',
    does:
      'Restores a copy from `npm run backup` into DATA_DIR, which must not have a database yet. Checks that all\n' +
      'tokens add up, and counts accounts, jobs, and bids. You can start the server afterward.',
    options: {},
  });
  const [source] = positionals;
  if (!source || positionals.length > 1)
    throw new Error('Usage: npm run restore -- <folder>. The folder is a copy from npm run backup.');
  const { DATABASE_URL: url, DATA_DIR: folder } = configOfCommand();
  if (url !== undefined)
    throw new Error('DATABASE_URL is set, so restore your PostgreSQL with pg_restore instead (see docs/operating.md).');
  await restore(source, folder);
  const database = await reachEmbedded(folder);
  try {
    process.stdout.write(`Done, in ${resolve(folder)}: ${await auditDatabase(database.connection)}.\n`);
  } finally {
    await database.stop();
  }
}

main().catch(fail);

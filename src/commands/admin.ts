/** `npm run admin -- create <email>`, `set-password <email>`, or `audit`, whether or not a server is running. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { assertDatabaseExists, assertSchema, configOfCommand, reachDatabase } from './admin-database.js';
import { auditDatabase } from '../market/store/ledger/audit.js';
import { fail, readCommand, type Command } from './command.js';
import { createLog } from '../platform/telemetry/log.js';
import { openServices } from '../app/services.js';
import { createAdmin, setAdminPassword } from '../market/operations/admins/admins.js';

const ACTS = { create: createAdmin, 'set-password': setAdminPassword };

const COMMAND: Command = {
  name: 'npm run admin',
  operands: 'create <email> | set-password <email> | audit',
  does:
    'create        Creates an admin.\n' +
    'set-password  Changes an admin’s password, ends their sessions, revokes their API keys, pauses their ' +
    'webhooks, and ends\n' +
    '              their suspension.\n' +
    'audit         Checks that all tokens add up, and counts accounts, jobs, and bids.\n\n' +
    'Reads the password from the terminal or standard input. Uses the database in DATA_DIR or DATABASE_URL, whether\n' +
    'or not a server is running.',
  options: {},
};

async function main(): Promise<void> {
  const [act, email] = readCommand(COMMAND).positionals;
  if (act === 'audit') return audit();
  const run = Object.entries(ACTS).find(([name]) => name === act)?.[1];
  if (!run || !email)
    throw new Error(
      'Usage: npm run admin -- create <email>, npm run admin -- set-password <email>, or npm run admin -- audit. ' +
        'Enter the password in the terminal, or pass it on standard input.',
    );
  const config = configOfCommand();
  const { DATABASE_URL: url, DATA_DIR: folder } = config;
  assertDatabaseExists(url, folder);
  const password = await readPassword();
  const database = await reachDatabase(config);
  try {
    await assertSchema(database.connection);
    const { services, close } = await openServices(config, createLog('warn'), database.connection);
    await run(services, email, password).finally(close);
    process.stdout.write(`Done: ${email} can log in as an admin in ${database.name}.\n`);
  } finally {
    await database.stop();
  }
}

async function audit(): Promise<void> {
  const config = configOfCommand();
  const { DATABASE_URL: url, DATA_DIR: folder } = config;
  assertDatabaseExists(url, folder);
  const database = await reachDatabase(config);
  try {
    process.stdout.write(`Done, in ${database.name}: ${await auditDatabase(database.connection)}.\n`);
  } finally {
    await database.stop();
  }
}

/** Reads one line from standard input. On a terminal, shows a prompt and hides what you type. */
function readPassword(): Promise<string> {
  const atTerminal = process.stdin.isTTY;
  if (atTerminal) process.stderr.write('Password: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: atTerminal });
  return new Promise((resolve, reject) => {
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
      if (atTerminal) process.stderr.write('\n');
    });
    lines.once('close', () => reject(new Error('No password was given.')));
  });
}

main().catch(fail);

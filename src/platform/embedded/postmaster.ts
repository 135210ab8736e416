/**
 * Postgres' own lock, `postmaster.pid` in its cluster, lets one Postgres run there. Finds out whose that is, and clears
 * what a killed server has left. Process ids are reused, so the process is looked at as well.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Programs } from './programs.js';

/** A setting that Postgres ignores. One whose parent is another process than it names has outlived its server. */
export const SERVER_SETTING = 'marketplace.server';

/** `server` is the process id of the server, unless that has ended. Undefined if no Postgres runs there. */
export function runningPostmaster(cluster: string) {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    const { parent, command } = lookUp(Number(lines[0]));
    if (!command.includes(`postgres -D ${cluster} `)) return undefined;
    const server = command.includes(`${SERVER_SETTING}=${parent} `) ? parent : undefined;
    return { server, socketFolder: lines[4] ?? '', isReady: lines[7]?.trim() === 'ready' };
  } catch {
    return undefined; // There is no such file or process.
  }
}

/** Called after each attempt that the lock refused. */
export async function clearLock(cluster: string, { run }: Programs, attempt: number): Promise<void> {
  const postmaster = runningPostmaster(cluster);
  if (postmaster?.server !== undefined)
    throw new Error(
      `Another server (process ${postmaster.server}) runs on the data folder ${dirname(cluster)}. Stop it first, or ` +
        'give this one a folder of its own.',
    );
  const mode = attempt < 3 ? 'fast' : 'immediate';
  if (postmaster) await run('pg_ctl', ['stop', '-D', cluster, '-m', mode, '-t', '20']).catch(() => {});
  // Another server's Postgres may be just writing a file that names no Postgres, so the first attempts leave it there.
  // Without it Postgres still refuses a cluster whose shared memory is in use.
  else if (attempt > 5) rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

function lookUp(pid: number): { parent: number; command: string } {
  if (process.platform === 'linux') {
    const [, parent] = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return { parent: Number(parent), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') };
  }
  const command = execFileSync('ps', ['-wwp', String(pid), '-o', 'ppid=', '-o', 'command='], { encoding: 'utf8' });
  return { parent: Number.parseInt(command, 10), command };
}

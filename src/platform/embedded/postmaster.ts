/**
 * Postgres's own lock, `postmaster.pid` in its cluster, lets only one Postgres run there. This file finds out whose
 * lock it is and clears what a killed server has left. Process IDs are reused, so it checks the process too.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Programs } from './programs.js';

/** A setting that Postgres ignores. If it names a process other than the parent, Postgres has outlived its server. */
export const SERVER_SETTING = 'marketplace.server';

/** `server` is the server's process ID, unless that process has ended. Undefined if no Postgres runs there. */
export function runningPostmaster(cluster: string) {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    const { parent, command } = lookUp(Number(lines[0]));
    if (!command.includes(`postgres -D ${cluster} `)) return undefined;
    const server = command.includes(`${SERVER_SETTING}=${parent} `) ? parent : undefined;
    return { server, socketFolder: lines[4] ?? '', isReady: lines[7]?.trim() === 'ready' };
  } catch {
    return undefined; // No such file or process.
  }
}

/** Called after each attempt that the lock rejected. */
export async function clearLock(cluster: string, { run }: Programs, attempt: number): Promise<void> {
  const postmaster = runningPostmaster(cluster);
  if (postmaster?.server !== undefined)
    throw new Error(
      `Another server (process ${postmaster.server}) runs on the data folder ${dirname(cluster)}. Stop it first, or ` +
        'give this one a folder of its own.',
    );
  const mode = attempt < 3 ? 'fast' : 'immediate';
  if (postmaster) await run('pg_ctl', ['stop', '-D', cluster, '-m', mode, '-t', '20']).catch(() => {});
  // Another server's Postgres may be writing this file right now, and it may not name a process yet. So the first
  // attempts leave it in place. Even without the file, Postgres rejects a cluster whose shared memory is in use.
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

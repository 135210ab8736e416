/** Runs Postgres as a child process, and restarts it if it ends unexpectedly. */
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Programs } from './programs.js';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface PostgresOptions {
  programs: Programs;
  cluster: string;
  /** Each as `name=value`. */
  settings: readonly string[];
  /** Receives Postgres's log lines, and a message about each unexpected end and restart. */
  onMessage(message: string): void;
}

const RESTART_PAUSE_MS = 500;

/** Resolves once Postgres is ready, with a function that stops it. */
export async function runPostgres(options: PostgresOptions): Promise<() => Promise<void>> {
  let postgres = await startPostgres(options);
  let isStopping = false;

  async function keepRunning(): Promise<void> {
    for (;;) {
      await postgres.ended;
      if (isStopping) return;
      options.onMessage('The embedded Postgres exited unexpectedly. Starting it again.');
      await delay(RESTART_PAUSE_MS);
      try {
        postgres = await startPostgres(options);
        options.onMessage('The embedded Postgres is running again.');
      } catch (error) {
        options.onMessage(String(error));
      }
      if (isStopping) postgres.stop();
    }
  }

  const supervision = keepRunning();
  return () => {
    isStopping = true;
    postgres.stop();
    return supervision;
  };
}

const ATTEMPTS = 20;

/** Postgres's own lock decides whether it may run. Clears any parts of the lock that a killed server left. */
export async function startPostgres(options: PostgresOptions): ReturnType<typeof launch> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(options);
    } catch (error) {
      if (attempt === ATTEMPTS || !/lock file|shared memory/.test(String(error))) throw error;
    }
    await clearLock(options.cluster, options.programs, attempt);
    await delay(attempt * 100); // Backends that outlived their postmaster finish their statements first.
  }
}

const READY = 'ready to accept connections';
const SHUTDOWN_TIMEOUT_MS = 30_000;

async function launch({ programs, cluster, settings, onMessage }: PostgresOptions) {
  const child = programs.start('postgres', ['-D', cluster, ...settings.flatMap((setting) => ['-c', setting])]);
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () =>
      reject(new Error(`The embedded Postgres exited while starting. Its log:\n${log.trim()}`)),
    );
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (!log.includes(READY)) log += `${line}\n`;
      else if (!child.killed) onMessage(`Postgres reports: ${line}`);
      if (line.includes(READY)) resolve();
    });
  });
  /** A fast shutdown rolls back open transactions. If it takes too long, an immediate shutdown follows. */
  function stop(): void {
    child.kill('SIGINT');
    setTimeout(() => child.kill('SIGQUIT'), SHUTDOWN_TIMEOUT_MS).unref();
  }
  return { ended: exit, stop };
}

/**
 * Postgres ignores this setting, which names the server's process. If that process isn't its parent, Postgres has
 * outlived its server.
 */
export const SERVER_SETTING = 'marketplace.server';

/**
 * Finds the Postgres that holds the cluster's lock, `postmaster.pid`. Also checks the process itself, because process
 * IDs are reused. `server` is undefined if the server's process has ended.
 */
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

export async function clearLock(cluster: string, { run }: Programs, attempt: number): Promise<void> {
  const postmaster = runningPostmaster(cluster);
  if (postmaster?.server !== undefined)
    throw new Error(
      `Another server (process ${postmaster.server}) is using the data folder ${dirname(cluster)}. Stop it first, or ` +
        'set DATA_DIR to another folder.',
    );
  const mode = attempt < 3 ? 'fast' : 'immediate';
  if (postmaster) await run('pg_ctl', ['stop', '-D', cluster, '-m', mode, '-t', '20']).catch(() => {});
  // Another server's Postgres may be writing this file, before it contains a process ID. So the first attempts don't
  // remove the file. Even without the file, Postgres rejects a cluster whose shared memory is in use.
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

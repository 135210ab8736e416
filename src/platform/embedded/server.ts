/** Runs one Postgres as a child process until it is told to stop, and restarts it if it ends unexpectedly. */
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { clearLock } from './postmaster.js';
import type { Programs } from './programs.js';

export interface PostgresOptions {
  programs: Programs;
  cluster: string;
  /** Each as `name=value`. */
  settings: readonly string[];
  /** Called with Postgres's log lines while it runs, and with each unexpected end and restart. */
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
      options.onMessage('The embedded Postgres ended unexpectedly and is being restarted.');
      await delay(RESTART_PAUSE_MS);
      try {
        postgres = await startPostgres(options);
        options.onMessage('The embedded Postgres is back.');
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

/** Postgres's own lock decides whether it may run. What a killed server left of the lock is cleared. */
export async function startPostgres(options: PostgresOptions): ReturnType<typeof launch> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(options);
    } catch (error) {
      if (attempt === ATTEMPTS || !/lock file|shared memory/.test(String(error))) throw error;
    }
    await clearLock(options.cluster, options.programs, attempt);
    await delay(attempt * 100); // Backends that have outlived their postmaster finish their statements first.
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
    child.once('close', () => reject(new Error(`The embedded Postgres ended at its start. Its log:\n${log.trim()}`)));
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (!log.includes(READY)) log += `${line}\n`;
      else if (!child.killed) onMessage(`Postgres reports: ${line}`);
      if (line.includes(READY)) resolve();
    });
  });
  /** A fast shutdown rolls back open transactions. If that takes too long, an immediate one follows. */
  function stop(): void {
    child.kill('SIGINT');
    setTimeout(() => child.kill('SIGQUIT'), SHUTDOWN_TIMEOUT_MS).unref();
  }
  return { ended: exit, stop };
}

/** Runs one Postgres as a child: ready when it says so, ended on request, and never left behind. Its last words are kept for errors. */
import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Account } from './account.js';
import type { Reach } from './reach.js';
import { armWatchdog } from './watchdog.js';

export interface Server {
  stop(): Promise<void>;
}

interface Running {
  readonly reach: Reach;
  readonly cluster: string;
  readonly account: Account;
  /** Each `name=value`. */
  readonly settings: readonly string[];
  /** The data need no clean end. */
  readonly disposable: boolean;
}

export async function runPostgres({ reach, cluster, account, settings, disposable }: Running): Promise<Server> {
  const args = ['-D', reach.pathOf(cluster), ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(reach.binaries.postgres, args, {
    ...account,
    cwd: cluster,
    // A session of its own: Ctrl-C must reach the server alone, which ends Postgres after its last query.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()));
  const watchdog = armWatchdog(`kill -${disposable ? 'QUIT' : 'INT'} "$1"`, [String(child.pid)]);
  void ended.then(() => watchdog.disarm());

  const stop = () => end(child, ended, disposable ? DISPOSAL : SHUTDOWN);
  try {
    await ready(child, ended);
  } catch (error) {
    await stop();
    throw error;
  }
  // A server whose other work is done may end; the watchdog then ends Postgres.
  child.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
  return { stop };
}

const START_TIMEOUT_MS = 5 * 60_000; // Recovery after a crash replays the log first.
const LOG_CHARACTERS_MAX = 8_000;

/** Reads on for ever, since Postgres would wait on a full pipe. */
function ready(child: ChildProcess, ended: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    let isReady = false;
    const fail = (why: string) => reject(new Error(`The embedded Postgres ${why}. Its log:\n${log.trim()}`));
    const timer = setTimeout(() => fail('was not ready in time'), START_TIMEOUT_MS);
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    child.stderr?.on('data', (chunk: Buffer) => {
      if (isReady) return;
      log = (log + chunk.toString('utf8')).slice(-LOG_CHARACTERS_MAX);
      if (!log.includes('ready to accept connections')) return;
      isReady = true;
      clearTimeout(timer);
      resolve();
    });
    // The exit may be known before the last lines are.
    child.once('close', () => fail('ended at its start'));
    void ended.then(() => clearTimeout(timer));
  });
}

/** Fast shutdown rolls open transactions back and writes everything down; the rest is for one that does not answer. */
const SHUTDOWN = [['SIGINT', 30_000], ['SIGQUIT', 5_000], ['SIGKILL', 5_000]] as const;
const DISPOSAL = [['SIGQUIT', 5_000], ['SIGKILL', 5_000]] as const;

async function end(child: ChildProcess, ended: Promise<void>, steps: typeof SHUTDOWN | typeof DISPOSAL): Promise<void> {
  for (const [signal, patienceMs] of steps) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.kill(signal);
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, patienceMs).unref())]);
  }
}

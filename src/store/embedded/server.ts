/**
 * Runs one Postgres as a child process: waits until its log reports that it is ready, stops it on request, and never
 * leaves it running. One that ends by itself is restarted, at once and then with growing pauses. Its last log lines are
 * kept for errors, and its warnings are passed on.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Account } from './account.js';
import type { Reach } from './reach.js';
import { armWatchdog } from './watchdog.js';

/** Begins every line with the time, the process and the SQLSTATE. */
export const LINE_PREFIX = '%m [%p] %e ';

export interface Server {
  stop(): Promise<void>;
}

export interface Running {
  readonly reach: Reach;
  readonly cluster: string;
  readonly account: Account;
  /** Each `name=value`. */
  readonly settings: readonly string[];
  /** The data need no clean shutdown. */
  readonly disposable: boolean;
  /** Cleans up after a Postgres that ended by itself. */
  clear(): Promise<void>;
  /** Called with every warning and error, and with every unexpected end and restart. */
  onMessage(message: string): void;
}

export async function runPostgres(running: Running): Promise<Server> {
  const life = launch(running);
  try {
    await life.ready;
  } catch (error) {
    await life.stop();
    throw error;
  }
  return running.disposable ? life : keepAlive(life, running);
}

interface Life extends Server {
  /** Rejects with the log of Postgres if it ends before that. */
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
}

const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 5_000;
/** A Postgres that ran for so long had started properly: its end does not lengthen the pause. */
const SOUND_AFTER_MS = 30_000;

/** The first restart comes at once; each one that fails or does not last doubles the pause before the next. */
function keepAlive(first: Life, running: Running): Server {
  let life = first;
  let stopped = false;
  let stopNow = () => {};
  const stopping = new Promise<void>((resolve) => (stopNow = resolve));

  async function keep(): Promise<void> {
    for (let pauseMs = 0; ; pauseMs = Math.min(Math.max(PAUSE_MIN_MS, pauseMs * 2), PAUSE_MAX_MS)) {
      const began = performance.now();
      await life.ended;
      if (stopped) return;
      if (performance.now() - began > SOUND_AFTER_MS) pauseMs = 0;
      running.onMessage(
        `The embedded Postgres has ended by itself, and is started again${pauseMs > 0 ? ` in ${pauseMs} ms` : ''}.`,
      );
      await Promise.race([stopping, new Promise((resolve) => setTimeout(resolve, pauseMs).unref())]);
      await begin();
    }
  }

  async function begin(): Promise<void> {
    try {
      await running.clear();
      if (stopped) return;
      life = launch(running);
      await life.ready;
      running.onMessage('The embedded Postgres is back.');
    } catch (error) {
      if (!stopped) running.onMessage(error instanceof Error ? error.message : String(error));
      await life.stop();
    }
  }

  const kept = keep();
  return {
    stop: async () => {
      stopped = true;
      stopNow();
      await life.stop();
      await kept;
    },
  };
}

function launch({ reach, cluster, account, settings, disposable, onMessage }: Running): Life {
  const args = ['-D', reach.pathOf(cluster), ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(reach.binaries.postgres, args, {
    ...account,
    cwd: cluster,
    // A separate session: Ctrl-C must reach only the server, which stops Postgres after its last query.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()));
  const watchdog = armWatchdog(`kill -${disposable ? 'QUIT' : 'INT'} "$1"`, [String(child.pid)]);
  void ended.then(() => watchdog.disarm());
  return {
    ready: letGo(child, ready(child, ended, onMessage)),
    ended,
    stop: () => end(child, ended, disposable ? DISPOSAL : SHUTDOWN),
  };
}

/** The child does not keep the server's process alive; when that ends, the watchdog ends Postgres. */
async function letGo(child: ChildProcess, isReady: Promise<void>): Promise<void> {
  await isReady;
  child.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
}

const START_TIMEOUT_MS = 5 * 60_000; // Recovery after a crash replays the log first.
const LOG_CHARACTERS_MAX = 8_000;

/** Keeps reading, since Postgres would block on a full pipe. */
function ready(child: ChildProcess, ended: Promise<void>, onMessage: (message: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    let isReady = false;
    const listen = warningsIn(onMessage);
    const fail = (why: string) => reject(new Error(`The embedded Postgres ${why}. Its log:\n${log.trim()}`));
    const timer = setTimeout(() => fail('was not ready in time'), START_TIMEOUT_MS);
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    child.stderr?.on('data', (chunk: Buffer) => {
      if (isReady) return listen(chunk);
      log = (log + chunk.toString('utf8')).slice(-LOG_CHARACTERS_MAX);
      if (!log.includes('ready to accept connections')) return;
      isReady = true;
      clearTimeout(timer);
      resolve();
    });
    // The process may exit before its last lines have been read.
    child.once('close', () => fail('ended at its start'));
    void ended.then(() => clearTimeout(timer));
  });
}

/**
 * Fast shutdown rolls back open transactions and writes a checkpoint; the other signals are for a Postgres that does
 * not react.
 */
const SHUTDOWN = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;
const DISPOSAL = [
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;

async function end(child: ChildProcess, ended: Promise<void>, steps: typeof SHUTDOWN | typeof DISPOSAL): Promise<void> {
  for (const [signal, timeoutMs] of steps) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.kill(signal);
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, timeoutMs).unref())]);
  }
}

const LINE = /^\S+ \S+ \S+ \[\d+\] (\w{5}) (LOG|WARNING|ERROR|FATAL|PANIC): +(.*)$/;
const LINE_CHARACTERS_MAX = 2_000;

/**
 * Passes on the important lines of Postgres' log: warnings and worse, and backends that died. Each is cut down to its
 * first line. Lines that quote a row or a parameter are left out, since the client of that statement gets the error
 * anyway.
 */
function warningsIn(onMessage: (message: string) => void): (piece: Buffer) => void {
  let rest = '';
  return (piece) => {
    const lines = (rest + piece.toString('utf8')).split('\n');
    rest = (lines.pop() ?? '').slice(-LINE_CHARACTERS_MAX);
    for (const line of lines) {
      const warning = warningOf(line);
      if (warning !== undefined) onMessage(warning);
    }
  };
}

/**
 * Leaves out data exceptions and violated constraints (classes 22 and 23), which quote a user's values, and connections
 * while the database starts or stops (57P03), which was reported.
 */
function warningOf(line: string): string | undefined {
  const [, code = '', severity, message = ''] = LINE.exec(line) ?? [];
  if (severity === undefined || /^(2[23]|57P03)/.test(code)) return undefined;
  if (severity === 'LOG' && !/was terminated by signal|could not/.test(message)) return undefined;
  return `Postgres reports: ${severity} ${code} ${message}`.slice(0, LINE_CHARACTERS_MAX);
}

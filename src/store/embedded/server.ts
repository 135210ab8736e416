/**
 * Runs one Postgres as a child: ready when it says so, ended on request, and never left running. One that ends by
 * itself is started again, at once and then ever more rarely. Its last words are kept for errors, and its complaints
 * are passed on.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Account } from './account.js';
import type { Reach } from './reach.js';
import { armWatchdog } from './watchdog.js';

/** Gives every line its SQLSTATE, after the time and the process. */
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
  /** The data need no clean end. */
  readonly disposable: boolean;
  /** Clears what a Postgres left that ended by itself. */
  clear(): Promise<void>;
  /** Called with every complaint, and with every end and new start that was not asked for. */
  tell(what: string): void;
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
  /** Rejects with its log if it ends before. */
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
}

const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 5_000;
/** A Postgres that lived so long was sound: its end is no sequel to the last one. */
const SOUND_AFTER_MS = 30_000;

/** The first new start comes at once; each that fails or does not last doubles the pause before the next. */
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
      running.tell(
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
      running.tell('The embedded Postgres is back.');
    } catch (error) {
      if (!stopped) running.tell(error instanceof Error ? error.message : String(error));
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

function launch({ reach, cluster, account, settings, disposable, tell }: Running): Life {
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
  return {
    ready: letGo(child, ready(child, ended, tell)),
    ended,
    stop: () => end(child, ended, disposable ? DISPOSAL : SHUTDOWN),
  };
}

/** A server whose other work is done may end; the watchdog then ends Postgres. */
async function letGo(child: ChildProcess, isReady: Promise<void>): Promise<void> {
  await isReady;
  child.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
}

const START_TIMEOUT_MS = 5 * 60_000; // Recovery after a crash replays the log first.
const LOG_CHARACTERS_MAX = 8_000;

/** Reads on for ever, since Postgres would wait on a full pipe. */
function ready(child: ChildProcess, ended: Promise<void>, tell: (what: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    let isReady = false;
    const listen = complaintsIn(tell);
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
    // The exit may be known before the last lines are.
    child.once('close', () => fail('ended at its start'));
    void ended.then(() => clearTimeout(timer));
  });
}

/** Fast shutdown rolls open transactions back and writes everything down; the rest is for one that does not answer. */
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
 * What of Postgres' own log is worth passing on: warnings and worse, and backends that died. Each is cut down to its
 * first line, and what quotes a row or a parameter is left out altogether: whoever sent that statement hears of it
 * anyway.
 */
function complaintsIn(tell: (what: string) => void): (piece: Buffer) => void {
  let rest = '';
  return (piece) => {
    const lines = (rest + piece.toString('utf8')).split('\n');
    rest = (lines.pop() ?? '').slice(-LINE_CHARACTERS_MAX);
    for (const line of lines) {
      const complaint = complaintOf(line);
      if (complaint !== undefined) tell(complaint);
    }
  };
}

/**
 * Left out: data at fault and broken constraints (classes 22 and 23), which quote what a person sent, and callers of a
 * database that is just starting or ending (57P03), which was reported.
 */
function complaintOf(line: string): string | undefined {
  const [, code = '', severity, message = ''] = LINE.exec(line) ?? [];
  if (severity === undefined || /^(2[23]|57P03)/.test(code)) return undefined;
  if (severity === 'LOG' && !/was terminated by signal|could not/.test(message)) return undefined;
  return `Postgres says: ${severity} ${code} ${message}`.slice(0, LINE_CHARACTERS_MAX);
}

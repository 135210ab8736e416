/**
 * Watches whether the database is reachable and writable, over its own connection. It polls every few seconds, and
 * immediately after a statement loses its connection or finds the database read-only. One lost connection doesn't mean
 * a lost database, so the watch ignores its own failures while other statements succeed. Listeners are told once when
 * each problem starts and ends.
 */
import { named, type Database, type DatabaseHooks, type Db } from './database.js';
import { Overload } from '../errors.js';
import { DATABASE_WATCH } from '../service-limits.js';

type Reconnect = () => Promise<void>;

export interface DatabaseProblem {
  readonly overloadCause: 'database_away' | 'database_read_only';
  readonly since: Date;
}

export interface DatabaseWatch {
  readonly probe: Database;
  readonly problem: DatabaseProblem | undefined;
  /** Polls now. Always resolves within `answerWithinMs`. */
  poll(): Promise<void>;
  /** Polls immediately, after a failure that may be the database's. */
  suspect(): void;
  /** Called when the database responds on any other connection. */
  noteAnswer(): void;
  /** Passes the function that drops a pool's connections. A silent or demoted database doesn't close them itself. */
  onOpen(reconnect: Reconnect): void;
  /** Stops polling. The connection closes once it's idle. */
  close(): Promise<void>;
}

/** Ends statements that are waiting for a silent database. Otherwise, they would wait until the outage ends. */
class NoAnswer extends Error {}

export interface WatchSettings {
  onProblem(problem: DatabaseProblem, error: unknown): void;
  onBack(problem: DatabaseProblem, seconds: number): void;
  readonly answerWithinMs?: number | undefined;
}

export function watchDatabase(
  openProbe: (hooks: DatabaseHooks) => Database,
  { onProblem, onBack, answerWithinMs = DATABASE_WATCH.answerWithinMs }: WatchSettings,
): DatabaseWatch {
  const reconnects: Reconnect[] = [];
  const onOpen = (reconnect: Reconnect) => void reconnects.push(reconnect);
  let reconnectProbe: Reconnect | undefined;
  const probe = openProbe({ onOpen: (reconnect) => (reconnectProbe = reconnect) });
  let problem: DatabaseProblem | undefined;
  let failures = 0;
  let firstFailure = new Date();
  let isAnsweredSince = false;
  let mustReconnect = false;
  let polling: Promise<void> | undefined;
  let isClosed = false;
  let next = setTimeout(poll, DATABASE_WATCH.pollEveryMs).unref();

  function poll(): Promise<void> {
    clearTimeout(next);
    if (isClosed) return Promise.resolve();
    return (polling ??= takesWrites(probe, answerWithinMs).then(noteAnswered, noteMiss).finally(pollLater));
  }

  function pollLater(): void {
    polling = undefined;
    const failing = failures > 0 ? DATABASE_WATCH.pollAgainAfterMs : DATABASE_WATCH.pollEveryMs;
    if (!isClosed) next = setTimeout(poll, problem ? DATABASE_WATCH.pollWhileAwayEveryMs : failing).unref();
  }

  function noteAnswered(isWritable: boolean): void {
    failures = 0;
    if (isWritable) return setProblem(undefined, undefined);
    setProblem({ overloadCause: 'database_read_only', since: new Date() }, undefined);
    // The address may now lead to another server, which only new connections reach.
    reconnect([reconnectProbe]);
  }

  function noteMiss(error: unknown): void {
    if (isClosed) return;
    // The database is full: it refuses new connections but still serves existing ones.
    if (error instanceof Overload && error.overloadCause === 'database_full') {
      failures = 0;
      return setProblem(undefined, undefined);
    }
    if (failures === 0 || isAnsweredSince) {
      firstFailure = new Date();
      failures = 0;
      isAnsweredSince = false;
    }
    failures += 1;
    const isSilent = error instanceof NoAnswer;
    if (isSilent) reconnect([reconnectProbe]);
    if (failures < DATABASE_WATCH.failures) return;
    if (isSilent && problem?.overloadCause !== 'database_away') reconnect(reconnects);
    setProblem({ overloadCause: 'database_away', since: firstFailure }, error);
    mustReconnect ||= isSilent;
  }

  function setProblem(now: DatabaseProblem | undefined, error: unknown): void {
    const before = problem;
    if (before?.overloadCause === now?.overloadCause) return;
    problem = now;
    if (before) {
      // Connections to a demoted server stay open, and attempts to connect to a silent one hang.
      if (mustReconnect || before.overloadCause === 'database_read_only') reconnect(reconnects);
      mustReconnect = false;
      onBack(before, (Date.now() - before.since.getTime()) / 1000);
    }
    if (now) onProblem(now, error);
  }

  return {
    probe,
    get problem() {
      return problem;
    },
    poll,
    suspect: () => {
      if (!problem) void poll();
    },
    noteAnswer: () => void (isAnsweredSince = true),
    onOpen,
    close: () => {
      isClosed = true;
      clearTimeout(next);
      return probe.close();
    },
  };
}

function reconnect(which: readonly (Reconnect | undefined)[]): void {
  for (const each of which) void each?.();
}

const PROBE = named('probe', `select current_setting('transaction_read_only')`);

async function takesWrites(probe: Db, answerWithinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new NoAnswer('The database did not answer in time.'));
    // After the event loop stalls, timers run before sockets are read. A response may already have arrived.
    timer = setTimeout(() => setImmediate(giveUp), answerWithinMs);
  });
  try {
    const [row] = await Promise.race([probe.send(PROBE, []), late]);
    return row?.[0] === 'off';
  } finally {
    clearTimeout(timer);
  }
}

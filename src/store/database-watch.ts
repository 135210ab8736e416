/**
 * Watches whether the database can be reached. It probes on a separate connection every few seconds, and at once when a
 * statement has lost its connection, since one lost connection does not mean a lost database. While other statements
 * are answered, only the probe's own connection has failed. Listeners are called once when the database is away, and
 * once when it is back.
 */
import { named, type Database, type DatabaseHooks, type Db } from './database.js';
import { DATABASE_WATCH } from '../rules/service-limits.js';

type Reconnect = () => Promise<void>;

export interface DatabaseWatch {
  /** The connection for the probes. */
  readonly probe: Database;
  /** Since when the database cannot be reached; undefined while it can. */
  readonly awaySince: Date | undefined;
  /** Called when a connection was lost: probes at once. */
  suspect(): void;
  /** Called when any other statement was answered. */
  noteAnswer(): void;
  /** For pools that must drop their connections when the database stops without closing them. */
  onOpen(reconnect: Reconnect): void;
  /** Stops probing; the connection closes once nothing is under way on it. */
  close(): Promise<void>;
}

/** It does not answer and closes no connection: without this, pending statements would wait for all of that time. */
class NoAnswer extends Error {}

export interface WatchSettings {
  onAway(since: Date, error: unknown): void;
  onBack(since: Date, seconds: number): void;
}

export function watchDatabase(
  openProbe: (hooks: DatabaseHooks) => Database,
  { onAway, onBack }: WatchSettings,
): DatabaseWatch {
  const reconnects: Reconnect[] = [];
  const onOpen = (reconnect: Reconnect) => void reconnects.push(reconnect);
  const probe = openProbe({ onOpen });
  let awaySince: Date | undefined;
  let failures = 0;
  let firstFailure = new Date();
  let isAnsweredSince = false;
  let isLooking = false;
  let isClosed = false;
  let next = setTimeout(look, DATABASE_WATCH.lookEveryMs).unref();

  function look(): void {
    if (isLooking || isClosed) return;
    isLooking = true;
    clearTimeout(next);
    void answerOf(probe).then(setReachable, noteMiss).finally(lookLater);
  }

  function lookLater(): void {
    isLooking = false;
    const failing = failures > 0 ? DATABASE_WATCH.lookAgainAfterMs : DATABASE_WATCH.lookEveryMs;
    if (!isClosed) next = setTimeout(look, awaySince ? DATABASE_WATCH.lookWhileAwayEveryMs : failing).unref();
  }

  function setReachable(): void {
    failures = 0;
    if (!awaySince) return;
    const since = awaySince;
    awaySince = undefined;
    onBack(since, (Date.now() - since.getTime()) / 1000);
  }

  function noteMiss(error: unknown): void {
    if (isClosed) return;
    if (failures === 0 || isAnsweredSince) {
      firstFailure = new Date();
      failures = 0;
      isAnsweredSince = false;
    }
    failures += 1;
    if (awaySince || failures < DATABASE_WATCH.failures) return;
    awaySince = firstFailure;
    onAway(awaySince, error);
    if (error instanceof NoAnswer) for (const reconnect of reconnects) void reconnect();
  }

  return {
    probe,
    get awaySince() {
      return awaySince;
    },
    suspect: () => {
      if (!awaySince) look();
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

const PROBE = named('probe', 'select 1');

async function answerOf(probe: Db): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new NoAnswer('The database did not answer in time.')),
      DATABASE_WATCH.answerWithinMs,
    );
  });
  try {
    await Promise.race([probe.send(PROBE, []), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Whether the database can be reached. It is asked on a connection of its own: every few seconds, and at once when a
 * statement lost its connection, since one lost connection is not yet a lost database; and where others are answered,
 * it is that connection alone that fails. Listeners are called once when it is away and once that it is back.
 */
import type { Database, DatabaseHooks, Db } from './database.js';

type Reconnect = () => Promise<void>;

export interface DatabaseWatch {
  /** The connection that it asks on. */
  readonly probe: Database;
  /** Since when it cannot be reached; undefined while it can. */
  readonly awaySince: Date | undefined;
  /** A connection was lost: look whether the database is. */
  suspect(): void;
  /** Some other statement was answered. */
  answered(): void;
  /** For pools that are to give up their connections where the database has stopped without a word. */
  onOpen(reconnect: Reconnect): void;
  /** Looks no more; the connection is closed once nothing is under way on it. */
  close(): Promise<void>;
}

/** It neither answers nor says why: what waits for it would wait for as long as that lasts. */
class NoAnswer extends Error {}

export interface WatchSettings {
  onAway(since: Date, error: unknown): void;
  onBack(since: Date, seconds: number): void;
}

const LOOK_EVERY_MS = 5_000;
const LOOK_WHILE_AWAY_EVERY_MS = 500;
const LOOK_AGAIN_AFTER_MS = 100;
/** So long an answer may take. */
const ANSWER_WITHIN_MS = 2_000;
/** So many failures in a row say that it is away: the connection that asks may have been lost as well. */
const FAILURES = 2;

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
  let next = setTimeout(look, LOOK_EVERY_MS).unref();

  function look(): void {
    if (isLooking || isClosed) return;
    isLooking = true;
    clearTimeout(next);
    void answerOf(probe).then(reached, missed).finally(lookLater);
  }

  function lookLater(): void {
    isLooking = false;
    const failing = failures > 0 ? LOOK_AGAIN_AFTER_MS : LOOK_EVERY_MS;
    if (!isClosed) next = setTimeout(look, awaySince ? LOOK_WHILE_AWAY_EVERY_MS : failing).unref();
  }

  function reached(): void {
    failures = 0;
    if (!awaySince) return;
    const since = awaySince;
    awaySince = undefined;
    onBack(since, (Date.now() - since.getTime()) / 1000);
  }

  function missed(error: unknown): void {
    if (isClosed) return;
    if (failures === 0 || isAnsweredSince) {
      firstFailure = new Date();
      failures = 0;
      isAnsweredSince = false;
    }
    failures += 1;
    if (awaySince || failures < FAILURES) return;
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
    answered: () => void (isAnsweredSince = true),
    onOpen,
    close: () => {
      isClosed = true;
      clearTimeout(next);
      return probe.close();
    },
  };
}

async function answerOf(probe: Db): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer('The database did not answer in time.')), ANSWER_WITHIN_MS);
  });
  try {
    await Promise.race([probe.send('select 1', []), late]);
  } finally {
    clearTimeout(timer);
  }
}

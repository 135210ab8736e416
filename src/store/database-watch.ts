/**
 * Whether the database can be reached. It is asked on a connection of its own: every few seconds, and at once when a
 * statement lost its connection, since one lost connection is not yet a lost database. Listeners are called once when
 * it is away and once that it is back.
 */
import type { Db } from './database.js';

export interface DatabaseWatch {
  /** Since when it cannot be reached; undefined while it can. */
  readonly awaySince: Date | undefined;
  /** A connection was lost: look whether the database is. */
  suspect(): void;
  close(): void;
}

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

export function watchDatabase(probe: Db, { onAway, onBack }: WatchSettings): DatabaseWatch {
  let awaySince: Date | undefined;
  let failures = 0;
  let firstFailure = new Date();
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
    if (failures === 0) firstFailure = new Date();
    failures += 1;
    if (awaySince || failures < FAILURES) return;
    awaySince = firstFailure;
    onAway(awaySince, error);
  }

  return {
    get awaySince() {
      return awaySince;
    },
    suspect: () => {
      if (!awaySince) look();
    },
    close: () => {
      isClosed = true;
      clearTimeout(next);
    },
  };
}

async function answerOf(probe: Db): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The database did not answer in time.')), ANSWER_WITHIN_MS);
  });
  try {
    await Promise.race([probe.send('select 1', []), late]);
  } finally {
    clearTimeout(timer);
  }
}

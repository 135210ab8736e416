/**
 * When each API key was last used, to the minute. A use is noted in memory and written with others a little later, so
 * that a call with a key costs no statement more than one with a session.
 */
import { LRUCache } from 'lru-cache';
import type { ApiKeyId } from '../rules/ids.js';
import { recordKeyUses } from '../store/api-keys.js';
import type { Db } from '../store/database.js';

export interface KeyUses {
  note(id: ApiKeyId): void;
  /** Writes what was noted since the last time. */
  flush(): Promise<void>;
}

const MINUTE_MS = 60_000;
/** Of keys whose uses are remembered, and so of rows in one statement. */
const KEYS_MAX = 10_000;

export function createKeyUses(db: Db, now: () => number = Date.now): KeyUses {
  const lastNoted = new LRUCache<ApiKeyId, number>({ max: KEYS_MAX });
  let pending = new Map<ApiKeyId, Date>();
  return {
    note(id) {
      const minute = Math.floor(now() / MINUTE_MS) * MINUTE_MS;
      if (lastNoted.get(id) === minute || pending.size === KEYS_MAX) return;
      lastNoted.set(id, minute);
      pending.set(id, new Date(minute));
    },
    async flush() {
      if (pending.size === 0) return;
      const uses = pending;
      pending = new Map();
      await recordKeyUses(db, uses);
    },
  };
}

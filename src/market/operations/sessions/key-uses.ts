/**
 * Records when each API key was last used, to the minute. Uses are collected in memory and written together, so a call
 * with an API key takes as many statements as a call with a session.
 */
import { LRUCache } from 'lru-cache';
import type { ApiKeyId } from '../../rules/ids.js';
import { recordKeyUses } from '../../store/sessions/api-keys.js';
import type { Db } from '../../../platform/db/database.js';
import { API_KEY_USES } from '../../rules/market-limits.js';

export interface KeyUses {
  note(id: ApiKeyId): void;
  /** Also waits for a write that began earlier. */
  flush(): Promise<void>;
}

const MINUTE_MS = 60_000;

export function createKeyUses(db: Db, now: () => number = Date.now): KeyUses {
  const lastUses = new LRUCache<ApiKeyId, number>({ max: API_KEY_USES.keysMax });
  let pending = new Map<ApiKeyId, Date>();
  let lastWrite: Promise<void> = Promise.resolve();

  async function writePending(): Promise<void> {
    if (pending.size === 0) return;
    const uses = pending;
    pending = new Map();
    await recordKeyUses(db, uses);
  }

  return {
    note(id) {
      const minute = Math.floor(now() / MINUTE_MS) * MINUTE_MS;
      if (lastUses.get(id) === minute || pending.size === API_KEY_USES.keysMax) return;
      lastUses.set(id, minute);
      pending.set(id, new Date(minute));
    },
    flush() {
      lastWrite = lastWrite.catch(() => {}).then(writePending);
      return lastWrite;
    },
  };
}

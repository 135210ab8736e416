/** The load of the storm's clients on one URL, through HAProxy, and how long their writes wait. */
import { until } from '../../../platform/security/until.js';
import { openBoard } from '../storm/board.js';
import { chance } from '../storm/chance.js';
import { openClient } from '../storm/client.js';
import { isRead, settles, type Attempt, type Entry } from '../storm/history.js';
import { endow, FORTUNE, gather } from '../storm/storm.js';
import { openWire, type Wire } from '../storm/wire.js';

/** After a 502 or 504 from HAProxy, the call may have been carried out. Clients send it again with the same key. */
function behindHaproxy(wire: Wire): Wire {
  const isLost = (attempt: Attempt) => !('lost' in attempt) && [502, 504].includes(attempt.status);
  return {
    ...wire,
    send: async (...call) => {
      const attempt = await wire.send(...call);
      return isLost(attempt) ? { instance: attempt.instance, api: attempt.api, lost: 'HAProxy' } : attempt;
    },
  };
}

/** If the first response is a replay, HAProxy itself has sent the call twice. */
export function withLostSendings(history: readonly Entry[]): Entry[] {
  return history.map((entry) => {
    const [first] = entry.attempts;
    if (!first || 'lost' in first || !first.replayed) return entry;
    return { ...entry, attempts: [{ instance: 0, api: first.api, lost: 'HAProxy' }, ...entry.attempts] };
  });
}

export async function openLoad(url: string, seed: string, clients: number) {
  const history: Entry[] = [];
  const wire = behindHaproxy(openWire([url]));
  /** When each write was sent for the first time, by its key. */
  const sentAtMs = new Map<string, number>();
  const send: Wire['send'] = (request, key, ...rest) => {
    if (key !== null && !sentAtMs.has(key)) sentAtMs.set(key, performance.now());
    return wire.send(request, key, ...rest);
  };
  const { admin, lanes, shared, people } = await gather([url], clients);
  await endow(wire, history, people, admin);
  const board = openBoard(shared);
  const succeededAtMs = { reads: 0, writes: 0 };
  let longestPauseMs = 0;
  let longestWaitMs = 0;
  let operations = 0;
  let isOver = false;
  function onAttempt(attempt: Attempt, entry: Entry): void {
    if (!settles(attempt)) return;
    const nowMs = performance.now();
    const waitedMs = nowMs - (sentAtMs.get(entry.tag) ?? nowMs);
    sentAtMs.delete(entry.tag);
    if (!attempt.data) return;
    operations += 1;
    if (!isRead(entry.request.op)) {
      longestPauseMs = Math.max(longestPauseMs, nowMs - succeededAtMs.writes);
      longestWaitMs = Math.max(longestWaitMs, waitedMs);
    }
    succeededAtMs[isRead(entry.request.op) ? 'reads' : 'writes'] = nowMs;
  }
  const acting = lanes.map(async (lane, number) => {
    const available = FORTUNE + lane.bonus;
    const dice = chance(seed, `client ${number}`);
    const parts = {
      number,
      lane,
      admin,
      board,
      wire: { ...wire, send },
      instances: 1,
      dice,
      available,
      history,
      onAttempt,
    };
    const client = openClient(parts);
    while (!isOver) await client.step();
  });
  return {
    history,
    people,
    admin,
    succeededAtMs,
    /** The longest time in which no write succeeded. */
    longestPauseMs: () => longestPauseMs,
    /** The longest time from a write's first attempt to its success. */
    longestWaitMs: () => longestWaitMs,
    forgetPauses: () => void (longestPauseMs = longestWaitMs = 0),
    /** Resolves after this number of successful operations. */
    more: async (count: number) => {
      const upTo = operations + count;
      await until(() => operations >= upTo);
    },
    stop: () => {
      isOver = true;
      return Promise.all(acting);
    },
    close: () => wire.close(),
  };
}

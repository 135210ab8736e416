/** All shares, made once at start from the table in `market/rules/limits.ts` and the configuration. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LONG_READ, STREAM, type ShareName } from '../limits.js';
import type { ShareTable } from './share-limits.js';
import { createFairQueue, type FairQueue } from './fair-queue.js';
import { createShare, type GiveBack, type Holder, type Share, type ShareEvents } from './share.js';

export interface Shares {
  readonly limits: ShareTable;
  readonly events: ShareEvents;
  readonly connections: Share;
  readonly webSockets: Share;
  readonly streams: Share;
  readonly requests: Share;
  readonly longReads: FairQueue;
  /** For events on streams, one in each turn of the event loop: streams that are far behind hold up nobody. */
  readonly streamEvents: FairQueue;
  readonly unreadBytes: Share;
}

export function createShares(limits: ShareTable, events: ShareEvents): Shares {
  const settings = (name: ShareName) => ({ name, limits: limits[name], events });
  return {
    limits,
    events,
    connections: createShare(settings('connections')),
    webSockets: createShare(settings('webSockets')),
    streams: createShare(settings('streams')),
    requests: createShare(settings('requests')),
    longReads: createFairQueue({ ...settings('longReads'), places: 1, waitMs: LONG_READ.waitMs }),
    // None is refused: each stream waits with one event at most.
    streamEvents: createFairQueue({
      ...settings('streams'),
      limits: { of: 'events' },
      places: 1,
      waitMs: STREAM.eventWaitMs,
    }),
    // Above the total, the largest holder is cut instead of the one that came last.
    unreadBytes: createShare({ ...settings('unreadBytes'), limits: { ...limits.unreadBytes, total: undefined } }),
  };
}

/** Settles when it is the holder's turn. Whatever else waits for the event loop goes on before the next one's turn. */
export function turnOf(queue: FairQueue, holder: Holder): Promise<void> {
  return new Promise((begin, refuse) => {
    const work = async () => {
      begin();
      await nextTurn();
    };
    queue.run(holder, work).catch(refuse);
  });
}

/** A request under way counts for its address, and also for its user once that is known. */
export class RequestUnderWay {
  #giveBack: GiveBack;
  #isOver = false;

  constructor(
    private readonly requests: Share,
    readonly holder: Holder,
  ) {
    this.#giveBack = requests.take(holder);
  }

  /** Throws a refusal if the user has more requests under way than they may. */
  identify(user: string): void {
    if (this.holder.user === user || this.#isOver) return;
    this.#giveBack();
    this.holder.user = user;
    this.#giveBack = this.requests.take(this.holder);
  }

  end(): void {
    this.#isOver = true;
    this.#giveBack();
  }
}

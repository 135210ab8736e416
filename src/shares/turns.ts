/**
 * Requests wait for the event loop as for anything scarce: a few milliseconds of them are begun in each turn of the
 * loop, the others by a fair queue in those that follow. So a burst of requests from one address delays those of others
 * by one step of its work and not by all of it, and new connections are accepted in between.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFairQueue, type FairQueue } from './fair-queue.js';
import type { Holder, ShareSettings } from './share.js';

/** In each turn of the loop one new connection is accepted: while many come, turns must be short. */
const SLICE_MS = 2;
/** A request that has waited so long is refused rather than answered too late. */
const WAIT_MS = 2_000;

export interface Turns {
  /** Settles when the holder may go on; undefined where that is at once. */
  wait(holder: Holder): Promise<void> | undefined;
  readonly queue: Pick<FairQueue, 'waiting'>;
}

export function createTurns(settings: ShareSettings, waitMs = WAIT_MS): Turns {
  const queue = createFairQueue({ ...settings, places: 1, waitMs });
  let sliceEndsMs: number | undefined;

  function hasTime(): boolean {
    if (sliceEndsMs !== undefined) return performance.now() < sliceEndsMs;
    sliceEndsMs = performance.now() + SLICE_MS;
    setImmediate(endTurn);
    return true;
  }

  function endTurn(): void {
    sliceEndsMs = undefined;
  }

  /** Settles behind the promises that a request has led to, since what they take is a part of the slice. */
  async function step(): Promise<void> {
    await new Promise<void>((done) => queueMicrotask(() => process.nextTick(done)));
    if (hasTime()) return;
    await nextTurn();
    hasTime();
  }

  return {
    wait(holder) {
      if (queue.waiting === 0 && hasTime()) return undefined;
      return new Promise((begin, refuse) => {
        const begun = queue.run(holder, () => {
          begin();
          return step();
        });
        begun.catch(refuse);
      });
    },
    queue,
  };
}

/**
 * Requests wait for the event loop in a fair queue, as for any scarce resource: those that take a few milliseconds
 * together are begun in each turn of the loop. So a burst of requests from one address delays those of others by one
 * step of its work and not by all of it, and new connections are accepted in between.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFairQueue, type FairQueue } from './fair-queue.js';
import type { Holder, ShareSettings } from './share.js';

const SLICE_MS = 2;
/** A request that has waited so long is refused rather than answered too late. */
const WAIT_MS = 1_000;

export interface Turns {
  /** Begins the work when it is the holder's turn. */
  begin(holder: Holder, work: () => void): Promise<void>;
  /** From now on work is begun only in turns of the loop in which `mayBegin` returns true. */
  onlyWhile(mayBegin: () => boolean): void;
  readonly queue: Pick<FairQueue, 'waiting'>;
}

/** Settles when it is the holder's turn. */
export function turnOf(turns: Turns, holder: Holder): Promise<void> {
  return new Promise((begin, refuse) => void turns.begin(holder, begin).catch(refuse));
}

export function createTurns(settings: ShareSettings, waitMs = WAIT_MS): Turns {
  const queue = createFairQueue({ ...settings, places: 1, waitMs });
  let sliceEndsMs = 0;
  let mayBegin = () => true;

  return {
    begin: (holder, work) =>
      queue.run(holder, async () => {
        work();
        // Waits for the promises that the work has queued: their time counts as part of the slice.
        await Promise.resolve();
        await new Promise<void>((done) => process.nextTick(done));
        if (performance.now() < sliceEndsMs) return;
        do await nextTurn();
        while (!mayBegin());
        sliceEndsMs = performance.now() + SLICE_MS;
      }),
    onlyWhile: (condition) => void (mayBegin = condition),
    queue,
  };
}

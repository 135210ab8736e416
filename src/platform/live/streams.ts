/**
 * One viewer's events, as an iterator. A stream reads for itself until it has reached the last event, and then waits
 * for the fan-out to offer new ones. When its client reads too slowly it goes back to reading for itself, so that its
 * buffer has a bound and no event is lost.
 */
import { STREAM } from '../limits.js';
import type { JobId } from '../../market/rules/ids.js';
import { readEvent } from '../../market/rules/reading/timeline.js';
import type { Viewer } from '../../market/rules/viewer.js';
import type { Db } from '../db/database.js';
import type { EventWithParties } from '../../market/store/events/event-log.js';
import type { JobEvent } from '../../market/store/events/events.js';
import type { FanOut } from './fan-out.js';
import { readPage } from '../../market/operations/events/replay.js';

export interface EventStream extends AsyncIterableIterator<JobEvent, undefined> {
  /** Ends the stream: a pending `next()` resolves as done. */
  close(): void;
  next(): Promise<IteratorResult<JobEvent, undefined>>;
  return(): Promise<IteratorResult<JobEvent, undefined>>;
}

export interface EventSelection {
  readonly jobId?: JobId;
  readonly after?: bigint;
}

const END = { done: true, value: undefined } as const;

export function createStream(fanOut: FanOut, viewer: Viewer, { jobId, after }: EventSelection, db: Db): EventStream {
  const buffer: JobEvent[] = [];
  /** Every event up to this position was given, or is not for the viewer. */
  let position = after ?? fanOut.cursor;
  let leave: (() => void) | undefined;
  let hasEnded = false;
  let wake = () => {};
  let turn: Promise<unknown> = Promise.resolve();

  const subscriber = {
    viewer,
    jobId,
    onBatch: (entries: readonly EventWithParties[]) => {
      for (const entry of entries) {
        const entryPosition = BigInt(entry.event.position ?? 0);
        if (entryPosition <= position) continue;
        // Events in between that were not offered are not for this viewer.
        position = entryPosition - 1n;
        if (buffer.length >= STREAM.bufferedEventsMax) return catchUp();
        const event = readEvent(viewer, entry, jobId ? 'job' : 'mine');
        if (event) buffer.push(event);
        position = entryPosition;
      }
      return wake();
    },
    onGap: catchUp,
    end: close,
  };

  /** Reads for itself from this position on, buffered events included. */
  function catchUp(): void {
    leave?.();
    leave = undefined;
    wake();
  }

  function close(): void {
    hasEnded = true;
    leave?.();
    leave = undefined;
    wake();
  }

  /** No other code runs between the last look at the cursor and joining, so that no event is missed. */
  async function readForItself(): Promise<void> {
    const upTo = fanOut.cursor;
    if (position >= upTo) {
      leave = fanOut.join(subscriber);
      return;
    }
    const page = await readPage(db, viewer, jobId, { after: position, upTo });
    buffer.push(...page.events);
    position = page.upTo;
  }

  async function take(): Promise<IteratorResult<JobEvent, undefined>> {
    for (let value = buffer.shift(); ; value = buffer.shift()) {
      if (hasEnded) return END;
      if (value) return { done: false, value };
      if (leave) await new Promise<void>((resolve) => (wake = resolve));
      else await readForItself();
    }
  }

  if (position >= fanOut.cursor) leave = fanOut.join(subscriber);
  const stream: EventStream = {
    next: () => {
      const result = turn.then(take);
      turn = result.catch(() => undefined);
      return result;
    },
    return: () => {
      close();
      return Promise.resolve(END);
    },
    close,
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}

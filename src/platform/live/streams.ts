/**
 * One reader's events, as an iterator. A stream reads events itself until it has caught up. Then the fan-out offers it
 * new ones. If its client reads too slowly, the stream goes back to reading events itself. That bounds its buffer
 * without losing events.
 */
import { STREAM } from '../caller-limits.js';
import type { Db } from '../db/database.js';
import type { FanOut, LogEntry, PositionRange, Subscriber } from './fan-out.js';

export interface EventStream<Event> extends AsyncIterableIterator<Event, undefined> {
  /** Ends the stream. A pending `next()` resolves as done. */
  close(): void;
  next(): Promise<IteratorResult<Event, undefined>>;
  return(): Promise<IteratorResult<Event, undefined>>;
}

export interface Selection<Entry, Event> extends Pick<Subscriber<Entry>, 'key' | 'readerId'> {
  /** The entry as its reader sees it. Undefined if they can't. */
  read(entry: Entry): Event | undefined;
  /** True if the stream must be delayed from this entry on. */
  isDelayedFrom?(entry: Entry): boolean;
  /**
   * Returns the next events in this range, and the position up to which it has read. Undefined if the stream must be
   * delayed. The stream then reads again.
   */
  readPage(
    db: Db,
    range: PositionRange,
    isDelayed: boolean,
  ): Promise<{ readonly events: readonly Event[]; readonly upTo: bigint } | undefined>;
}

interface FanOuts<Entry> {
  readonly fanOut: FanOut<Entry>;
  readonly delayedFanOut: FanOut<Entry>;
}

const END = { done: true, value: undefined } as const;

export function createStream<Entry extends LogEntry, Event extends object>(
  { fanOut, delayedFanOut }: FanOuts<Entry>,
  { key, readerId, read, readPage, isDelayedFrom }: Selection<Entry, Event>,
  after: bigint | undefined,
  db: Db,
): EventStream<Event> {
  const buffer: Event[] = [];
  /** Every event up to here was delivered or isn't for this reader. */
  let position = after ?? fanOut.cursor;
  let source = fanOut;
  let leave: (() => void) | undefined;
  let hasEnded = false;
  let wake = () => {};
  let turn: Promise<unknown> = Promise.resolve();

  const subscriber = {
    key,
    readerId,
    onBatch: (entries: readonly Entry[]) => {
      for (const entry of entries) {
        if (source === fanOut && isDelayedFrom?.(entry)) {
          source = delayedFanOut;
          return catchUp();
        }
        const entryPosition = BigInt(entry.event.position ?? 0);
        if (entryPosition <= position) continue;
        // Skipped events weren't offered, so they aren't for this reader.
        position = entryPosition - 1n;
        if (buffer.length >= STREAM.bufferedEventsMax) return catchUp();
        const event = read(entry);
        if (event) buffer.push(event);
        position = entryPosition;
      }
      return wake();
    },
    onGap: catchUp,
    end: close,
  };

  /** From here on, the stream reads events itself, even the buffered ones. */
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

  /** Checks the cursor and joins without a pause in between, so no event is missed. */
  async function readForItself(): Promise<void> {
    const upTo = source.cursor;
    if (position >= upTo) {
      leave = source.join(subscriber);
      return;
    }
    const page = await readPage(db, { after: position, upTo }, source === delayedFanOut);
    if (!page) {
      source = delayedFanOut;
      return;
    }
    buffer.push(...page.events);
    position = page.upTo;
  }

  async function take(): Promise<IteratorResult<Event, undefined>> {
    for (let value = buffer.shift(); ; value = buffer.shift()) {
      if (hasEnded) return END;
      if (value) return { done: false, value };
      if (leave) await new Promise<void>((resolve) => (wake = resolve));
      else await readForItself();
    }
  }

  if (position >= fanOut.cursor) leave = fanOut.join(subscriber);
  const stream: EventStream<Event> = {
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

/**
 * One reader's events, as an iterator. A stream first reads events itself until it reaches the last one. The stream
 * then waits for the fan-out to offer new events. If its client reads too slowly, the stream goes back to reading
 * events itself. This limits the stream's buffer without losing any events.
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

/** The part of the log that one reader reads. */
export interface Selection<Entry, Event> extends Pick<Subscriber<Entry>, 'key' | 'readerId'> {
  /** The entry as the reader sees it. Undefined if they can't read it. */
  read(entry: Entry): Event | undefined;
  /** The next events in this range, and the position up to which they have been read. */
  readPage(db: Db, range: PositionRange): Promise<{ readonly events: readonly Event[]; readonly upTo: bigint }>;
}

const END = { done: true, value: undefined } as const;

export function createStream<Entry extends LogEntry, Event extends object>(
  fanOut: FanOut<Entry>,
  { key, readerId, read, readPage }: Selection<Entry, Event>,
  after: bigint | undefined,
  db: Db,
): EventStream<Event> {
  const buffer: Event[] = [];
  /** The stream's position. Every event up to it was delivered or isn't for the reader. */
  let position = after ?? fanOut.cursor;
  let leave: (() => void) | undefined;
  let hasEnded = false;
  let wake = () => {};
  let turn: Promise<unknown> = Promise.resolve();

  const subscriber = {
    key,
    readerId,
    onBatch: (entries: readonly Entry[]) => {
      for (const entry of entries) {
        const entryPosition = BigInt(entry.event.position ?? 0);
        if (entryPosition <= position) continue;
        // The events in between weren't offered, so they aren't for this reader.
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

  /** The stream reads events itself from this position on, including the buffered events. */
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

  /** No other code runs between the last check of the cursor and joining, so no event is missed. */
  async function readForItself(): Promise<void> {
    const upTo = fanOut.cursor;
    if (position >= upTo) {
      leave = fanOut.join(subscriber);
      return;
    }
    const page = await readPage(db, { after: position, upTo });
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

/** Reads new events in batches once for all of the server's streams. Each event goes to the streams with its key. */
import { LIVE } from '../service-limits.js';
import type { Db } from '../db/database.js';
import type { Metrics } from '../telemetry/metrics.js';

export interface PositionRange {
  readonly after: bigint;
  readonly upTo: bigint;
}

/** An event in the log, with the facts that decide who may read it. */
export interface LogEntry {
  readonly event: { readonly position: string | null };
}

export interface Subscriber<Entry> {
  /** The stream receives the entries with this key. */
  readonly key: string;
  /** The reader, if a batch must include facts about them. */
  readonly readerId: string | null;
  /** Receives a batch's entries with the stream's key, in order. */
  onBatch(entries: readonly Entry[]): void;
  /**
   * Called if the stream missed part of a batch because it joined while the batch was being read, or if it failed to
   * receive a batch. The stream must then read those events itself.
   */
  onGap(): void;
  end(): void;
}

export interface FanOut<Entry> {
  /** All streams have received the events up to this position. */
  readonly cursor: bigint;
  /** Called when positions up to this one have been assigned. */
  advanceTo(position: bigint): void;
  onEvents(listener: (upTo: bigint) => void): () => void;
  /** Starts at `cursor`. Returns a function that leaves. */
  join(subscriber: Subscriber<Entry>): () => void;
  close(): Promise<void>;
}

export interface BatchQueries<Entry> {
  /** Reads at most `LIVE.batchEventsMax` entries in this range, by position, for the streams with these keys. */
  readBatch(
    db: Db,
    range: PositionRange,
    readerIds: readonly string[],
    keys: readonly string[],
  ): Promise<readonly Entry[]>;
  /** The keys of the streams that may need this entry, without duplicates. */
  keysOf(entry: Entry): readonly string[];
}

interface FanOutOptions<Entry> {
  readonly queries: BatchQueries<Entry>;
  readonly metrics: Pick<Metrics, 'recordBatch'>;
  onFailure(error: unknown): void;
}

export function createFanOut<Entry extends LogEntry>(
  db: Db,
  { queries, metrics, onFailure }: FanOutOptions<Entry>,
): FanOut<Entry> {
  const subscribers = createRegister(queries.keysOf, onFailure);
  const listeners = new Set<(upTo: bigint) => void>();
  let last: bigint | undefined;
  let cursor = 0n;
  let running: Promise<void> | undefined;
  let isClosed = false;

  /** The position to read up to. Undefined if there is nothing to read. */
  const target = () => (last !== undefined && cursor < last && !isClosed ? last : undefined);

  async function run(): Promise<void> {
    for (let upTo = target(); upTo !== undefined; upTo = target()) {
      if (subscribers.size === 0) cursor = upTo;
      else await readNewEvents(upTo);
    }
  }

  async function readNewEvents(upTo: bigint): Promise<void> {
    subscribers.beginReading();
    const range = { after: cursor, upTo };
    const batch = await queries.readBatch(db, range, subscribers.readerIds(), subscribers.keys());
    metrics.recordBatch(batch.length);
    const lastRead = batch.at(-1)?.event.position;
    cursor = batch.length === LIVE.batchEventsMax && lastRead ? BigInt(lastRead) : upTo;
    subscribers.offer(batch);
  }

  return {
    get cursor() {
      return cursor;
    },
    advanceTo: (position) => {
      // The server starts at the first position that it receives.
      if (last === undefined) cursor = position;
      if (last === undefined || position > last) {
        last = position;
        for (const listener of listeners) listener(position);
      }
      if (cursor < last) running ??= start();
    },
    onEvents: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    join: (subscriber) => subscribers.join(subscriber),
    close: async () => {
      isClosed = true;
      subscribers.end();
      await running;
    },
  };

  function start(): Promise<void> {
    return run()
      .catch(onFailure)
      .finally(() => (running = undefined));
  }
}

interface Register<Entry> {
  readonly size: number;
  beginReading(): void;
  readerIds(): readonly string[];
  keys(): readonly string[];
  offer(batch: readonly Entry[]): void;
  join(subscriber: Subscriber<Entry>): () => void;
  end(): void;
}

function createRegister<Entry>(
  keysOf: BatchQueries<Entry>['keysOf'],
  onFailure: (error: unknown) => void,
): Register<Entry> {
  const allSubscribers = new Set<Subscriber<Entry>>();
  const byKey = new Map<string, Set<Subscriber<Entry>>>();
  const readers = new Map<string, number>();
  let lateSubscribers = new Set<Subscriber<Entry>>();

  function leave(subscriber: Subscriber<Entry>): void {
    if (!allSubscribers.delete(subscriber)) return;
    lateSubscribers.delete(subscriber);
    const { key } = subscriber;
    const group = byKey.get(key);
    group?.delete(subscriber);
    if (group?.size === 0) byKey.delete(key);
    count(subscriber, -1);
  }

  function count({ readerId }: Subscriber<Entry>, by: 1 | -1): void {
    if (readerId === null) return;
    const remaining = (readers.get(readerId) ?? 0) + by;
    if (remaining === 0) readers.delete(readerId);
    else readers.set(readerId, remaining);
  }

  return {
    get size() {
      return allSubscribers.size;
    },
    beginReading: () => (lateSubscribers = new Set()),
    readerIds: () => [...readers.keys()],
    keys: () => [...byKey.keys()],
    offer: (batch) => {
      for (const lateSubscriber of lateSubscribers) {
        leave(lateSubscriber);
        lateSubscriber.onGap();
      }
      const entriesBySubscriber = new Map<Subscriber<Entry>, Entry[]>();
      for (const entry of batch) {
        for (const subscriber of keysOf(entry).flatMap((key) => [...(byKey.get(key) ?? [])])) {
          const entries = entriesBySubscriber.get(subscriber);
          if (entries) entries.push(entry);
          else entriesBySubscriber.set(subscriber, [entry]);
        }
      }
      for (const [subscriber, entries] of entriesBySubscriber) {
        try {
          subscriber.onBatch(entries);
        } catch (error) {
          onFailure(error);
          leave(subscriber);
          subscriber.onGap();
        }
      }
    },
    join: (subscriber) => {
      allSubscribers.add(subscriber);
      lateSubscribers.add(subscriber);
      const { key } = subscriber;
      byKey.set(key, (byKey.get(key) ?? new Set()).add(subscriber));
      count(subscriber, 1);
      return () => leave(subscriber);
    },
    end: () => {
      for (const subscriber of allSubscribers) subscriber.end();
    },
  };
}

/**
 * Reads new events in batches, once for all streams of this instance, and offers each event to those streams that may
 * be concerned: those on its job, those of its owner, of contractors with a bid on it, and of admins.
 */
import type { ContractorId, JobId } from '../../market/rules/ids.js';
import type { Viewer } from '../../market/rules/viewer.js';
import type { Db } from '../db/database.js';
import { BATCH_MAX, readBatch, type EventWithParties } from '../../market/store/events/event-log.js';
import type { Metrics } from '../telemetry/metrics.js';

/** A stream that waits for new events. */
export interface Subscriber {
  readonly viewer: Viewer;
  readonly jobId: JobId | undefined;
  /** Those events of a batch that may be for it, in order. */
  onBatch(entries: readonly EventWithParties[]): void;
  /** The stream joined while a batch without it was being read: it must read for itself from now on. */
  onGap(): void;
  end(): void;
}

export interface FanOut {
  /** The streams have been given the events up to this position. */
  readonly cursor: bigint;
  /** Called when there are positions up to this one. */
  advanceTo(position: bigint): void;
  onEvents(listener: (upTo: bigint) => void): () => void;
  /** Joins from `cursor` on. Returns a function that leaves. */
  join(subscriber: Subscriber): () => void;
  close(): Promise<void>;
}

interface FanOutParts {
  readonly metrics: Pick<Metrics, 'recordBatch'>;
  onFailure(error: unknown): void;
}

export function createFanOut(db: Db, { metrics, onFailure }: FanOutParts): FanOut {
  const subscribers = createRegister();
  const listeners = new Set<(upTo: bigint) => void>();
  let last: bigint | undefined;
  let cursor = 0n;
  let running: Promise<void> | undefined;
  let isClosed = false;

  /** The position to read to, while there is something to read. */
  const target = () => (last !== undefined && cursor < last && !isClosed ? last : undefined);

  async function run(): Promise<void> {
    for (let upTo = target(); upTo !== undefined; upTo = target()) {
      if (subscribers.size === 0) cursor = upTo;
      else await readNewEvents(upTo);
    }
  }

  async function readNewEvents(upTo: bigint): Promise<void> {
    subscribers.beginReading();
    const batch = await readBatch(db, { after: cursor, upTo, contractorIds: subscribers.contractorIds() });
    metrics.recordBatch(batch.length);
    const lastRead = batch.at(-1)?.event.position;
    cursor = batch.length === BATCH_MAX && lastRead ? BigInt(lastRead) : upTo;
    subscribers.offer(batch);
  }

  return {
    get cursor() {
      return cursor;
    },
    advanceTo: (position) => {
      // This instance begins at the first position that it gets.
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

interface Register {
  readonly size: number;
  beginReading(): void;
  contractorIds(): readonly ContractorId[];
  offer(batch: readonly EventWithParties[]): void;
  join(subscriber: Subscriber): () => void;
  end(): void;
}

/** The streams of this instance, by what may lead an event to them. */
function createRegister(): Register {
  const allSubscribers = new Set<Subscriber>();
  const byKey = new Map<string, Set<Subscriber>>();
  const contractors = new Map<ContractorId, number>();
  let lateSubscribers = new Set<Subscriber>();

  function leave(subscriber: Subscriber): void {
    if (!allSubscribers.delete(subscriber)) return;
    lateSubscribers.delete(subscriber);
    const key = keyOf(subscriber);
    const group = byKey.get(key);
    group?.delete(subscriber);
    if (group?.size === 0) byKey.delete(key);
    count(subscriber, -1);
  }

  function count({ viewer: { contractorId } }: Subscriber, by: 1 | -1): void {
    if (contractorId === null) return;
    const remaining = (contractors.get(contractorId) ?? 0) + by;
    if (remaining === 0) contractors.delete(contractorId);
    else contractors.set(contractorId, remaining);
  }

  return {
    get size() {
      return allSubscribers.size;
    },
    beginReading: () => (lateSubscribers = new Set()),
    contractorIds: () => [...contractors.keys()],
    offer: (batch) => {
      for (const lateSubscriber of lateSubscribers) {
        leave(lateSubscriber);
        lateSubscriber.onGap();
      }
      const entriesBySubscriber = new Map<Subscriber, EventWithParties[]>();
      for (const entry of batch) {
        for (const subscriber of keysOf(entry).flatMap((key) => [...(byKey.get(key) ?? [])])) {
          const entries = entriesBySubscriber.get(subscriber);
          if (entries) entries.push(entry);
          else entriesBySubscriber.set(subscriber, [entry]);
        }
      }
      for (const [subscriber, entries] of entriesBySubscriber) subscriber.onBatch(entries);
    },
    join: (subscriber) => {
      allSubscribers.add(subscriber);
      lateSubscribers.add(subscriber);
      const key = keyOf(subscriber);
      byKey.set(key, (byKey.get(key) ?? new Set()).add(subscriber));
      count(subscriber, 1);
      return () => leave(subscriber);
    },
    end: () => {
      for (const subscriber of allSubscribers) subscriber.end();
    },
  };
}

const ADMINS = 'admin';

/** Where an event looks for this stream. */
function keyOf({ viewer, jobId }: Subscriber): string {
  return jobId ?? viewer.homeownerId ?? viewer.contractorId ?? ADMINS;
}

function keysOf({ event, homeownerId, bids }: EventWithParties): readonly string[] {
  return [event.jobId, homeownerId, ...new Set(bids.map(({ contractorId }) => contractorId)), ADMINS];
}

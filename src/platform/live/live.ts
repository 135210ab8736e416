/**
 * Delivers events as they happen. Events get their positions after their commit, from whichever server tries first.
 * Every server is notified over a listening connection. Each one also polls once a second, or more often while that
 * connection is silent. A server reads new events once for all of its streams (`fan-out.ts`). Each stream gets the ones
 * that its reader may see (`streams.ts`).
 */
import type { Logger } from 'pino';
import type { Metrics } from '../telemetry/metrics.js';
import { STREAM } from '../caller-limits.js';
import { LIVE, NUMBERING, POOLS, NUMBERING_PAUSE } from '../service-limits.js';
import { connect, type Connection, type DatabaseHooks, type Db } from '../db/database.js';
import { listenOn } from '../db/notifications.js';
import { createFanOut, type BatchQueries, type LogEntry } from './fan-out.js';
import { createActiveSessions, createRevocationFeed, isHeartbeat, type ActiveSessions } from './revocation-feed.js';
import { watchSessions, type SessionEnds } from './session-ends.js';
import { createStream, type EventStream, type Selection } from './streams.js';

export type { EventStream } from './streams.js';

export interface Live<Entry extends LogEntry = LogEntry, Viewer = unknown> {
  /** Called after each commit, which may have added events that need positions. */
  wake(): void;
  /**
   * Reports the last position whenever new positions are assigned, and whenever delayed streams can get more events.
   * Returns a function that stops this.
   */
  onEvents(listener: (upTo: bigint) => void): () => void;
  /**
   * With `after`, the stream starts with the events since that position. Reading them counts against the caller's
   * quota.
   */
  open<Event extends object>(selection: Selection<Entry, Event>, after: bigint | undefined, db: Db): EventStream<Event>;
  readonly sessionEnds: SessionEnds;
  readonly activeSessions: ActiveSessions<Viewer>;
  /** True if no other instance has sent a heartbeat for a while. */
  isOnlyInstance(): boolean;
  /** Called after a session's end is committed. Other servers learn of it through Postgres. */
  endSessionHere(session: string): void;
  close(): Promise<void>;
}

/** The statements that number and read events, and the channels that they notify. */
export interface LiveQueries<Entry> extends BatchQueries<Entry> {
  readonly positionsChannel: string;
  /** The queries for delayed streams, whose readers get events later than others do. */
  readonly delayed: BatchQueries<Entry> & { readonly positionsChannel: string };
  /** The channel for heartbeats and the IDs of revoked sessions. */
  readonly sessionsChannel: string;
  numberEvents(db: Db, values: { batch: number }): Promise<NumberedBatch>;
  /**
   * Counts the events without a position, and sends the heartbeat on the sessions channel. Also says if events were
   * numbered without the rest of the work that `numberEvents` does.
   */
  pollEvents(db: Db, values: { heartbeat: string }): Promise<readonly PolledState[]>;
  findEndedSessions(db: Db, sessions: readonly string[]): Promise<readonly string[]>;
}

interface LogState {
  readonly lastPosition: string;
  readonly waiting: number;
}

interface PolledState extends LogState {
  /** Delayed streams can get the events up to this position. */
  readonly delayedPosition: string;
  /** True if events were numbered in another way, such as by an earlier release or by hand. */
  readonly isBehind: boolean;
}

interface NumberedBatch extends Pick<LogState, 'lastPosition'> {
  readonly numbered: number;
  /** True if there are more events to number, or more work to do for numbered events. */
  readonly hasMore: boolean;
  readonly lagSeconds: number | null;
}

interface LiveOptions<Entry> {
  readonly queries: LiveQueries<Entry>;
  /** A direct connection, because poolers don't pass on notifications. */
  readonly connection: Connection;
  readonly metrics: Pick<Metrics, 'recordNumbering' | 'recordWaiting' | 'recordBatch' | 'recordHeartbeat'>;
  readonly log: Logger;
  readonly hooks: DatabaseHooks;
}

export async function openLive<Entry extends LogEntry, Viewer>({
  queries,
  connection,
  metrics,
  log,
  hooks,
}: LiveOptions<Entry>): Promise<Live<Entry, Viewer>> {
  let reconnectPool: (() => Promise<void>) | undefined;
  const onOpen = (reconnect: () => Promise<void>) => {
    reconnectPool = reconnect;
    hooks.onOpen?.(reconnect);
  };
  // Numbering and reading use separate connections, so neither delays the other or the APIs' pool.
  const db = connect(connection, POOLS.events, { ...hooks, onOpen });
  const hasProblem = () => hooks.problem?.() !== undefined;
  const numberingDb = db.of({ address: 'numbering' });
  const readingDb = db.of({ address: 'reading' });
  const logFailure = (what: string) => (error: unknown) => {
    if (!hasProblem()) log.warn({ err: error }, what);
  };
  const fanOut = createFanOut(readingDb, {
    queries,
    metrics,
    onFailure: logFailure('reading events failed; retrying'),
  });
  const delayedFanOut = createFanOut(readingDb, {
    queries: queries.delayed,
    metrics,
    onFailure: logFailure('reading events for delayed streams failed; retrying'),
  });
  const numbering = createNumbering({
    number: async () => {
      const batch = await queries.numberEvents(numberingDb, { batch: NUMBERING.eventsAtOnce });
      if (batch.numbered > 0) metrics.recordNumbering(batch.numbered, batch.lagSeconds ?? 0);
      fanOut.advanceTo(BigInt(batch.lastPosition));
      return batch.hasMore;
    },
    onFailure: logFailure('numbering events failed; retrying'),
  });

  const feed = createRevocationFeed();
  let isPolling = false;
  let polledAtMs = 0;
  let answeredAtMs = performance.now();
  let lastMessageAtMs = performance.now();
  let isSilent = false;

  async function poll(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    polledAtMs = performance.now();
    const answer = queries.pollEvents(readingDb, { heartbeat: feed.heartbeat() });
    const [state] = await answer.finally(() => (isPolling = false));
    if (!state) return;
    answeredAtMs = performance.now();
    metrics.recordWaiting(state.waiting);
    if (state.waiting > 0 || state.isBehind) numbering.wake();
    fanOut.advanceTo(BigInt(state.lastPosition));
    delayedFanOut.advanceTo(BigInt(state.delayedPosition));
  }

  await poll();
  const pollUnlessProblem = () => {
    if (!hasProblem()) void poll().catch(logFailure('checking for new events failed; retrying'));
  };
  function onHeartbeat(heartbeat: string): void {
    if (!feed.onHeartbeat(heartbeat)) return;
    metrics.recordHeartbeat();
    if (isSilent) log.info('notifications are arriving again');
    isSilent = false;
  }

  /**
   * If calls go through a pooler, the database watch doesn't see that these connections are silent. The query for
   * events may hang, or wait for others that hang. If only heartbeats are missing, the listening connection is lost.
   */
  function reconnectIfSilent(): void {
    const now = performance.now();
    if (hasProblem()) answeredAtMs = lastMessageAtMs = now;
    if (feed.isLive()) lastMessageAtMs = now;
    const isUnanswered = now - answeredAtMs >= LIVE.answerWithinMs;
    if (!isUnanswered && now - lastMessageAtMs < LIVE.answerWithinMs) return;
    if (isUnanswered) void reconnectPool?.();
    if (!isSilent) log.warn('notifications aren’t arriving; listening on a new connection');
    isSilent = true;
    answeredAtMs = lastMessageAtMs = now;
    void listening.reconnect();
  }

  const polling = setInterval(() => {
    reconnectIfSilent();
    const isDue = performance.now() - polledAtMs >= STREAM.eventsPollListeningMs;
    if (isDue || !feed.isLive()) pollUnlessProblem();
  }, STREAM.eventsPollMs);
  const sessionEnds = watchSessions(
    (ids) => queries.findEndedSessions(readingDb, ids),
    logFailure('checking ended sessions failed; retrying'),
  );
  const activeSessions = createActiveSessions<Viewer>(feed.isLive);
  const endSessionHere = (session: string) => {
    activeSessions.forget(session);
    sessionEnds.announce(session);
  };
  const listening = listenOn(connection, {
    [queries.positionsChannel]: {
      onNotification: (position) => fanOut.advanceTo(BigInt(position)),
      onListening: pollUnlessProblem,
    },
    [queries.delayed.positionsChannel]: {
      onNotification: (position) => delayedFanOut.advanceTo(BigInt(position)),
      onListening: () => {},
    },
    [queries.sessionsChannel]: {
      onNotification: (message) => (isHeartbeat(message) ? onHeartbeat(message) : endSessionHere(message)),
      onListening: () => {
        activeSessions.forgetAll();
        feed.restart();
        pollUnlessProblem();
        sessionEnds.poll();
      },
    },
  });
  hooks.onOpen?.(listening.reconnect);

  return {
    wake: numbering.wake,
    onEvents: (listener) => {
      const stop = fanOut.onEvents(listener);
      const stopDelayed = delayedFanOut.onEvents(listener);
      return () => {
        stop();
        stopDelayed();
      };
    },
    sessionEnds,
    activeSessions,
    isOnlyInstance: feed.isOnlyInstance,
    endSessionHere,
    open: (selection, after, on) => createStream({ fanOut, delayedFanOut }, selection, after, on),
    close: async () => {
      clearInterval(polling);
      sessionEnds.close();
      await Promise.all([listening.close(), numbering.close(), fanOut.close(), delayedFanOut.close()]);
      await db.close();
    },
  };
}

/** Assigns positions to events after commits. Runs one call at a time, and one more if there were commits meanwhile. */
export interface Numbering {
  wake(): void;
  close(): Promise<void>;
}

interface NumberingOptions {
  /** Numbers a batch. Returns true if there may be more. */
  number(): Promise<boolean>;
  onFailure(error: unknown): void;
}

export function createNumbering({ number, onFailure }: NumberingOptions): Numbering {
  let isWanted = false;
  let isClosed = false;
  let running: Promise<void> | undefined;

  const mustGoOn = () => isWanted && !isClosed;

  async function run(): Promise<void> {
    while (mustGoOn()) {
      isWanted = false;
      const beganMs = performance.now();
      if (await number()) isWanted = true;
      else await pause(performance.now() - beganMs);
    }
  }

  return {
    wake: () => {
      isWanted = true;
      running ??= run()
        .catch(onFailure)
        .finally(() => (running = undefined));
    },
    close: async () => {
      isClosed = true;
      await running;
    },
  };
}

function pause(tookMs: number): Promise<void> {
  const ms = Math.min(
    NUMBERING_PAUSE.atMostMs,
    Math.max(NUMBERING_PAUSE.atLeastMs, NUMBERING_PAUSE.timesAsLong * tookMs),
  );
  return new Promise((resolve) => setTimeout(resolve, ms));
}

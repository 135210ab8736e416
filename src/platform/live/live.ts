/**
 * Events as they happen. Whichever instance comes first gives committed events their positions (`numbering.ts`); every
 * instance is notified on one listening connection, and also looks once a second, or more often while that connection
 * is silent; then it reads what is new once for all of its streams (`fan-out.ts`), and gives each what its viewer may
 * read (`streams.ts`).
 */
import type { Logger } from 'pino';
import type { Metrics } from '../telemetry/metrics.js';
import { STREAM } from '../limits.js';
import { LIVE, NUMBERING, POOLS } from '../service-limits.js';
import { isId, type JobId, type SessionId } from '../../market/rules/ids.js';
import type { Viewer } from '../../market/rules/viewer.js';
import { connect, type Connection, type DatabaseHooks, type Db } from '../db/database.js';
import { listenOn } from '../db/notifications.js';
import { lookForEvents, numberEvents, POSITIONS_CHANNEL } from '../../market/store/events/positions.js';
import { SESSIONS_CHANNEL } from '../../market/store/sessions/sessions.js';
import { createActiveSessions, type ActiveSessions } from './active-sessions.js';
import { createFanOut } from './fan-out.js';
import { createNumbering } from './numbering.js';
import { watchSessions, type SessionEnds } from './session-ends.js';
import { openSessionHearing } from './session-hearing.js';
import { createStream, type EventStream } from './streams.js';

export type { EventStream } from './streams.js';

export interface Live {
  /** Called after a commit: its events, if any, need positions. */
  wake(): void;
  /** Calls back with the last position whenever there are new ones. Returns a function that ends that. */
  onEvents(listener: (upTo: bigint) => void): () => void;
  /**
   * The events that this viewer reads, as they happen: of one job, or of all that is theirs. With `after`, the events
   * behind that position come first; they are read through the caller's `db`, on the caller's share. The caller of this
   * function checks that the viewer may see the job.
   */
  open(viewer: Viewer, selection: { jobId?: JobId; after?: bigint }, db: Db): EventStream;
  /** Watches for the end of the sessions behind open streams. */
  readonly sessions: SessionEnds;
  readonly activeSessions: ActiveSessions;
  /** Called where a session was ended, once that is committed; other instances hear of it through Postgres. */
  announceSessionEnd(session: SessionId): void;
  close(): Promise<void>;
}

interface LiveParts {
  /** Not a pooler's, which passes on no notifications. */
  readonly connection: Connection;
  readonly metrics: Pick<Metrics, 'recordNumbering' | 'recordWaiting' | 'recordBatch' | 'recordHeartbeat'>;
  readonly log: Logger;
  readonly hooks: DatabaseHooks;
}

export async function openLive({ connection, metrics, log, hooks }: LiveParts): Promise<Live> {
  let reconnectPool: (() => Promise<void>) | undefined;
  const onOpen = (reconnect: () => Promise<void>) => {
    reconnectPool = reconnect;
    hooks.onOpen?.(reconnect);
  };
  // One connection numbers events and another reads them. They aren't part of the APIs' pool: neither delays the other.
  const db = connect(connection, POOLS.events, { ...hooks, onOpen });
  const hasProblem = () => hooks.problem?.() !== undefined;
  const numberingDb = db.of({ address: 'numbering' });
  const readingDb = db.of({ address: 'reading' });
  const logFailure = (what: string) => (error: unknown) => {
    if (!hasProblem()) log.warn({ err: error }, what);
  };
  const fanOut = createFanOut(readingDb, { metrics, onFailure: logFailure('reading events failed; retrying') });
  const numbering = createNumbering({
    number: async () => {
      const [batch] = await numberEvents(numberingDb, { batch: NUMBERING.eventsAtOnce });
      if (!batch) return false;
      if (batch.numbered > 0) metrics.recordNumbering(batch.numbered, batch.lagSeconds ?? 0);
      fanOut.advanceTo(BigInt(batch.lastPosition));
      return batch.numbered === NUMBERING.eventsAtOnce;
    },
    onFailure: logFailure('numbering events failed; retrying'),
  });

  const hearing = openSessionHearing();
  let isLooking = false;
  let lookedAtMs = 0;
  let answeredAtMs = performance.now();
  let heardAtMs = performance.now();
  let isSilent = false;

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    lookedAtMs = performance.now();
    const answer = lookForEvents(readingDb, { heartbeat: hearing.heartbeat() });
    const [state] = await answer.finally(() => (isLooking = false));
    if (!state) return;
    answeredAtMs = performance.now();
    metrics.recordWaiting(state.waiting);
    if (state.waiting > 0) numbering.wake();
    fanOut.advanceTo(BigInt(state.lastPosition));
  }

  await look();
  const lookUnlessProblem = () => {
    if (!hasProblem()) void look().catch(logFailure('checking for new events failed; retrying'));
  };
  function onHeartbeat(heartbeat: string): void {
    if (!hearing.onHeartbeat(heartbeat)) return;
    metrics.recordHeartbeat();
    if (isSilent) log.info('notifications arrive again');
    isSilent = false;
  }

  /**
   * If calls go through a pooler, the database check can't see that this connection is silent. The query for events may
   * be the one that hangs, or may have to wait behind others that do. If queries return but their heartbeats don't come
   * back, only the listening connection is lost.
   */
  function reconnectIfSilent(): void {
    const now = performance.now();
    if (hasProblem()) answeredAtMs = heardAtMs = now;
    if (hearing.isHearing()) heardAtMs = now;
    const isUnanswered = now - answeredAtMs >= LIVE.answerWithinMs;
    if (!isUnanswered && now - heardAtMs < LIVE.answerWithinMs) return;
    if (isUnanswered) void reconnectPool?.();
    if (!isSilent) log.warn('notifications do not arrive; listening on a new connection');
    isSilent = true;
    answeredAtMs = heardAtMs = now;
    void listening.reconnect();
  }

  const looking = setInterval(() => {
    reconnectIfSilent();
    const isDue = performance.now() - lookedAtMs >= STREAM.eventsPollListeningMs;
    if (isDue || !hearing.isHearing()) lookUnlessProblem();
  }, STREAM.eventsPollMs);
  const sessions = watchSessions(readingDb, logFailure('checking ended sessions failed; retrying'));
  const activeSessions = createActiveSessions(hearing.isHearing);
  const announceSessionEnd = (session: SessionId) => {
    activeSessions.endSession(session);
    sessions.endSession(session);
  };
  const listening = listenOn(connection, {
    [POSITIONS_CHANNEL]: {
      onNotification: (position) => fanOut.advanceTo(BigInt(position)),
      onListening: lookUnlessProblem,
    },
    [SESSIONS_CHANNEL]: {
      onNotification: (payload) => (isId('session', payload) ? announceSessionEnd(payload) : onHeartbeat(payload)),
      onListening: () => {
        activeSessions.forgetAll();
        hearing.restart();
        lookUnlessProblem();
        sessions.look();
      },
    },
  });
  hooks.onOpen?.(listening.reconnect);

  return {
    wake: numbering.wake,
    onEvents: fanOut.onEvents,
    sessions,
    activeSessions,
    announceSessionEnd,
    open: (viewer, selection, on) => createStream(fanOut, viewer, selection, on),
    close: async () => {
      clearInterval(looking);
      sessions.close();
      await Promise.all([listening.close(), numbering.close(), fanOut.close()]);
      await db.close();
    },
  };
}

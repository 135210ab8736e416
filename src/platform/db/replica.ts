/**
 * Reads that may be slightly stale use a replica. A statement opts in with `mayBeStale`, and a request uses one
 * database for all of these reads. In the same transaction as each read, the server asks the replica if it has replayed
 * what the user must see: their own writes, the events that they were sent, and everything older than `lagMaxSeconds`.
 * If it hasn't, or if it fails, this read and the request's later reads use the primary.
 */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '../redis.js';
import { REPLICA } from '../service-limits.js';
import type { Metrics } from '../telemetry/metrics.js';
import { Overload, Refusal } from '../errors.js';
import type { Client } from '../quotas/quota.js';
import type { Database, DatabaseHooks } from './database.js';
import { isStatementTimeout } from './database-errors.js';
import {
  readPrimaryPosition,
  walPosition,
  type Replica,
  type ReplicaReads,
  type StaleRead,
  type WalPosition,
} from './stale-reads.js';
import { named, type Db } from './transaction.js';
import { createWrittenPositions } from './written-positions.js';

export interface ReplicaOptions {
  readonly lagMaxSeconds: number;
  readonly primary: Db;
  /** True if nobody can write. */
  isPrimaryAway(): boolean;
  openPool(hooks: DatabaseHooks): Database;
  openProbe(hooks: DatabaseHooks): Database;
  readonly redis: RedisConnection | undefined;
  /** True once it's known that no other instance runs. Without Redis, instances don't know each other's writes. */
  isOnlyInstance(): boolean;
  readonly metrics: Pick<Metrics, 'counter' | 'gauge'>;
  onUnusable(reason: string): void;
  onUsable(): void;
}

const readReplicaPosition = named(
  'readReplicaPosition',
  `select case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0')::text end`,
);
const hasReplayed = named('hasReplayed', `select pg_last_wal_replay_lsn() >= '0/0'::pg_lsn + $1::numeric`);

const OUTCOMES = ['replica', 'behind', 'failed', 'unusable'];

export function openReplica({
  lagMaxSeconds,
  primary,
  isPrimaryAway,
  openPool,
  openProbe,
  redis,
  isOnlyInstance,
  metrics,
  onUnusable,
  onUsable,
}: ReplicaOptions): Replica {
  const reconnects: (() => Promise<void>)[] = [];
  const hooks: DatabaseHooks = { onOpen: (reconnect) => void reconnects.push(reconnect) };
  const pool = openPool(hooks);
  const probe = openProbe(hooks);
  const positions = createWrittenPositions(redis);
  /** The primary's positions, oldest first. Of those older than `lagMaxSeconds`, only the latest is kept. */
  const seen: { readonly atMs: number; readonly position: WalPosition }[] = [];
  let lagSeconds = Number.NaN;
  let problem: string | undefined = 'not checked yet';
  const closing = new AbortController();

  const recordRead = metrics.counter(
    'replica_reads_total',
    'Reads that may use the replica, by where they were read, or why they were read on the primary.',
    'outcome',
    OUTCOMES,
  );
  metrics.gauge('replica_usable', '1 while reads use the replica, otherwise 0.', () => Number(problem === undefined));
  metrics.gauge(
    'replica_lag_seconds',
    'How many seconds the replica is behind the primary. NaN while that isn’t known.',
    () => lagSeconds,
  );

  async function poll(): Promise<void> {
    const beganMs = performance.now();
    const [ofPrimary, ofReplica] = await Promise.allSettled([
      inTime(primary.send(readPrimaryPosition, [])),
      inTime(probe.send(readReplicaPosition, [])),
    ]);
    // Other instances' positions may be unknown here. The next position is after all of them.
    if (!(redis ? redis.isReachable() : isOnlyInstance())) seen.length = 0;
    const position = ofPrimary.status === 'fulfilled' ? walPosition(ofPrimary.value) : undefined;
    if (position !== undefined) {
      // A replica between the two positions could be as far behind as the gap is long.
      if (beganMs - (seen.at(-1)?.atMs ?? beganMs) > REPLICA.gapMsMax) seen.length = 0;
      seen.push({ atMs: beganMs, position });
    }
    const oldestMs = beganMs - lagMaxSeconds * 1_000;
    while (seen[1] && seen[1].atMs <= oldestMs) seen.shift();
    const replayed = ofReplica.status === 'fulfilled' ? walPosition(ofReplica.value) : undefined;
    lagSeconds = lagOf(replayed);
    setProblem(problemOf(ofReplica, replayed));
    // An address can lead to the primary while no replica is available. A new connection may find one.
    if (replayed === undefined) for (const reconnect of reconnects) void reconnect();
  }

  /** Seconds since the primary was at a position that the replica hasn't replayed. */
  function lagOf(replayed: WalPosition | undefined): number {
    if (replayed === undefined) return Number.NaN;
    const missing = seen.find(({ position }) => position > replayed);
    return missing ? (performance.now() - missing.atMs) / 1_000 : 0;
  }

  function problemOf(answer: PromiseSettledResult<unknown>, replayed: WalPosition | undefined): string | undefined {
    if (answer.status === 'rejected') return String(answer.reason);
    if (replayed === undefined) return 'the URL doesn’t point to a replica';
    const newest = seen.at(-1);
    if (!newest) return 'the primary’s position isn’t known yet';
    // While the primary is away, nothing new is committed. Otherwise, the replica may be any number of seconds behind.
    if (!isPrimaryAway() && performance.now() - newest.atMs > lagMaxSeconds * 1_000)
      return 'the primary’s position can’t be read';
    if (replayed < needed()) return `the replica is more than ${lagMaxSeconds} seconds behind`;
    if (redis && !redis.isReachable()) return 'Redis can’t be reached';
    if (!redis && !isOnlyInstance()) return 'several servers run without Redis';
    return undefined;
  }

  /** Every read must reach at least this position. */
  const needed = () => seen[0]?.position ?? Infinity;

  function setProblem(now: string | undefined): void {
    if (now !== undefined && now !== problem) onUnusable(now);
    if (now === undefined && problem !== undefined) onUsable();
    problem = now;
  }

  /** Redis may have restarted empty. The positions that it lost are before the next one that is read. */
  function noteRedisReturn(): void {
    seen.length = 0;
    if (problem === undefined) setProblem('Redis was unavailable and may have lost users’ positions');
  }

  redis?.redis.on('ready', noteRedisReturn);
  void poll();
  const polling = setInterval(() => void poll(), REPLICA.pollEveryMs).unref();

  async function requireAtLeast(users: readonly string[], position: WalPosition | undefined): Promise<void> {
    if (position === undefined) return positions.keepOnPrimary(users);
    if (await positions.keep(users, position)) return;
    if (!(await waitFor(position))) await positions.keepOnPrimary(users);
  }

  /** Used if other instances can't read the position. Waits until the replica that they read has reached it. */
  async function waitFor(position: WalPosition): Promise<boolean> {
    const untilMs = performance.now() + lagMaxSeconds * 1_000;
    while (performance.now() < untilMs && !closing.signal.aborted) {
      const replayed = await latestReplicaPosition();
      if (replayed !== undefined && replayed >= position) return true;
      await sleep(REPLICA.waitStepMs);
    }
    return false;
  }

  /** Calls that arrive while a position is being read share the next read. */
  const latestPrimaryPosition = shared(() =>
    inTime(primary.send(readPrimaryPosition, [])).then(walPosition, () => undefined),
  );
  const latestReplicaPosition = shared(() =>
    inTime(probe.send(readReplicaPosition, [])).then(walPosition, () => undefined),
  );

  /** Also returns what the replica has replayed after the read. Undefined if it's behind the needed position. */
  async function readReplica(client: Client, position: WalPosition, { statement, params, isLong }: StaleRead) {
    const on = pool.of(client);
    return ((isLong && on.forLong?.()) || on).inTransaction(async (tx) => {
      const [check, rows, after] = await tx.commitWith(
        tx.send(hasReplayed, [position]),
        tx.send(statement, params),
        tx.send(readReplicaPosition, []),
      );
      return check[0]?.[0] === true ? { rows, reached: walPosition(after) ?? Infinity } : undefined;
    });
  }

  function readsOf(client: Client): ReplicaReads {
    /** Resolves with the position that the request's reads must reach, or undefined if they use the primary. */
    let chosen: Promise<WalPosition | undefined> | undefined;
    const usePrimary = () => void (chosen = Promise.resolve(undefined));
    /** Another replica at the same address may be further behind. */
    let reached = 0;

    async function choose(): Promise<WalPosition | undefined> {
      const isUsable = problem === undefined && (redis !== undefined || isOnlyInstance());
      const own = isUsable ? await positions.of(client.user) : undefined;
      if (own !== undefined && own !== Infinity) return Math.max(own, needed());
      recordRead('unusable');
      return undefined;
    }

    async function send(read: StaleRead): Promise<unknown[][]> {
      const position = await (chosen ??= choose());
      if (position !== undefined) {
        try {
          const answer = await readReplica(client, Math.max(position, reached), read);
          recordRead(answer ? 'replica' : 'behind');
          if (answer) {
            reached = Math.max(reached, answer.reached);
            return answer.rows;
          }
        } catch (error) {
          if (isCallersOwn(error)) throw error;
          recordRead('failed');
        }
        usePrimary();
      }
      return read.onPrimary.send(read.statement, read.params);
    }

    return { send, usePrimary };
  }

  return {
    readsOf,
    noteWrite: (user, position) => requireAtLeast([user], position),
    bringUpToDate: async (users) => {
      if (users.length > 0) await requireAtLeast(users, await latestPrimaryPosition());
    },
    close: async () => {
      closing.abort();
      clearInterval(polling);
      redis?.redis.off('ready', noteRedisReturn);
      await Promise.all([pool.close(), probe.close()]);
    },
  };
}

/** True if the primary would refuse the read as well: it takes too long, or the caller has too many calls. */
function isCallersOwn(error: unknown): boolean {
  if (error instanceof Overload) return isStatementTimeout(error);
  // The replica may be full although the primary isn't.
  return error instanceof Refusal && error.code !== 'OVERLOADED';
}

/** Calls that arrive during `work` share one later run of it. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;
  return () => {
    next ??= (async () => {
      await running?.catch(() => {});
      next = undefined;
      const run = work();
      running = run;
      return run;
    })();
    return next;
  };
}

/** Rejects if there is no answer in time. A frozen server keeps its connections open. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const late = sleep(REPLICA.answerWithinMs, undefined, { ref: false }).then(async () => {
    // After the event loop stalls, timers run before sockets are read. An answer may already have arrived.
    await setImmediate();
    throw new Error('no answer in time');
  });
  return Promise.race([answer, late]);
}

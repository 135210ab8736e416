/**
 * Work to do after a commit. Tasks are rows, inserted in the transaction that causes them. Every server leases due
 * tasks and runs them. If a server is killed, others run its tasks once their leases expire. Each key has a few slots
 * of its own. Slow keys share a few more, so they never take another key's slots.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { SQL } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { POOLS, QUEUE } from '../service-limits.js';
import { connect, pipelined, type Connection, type DatabaseTimeouts, type Db } from '../db/database.js';
import { isLockTimeout } from '../db/database-errors.js';
import type { DatabaseWatch } from '../db/database-watch.js';
import { asArray } from '../db/statement.js';
import { claimTasks, deleteTask, requeueTask, selectDueKinds, waitBriefly, type Task } from './tasks.js';

export interface TaskKind {
  readonly limits: TaskLimits;
  /** A condition on a key. While it's false, the key's tasks wait. */
  mayRun?(key: SQL): SQL;
  /** The delay after each failed attempt. After the last one, the task is abandoned. */
  readonly retryAfterSeconds: readonly number[];
  /** If this throws, the task runs again once its lease expires. */
  run(db: Db, task: Task, stop: AbortSignal): Promise<TaskEnd>;
}

/** How many tasks of one kind a server runs at the same time. */
export interface TaskLimits {
  readonly slots: number;
  readonly slotsPerKey: number;
  /** The slots that all slow keys share. Each slow key can use one of them. */
  readonly slotsOfSlowKeys: number;
  /** Must be longer than any task takes. */
  readonly leaseSeconds: number;
}

export interface TaskEnd {
  /** A task with 'not run' is released without counting an attempt. */
  readonly outcome: 'done' | 'failed' | 'not run';
  /** How long until a task with 'not run' is due again. Defaults to 0. */
  readonly afterSeconds?: number;
  /** True if the task was slow enough that its key now counts as slow. */
  readonly isSlow?: boolean;
  /**
   * Writes the outcome, in the transaction that ends the task. If the task is done, the commit is sent together with
   * the statements, so `write` must not wait for one statement before it sends the next.
   */
  write?(tx: Db): Promise<unknown>;
}

export interface Queue extends Repeated {
  /** A separate pool from the APIs'. Code that enqueues tasks in the background uses it too. */
  readonly db: Db;
}

interface QueueOptions {
  readonly connection: Connection;
  readonly databaseWatch: Pick<DatabaseWatch, 'problem' | 'onOpen'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly kinds: Readonly<Record<string, TaskKind>>;
  readonly timeouts?: Partial<DatabaseTimeouts>;
}

export function openQueue({ connection, databaseWatch, log, kinds, timeouts }: QueueOptions): Queue {
  const pool = connect(connection, { ...POOLS.queue, ...timeouts }, { onOpen: databaseWatch.onOpen });
  // Each may use one of the pool's two connections, so neither waits for the other.
  const db = pool.of({ address: 'queue' });
  const backgroundDb = pool.of({ address: 'background' });
  const warn = (kind?: string) => (error: unknown) => {
    if (!databaseWatch.problem) log.warn({ err: error, kind }, 'running tasks failed; retrying');
  };
  const workers = new Map(Object.entries(kinds).map(([name, kind]) => [name, openWorker(db, name, kind, warn(name))]));
  const polling = repeat(wakeWorkers, QUEUE.pollEveryMs, warn());

  async function wakeWorkers(): Promise<boolean> {
    for (const { kind } of await selectDueKinds(db, { kinds: asArray([...workers.keys()]) })) workers.get(kind)?.wake();
    return false;
  }

  return {
    db: backgroundDb,
    wake: polling.wake,
    async close() {
      await polling.close();
      await Promise.all([...workers.values()].map((worker) => worker.close()));
      await pool.close();
    },
  };
}

function openWorker(db: Db, name: string, kind: TaskKind, onFailure: (error: unknown) => void): Repeated {
  const { slots, slotsPerKey, slotsOfSlowKeys, leaseSeconds } = kind.limits;
  const claimDueTasks = claimTasks(kind.mayRun);
  const running = new Set<{ readonly key: string; readonly isSlow: boolean; readonly work: Promise<void> }>();
  const slowKeys = new LRUCache<string, true>({ max: QUEUE.slowKeysMax, ttl: QUEUE.slowForMs });
  const stop = new AbortController();
  const claimAll = async () => (await claim(false, slots)) + (await claim(true, slotsOfSlowKeys)) > 0;
  const claiming = repeat(claimAll, QUEUE.claimEveryMs, onFailure);

  async function claim(isSlow: boolean, most: number): Promise<number> {
    const free = most - [...running].filter((one) => one.isSlow === isSlow).length;
    if (free <= 0 || (isSlow && slowKeys.size === 0)) return 0;
    const tasks = await claimDueTasks(db, {
      kind: name,
      running: asArray([...running].map(({ key }) => key)),
      slowKeys: asArray([...slowKeys.keys()]),
      isSlow,
      slotsPerKey: isSlow ? 1 : slotsPerKey,
      slots: free,
      leaseSeconds,
    });
    for (const task of tasks) begin(task, isSlow);
    return tasks.length;
  }

  function begin(task: Task, isSlow: boolean): void {
    const one = { key: task.key, isSlow, work: runTask(task).catch(onFailure) };
    running.add(one);
    void one.work.finally(() => {
      running.delete(one);
      claiming.wake();
    });
  }

  async function runTask(task: Task): Promise<void> {
    const leaseEndsMs = performance.now() + leaseSeconds * 1_000;
    const end = await kind.run(db, task, stop.signal);
    const { isSlow, write } = end;
    if (isSlow) slowKeys.set(task.key, true);
    await untilUnlocked(leaseEndsMs, () =>
      db.inTransaction(async (tx) => {
        const [, [held]] = await pipelined(waitBriefly(tx, {}), endTask(tx, task, end));
        // If this server has lost the lease, another one runs the task.
        if (!held || !write) return;
        // After a failure, a statement may depend on an earlier statement's result.
        await (end.outcome === 'done' ? tx.commitWith(write(tx)) : write(tx));
      }),
    );
  }

  /**
   * A caller's call can lock rows that the end of a task writes. All tasks share one connection, so none of them keeps
   * it while it waits for such a call.
   */
  async function untilUnlocked(leaseEndsMs: number, work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isLockTimeout(error) || stop.signal.aborted || performance.now() > leaseEndsMs) throw error;
        await delay(QUEUE.lockPauseMs);
      }
    }
  }

  function endTask(tx: Db, task: Task, { outcome, afterSeconds = 0 }: TaskEnd) {
    if (outcome === 'not run') return requeueTask(tx, { ...task, retryAfterSeconds: afterSeconds });
    const seconds = outcome === 'failed' ? kind.retryAfterSeconds[task.attempts] : undefined;
    if (seconds === undefined) return deleteTask(tx, task);
    // Spreads the retries of tasks that failed together.
    const retryAfterSeconds = seconds * (1 + QUEUE.retrySpread * (2 * Math.random() - 1));
    return requeueTask(tx, { ...task, attempts: task.attempts + 1, retryAfterSeconds });
  }

  return {
    wake: claiming.wake,
    /** Stops claiming tasks. Running tasks get a few seconds to finish and are then aborted. */
    async close() {
      const timer = setTimeout(() => stop.abort(), QUEUE.finishWithinMs);
      await claiming.close();
      await Promise.all([...running].map(({ work }) => work));
      clearTimeout(timer);
    },
  };
}

export interface Repeated {
  wake(): void;
  close(): Promise<void>;
}

/** Runs `work` when woken, and otherwise at this interval. Repeats immediately while it returns true. */
export function repeat(work: () => Promise<boolean>, everyMs: number, onFailure: (error: unknown) => void): Repeated {
  const state = { isClosed: false, wake: () => {} };

  async function run(): Promise<void> {
    while (!state.isClosed) {
      const woken = new Promise<void>((resolve) => (state.wake = resolve));
      const timer = setTimeout(() => state.wake(), everyMs);
      const isMore = await work().catch(onFailure);
      if (isMore !== true && !state.isClosed) await woken;
      clearTimeout(timer);
    }
  }

  const running = run();
  return {
    wake: () => state.wake(),
    async close() {
      state.isClosed = true;
      state.wake();
      await running;
    },
  };
}

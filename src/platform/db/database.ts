/** A bounded pool of Postgres connections with a bounded queue. Every wait has a timeout. */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres, { type ParameterOrJSON, type Sql } from 'postgres';
import { drizzle } from 'drizzle-orm/postgres-js';
import { QUOTAS } from '../caller-limits.js';
import { createFairQueue, type FairQueue, type Work } from '../quotas/fair-queue.js';
import { NO_EVENTS, SERVER, type Client, type QuotaEvents } from '../quotas/quota.js';
import type { QuotaTable } from '../quotas/quota-table.js';
import { Overload, Refusal } from '../errors.js';
import { asRefusal, codeOf, mayBeRetried, overload } from './database-errors.js';
import {
  commitAndReadPosition,
  walPosition,
  type Replica,
  type ReplicaReads,
  type WalPosition,
} from './stale-reads.js';
import { inTransactionOn, named, type Db, type NamedStatement, type Transaction } from './transaction.js';
import { DATABASE } from '../service-limits.js';

export { named, pipelined } from './transaction.js';
export type { Db, NamedStatement, Transaction } from './transaction.js';

export type Connection = (
  | { url: string }
  | { host: string; port: number; username: string; database: string; password?: string; connect_timeout?: number }
) & {
  /** The database's own address, if the main address belongs to a pooler. */
  readonly direct?: Connection | undefined;
  /** False for a pooler that doesn't support prepared statements. Defaults to true. */
  readonly preparedStatements?: boolean;
};

/** Bypasses the pooler. */
export function directly(connection: Connection): Connection {
  return connection.direct ?? connection;
}

export interface DatabaseTimeouts {
  queueTimeoutMs: number;
  statementTimeoutMs: number;
  lockTimeoutMs: number;
  idleInTransactionTimeoutMs: number;
  connectTimeoutSeconds: number;
}

export interface DatabaseSettings extends DatabaseTimeouts {
  poolSize: number;
  applicationName: string;
}

export const DATABASE_DEFAULTS: DatabaseSettings = { ...DATABASE, applicationName: 'job-marketplace' };

export interface Database extends Db {
  forLong(): Db;
  /** The same database, with calls that count against this client's quota. */
  of(client: Client): Db;
  /** The database for one request. Its reads may use the replica, if there is one. */
  ofRequest(client: Client): RequestDb;
  readonly queue: Pick<FairQueue, 'active' | 'waiting'>;
  /** Marks a request that keeps its transaction open across several calls. Only the `watch` hook uses this. */
  asOneRequest<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface RequestDb extends Db {
  /** From now on, all of the request's reads use the primary. */
  readPrimary(): void;
}

export interface DatabaseQuotas {
  readonly limits: Pick<QuotaTable, 'databaseQueue'>;
  readonly events: QuotaEvents;
}

const DEFAULT_QUOTAS: DatabaseQuotas = { limits: QUOTAS, events: NO_EVENTS };

export interface TransactionWatch {
  /** Called when a call asks the pool for a connection. If this throws, the call fails. */
  asking(): void;
  holding<T>(work: () => Promise<T>): Promise<T>;
  /** Runs a request whose transaction stays open while other parts of the request run. */
  asOneRequest<T>(work: () => Promise<T>): Promise<T>;
}

export interface DatabaseHooks {
  onStatement?: (text: string, params: readonly unknown[]) => void;
  /** Tests use this to find calls that need two connections at the same time. */
  watch?: TransactionWatch;
  onAnswer?: (name: string, seconds: number, isFailed: boolean) => void;
  onOverload?: (overload: Overload) => void;
  /** Called when a transaction is retried, with the failure's SQLSTATE. */
  onRetry?: (code: string) => void;
  /**
   * Receives a function that drops all connections. If the database goes silent, pending statements would otherwise
   * hang until the outage ends. The next call reconnects.
   */
  onOpen?: (reconnect: () => Promise<void>) => void;
  /** The database's current problem. Refusals name it instead of blaming the server's capacity. */
  problem?: () => 'database_away' | 'database_read_only' | undefined;
  /** Serves reads that may be slightly stale. It's told about each user's writes. */
  replica?: Replica | undefined;
}

export async function waitForLocksAtMost(tx: Db, ms: number): Promise<void> {
  await tx.send(named('waitForLocksAtMost', `set local lock_timeout = ${ms}`), []);
}

/** Calls from one address may use four out of five connections. The rest serve other addresses. */
const slotsPerAddress = (poolSize: number) => Math.max(1, Math.floor(poolSize * 0.8));

/**
 * More parallel statements would barely help a user, because the event loop reads their rows one after another.
 * Megabytes of results at once would delay every caller.
 */
const slotsPerUser = (poolSize: number) => Math.max(2, Math.floor(poolSize / 5));

/** Long statements may use one connection in five. For example, a two-letter search reads much of the market. */
const slotsForLong = (poolSize: number) => Math.max(1, Math.floor(poolSize / 5));

export function connect(
  connection: Connection,
  settings: Partial<DatabaseSettings> = {},
  hooks: DatabaseHooks = {},
  { limits, events }: DatabaseQuotas = DEFAULT_QUOTAS,
): Database {
  const allSettings = { ...DATABASE_DEFAULTS, ...settings };
  let pool = openPool(connection, allSettings);
  hooks.onOpen?.(() => {
    const lostPool = pool;
    pool = openPool(connection, allSettings);
    return lostPool.end({ timeout: 0 });
  });
  const queue = createFairQueue({
    name: 'databaseQueue',
    limits: limits.databaseQueue,
    events,
    slots: allSettings.poolSize,
    slotsPerAddress: slotsPerAddress(allSettings.poolSize),
    slotsPerUser: slotsPerUser(allSettings.poolSize),
    slotsForLong: slotsForLong(allSettings.poolSize),
    waitMs: allSettings.queueTimeoutMs,
  });

  const sendOn = (client: Sql, { name, text }: NamedStatement, params: ParameterOrJSON<never>[]) => {
    hooks.onStatement?.(text, params);
    const answer = rowsOf(client.unsafe(text, params, { prepare: connection.preparedStatements ?? true }).values());
    return hooks.onAnswer ? measure(answer, name, hooks.onAnswer) : answer;
  };

  async function runOnReservedConnection<T>(work: (tx: Transaction) => Promise<T>, end?: CommitEnd): Promise<T> {
    const client = await pool.reserve();
    const send: Db['send'] = (statement, params) => sendOn(client, statement, params);
    /** One message, so that a pooler doesn't look for another connection after the COMMIT. */
    async function commit(committed: CommitEnd): Promise<void> {
      hooks.onStatement?.(commitAndReadPosition, []);
      committed.wasSent = true;
      // An earlier attempt's position isn't this one's.
      committed.position = undefined;
      const results: unknown[] = await client.unsafe(commitAndReadPosition).simple().values();
      committed.position = walPosition(results[1] as unknown[][]);
    }
    try {
      return await inTransactionOn(send, work, end && (() => commit(end)));
    } finally {
      client.release();
    }
  }

  /** The last time a call got a response. If none has, the time when the first running call started. */
  let answeredAtMs = 0;

  /**
   * Retries failed transactions, which is safe because a failed one has no effect. A single statement is a transaction
   * too.
   */
  async function withRetries<T>(client: Client, work: () => Promise<T>, kind?: Work): Promise<T> {
    hooks.watch?.asking();
    for (let attempt = 1; ; attempt += 1) {
      if (queue.active === 0) answeredAtMs = performance.now();
      try {
        const answer = await queue.run(client, work, kind);
        answeredAtMs = performance.now();
        return answer;
      } catch (error) {
        if (attempt === DATABASE.attempts || !mayBeRetried(error)) throw refusalOf(error);
        hooks.onRetry?.(codeOf(error) ?? 'unknown');
        // An immediate retry could lock the row again before the other transaction gets it.
        await sleep(Math.random() * attempt * DATABASE.retryPauseMs);
      }
    }
  }

  function refusalOf(error: unknown): unknown {
    const isFull = error instanceof Refusal && error.code === 'OVERLOADED' && !(error instanceof Overload);
    const refusal = isFull ? whyFull(error) : asRefusal(error);
    if (refusal instanceof Overload) hooks.onOverload?.(refusal);
    return refusal;
  }

  /** If no call gets a response, the database caused the full queue, not the number of calls. */
  function whyFull(refusal: Refusal): Refusal {
    const problem = hooks.problem?.();
    if (problem) return overload(problem, refusal);
    const isSilent = performance.now() - answeredAtMs > allSettings.queueTimeoutMs * DATABASE.silentPartOfQueueTimeout;
    return isSilent ? overload('database_slow', refusal) : refusal;
  }

  const { replica } = hooks;

  function of(client: Client, kind?: Work, reads?: ReplicaReads): RequestDb & Pick<Database, 'forLong'> {
    async function inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
      const end: CommitEnd | undefined = replica && client.user !== undefined ? {} : undefined;
      try {
        const attempt = () =>
          hooks.watch?.holding(() => runOnReservedConnection(work, end)) ?? runOnReservedConnection(work, end);
        return await withRetries(client, attempt, kind);
      } finally {
        // The connection is already released, because this may wait for the replica.
        if (end?.wasSent && client.user !== undefined) await replica?.noteWrite(client.user, end.position);
      }
    }

    const onPrimary: RequestDb & Pick<Database, 'forLong'> = {
      isTransaction: false,
      afterCommit: (work) => work(),
      forLong: () => of(client, { isLong: true }, reads),
      readPrimary: () => reads?.usePrimary(),
      send: (statement, params) =>
        replica && statement.isWrite
          ? inTransaction(async (tx) => (await tx.commitWith(tx.send(statement, params)))[0])
          : withRetries(client, () => sendOn(pool, statement, params), kind),
      inTransaction,
    };
    if (!reads) return onPrimary;
    const isLong = kind?.isLong === true;
    const send: Db['send'] = (statement, params) => reads.send({ statement, params, isLong, onPrimary });
    return { ...onPrimary, forStaleReads: { ...onPrimary, send } };
  }

  return {
    ...of(SERVER),
    of: (client) => of(client),
    ofRequest: (client) => of(client, undefined, replica?.readsOf(client)),
    queue,
    asOneRequest: (work) => hooks.watch?.asOneRequest(work) ?? work(),
    close: () => pool.end({ timeout: 5 }),
  };
}

interface CommitEnd {
  /** If the COMMIT's result is lost, the transaction may have committed anyway. */
  wasSent?: true;
  /** Undefined if it couldn't be read. */
  position?: WalPosition | undefined;
}

async function measure<T>(
  answer: PromiseLike<T>,
  name: string,
  onAnswer: (name: string, seconds: number, isFailed: boolean) => void,
): Promise<T> {
  const began = performance.now();
  let isFailed = true;
  try {
    const rows = await answer;
    isFailed = false;
    return rows;
  } finally {
    onAnswer(name, (performance.now() - began) / 1000, isFailed);
  }
}

/**
 * The delay before a reconnect. The driver's own delay grows up to 20 seconds and would outlast the outage. The driver
 * only reconnects when a query is waiting, so quick attempts are cheap.
 */
const reconnectAfterSeconds = () => 0.05 + Math.random() * 0.1;

/** The connection may set it, as with libpq. */
const setsConnectTimeout = (connection: Connection): boolean =>
  'url' in connection ? /[?&]connect_timeout=\d+(&|$)/.test(connection.url) : connection.connect_timeout !== undefined;

/** Sets every timeout. Migrations use a separate client. */
export function openPool(connection: Connection, settings: DatabaseSettings): Sql {
  // Strings, because the driver omits a 0. The role's own setting would then apply.
  const session: Record<string, string> = {
    statement_timeout: `${settings.statementTimeoutMs}`,
    lock_timeout: `${settings.lockTimeoutMs}`,
    idle_in_transaction_session_timeout: `${settings.idleInTransactionTimeoutMs}`,
    // These queries are too short to benefit from just-in-time compilation.
    jit: 'off',
  };
  const options = {
    max: settings.poolSize,
    ...(!setsConnectTimeout(connection) && { connect_timeout: settings.connectTimeoutSeconds }),
    idle_timeout: 0,
    backoff: reconnectAfterSeconds,
    // The driver's query for types causes an unhandled rejection if its connection is lost.
    fetch_types: false,
    prepare: connection.preparedStatements ?? true,
    onnotice: () => {},
    connection: {
      application_name: settings.applicationName,
      TimeZone: 'UTC',
      // Poolers don't pass on these settings. Timeouts then come from the role (`pooler.ts`), and
      // `deploy/pgbouncer.ini` turns off JIT.
      ...(connection.direct === undefined && session),
    },
  };
  const pool = 'url' in connection ? postgres(connection.url, options) : postgres({ ...connection, ...options });
  // Wrapping the client once makes Drizzle read times and dates as strings.
  drizzle({ client: pool });
  return pool;
}

/**
 * Copies rows out of the driver's own list, so that V8 can free them sooner. The driver creates functions that keep
 * each list in memory until old space is collected. Without the copy, a list of jobs needs up to 40% more CPU
 * (test/nightly/timing/answer-rows.test.ts).
 */
export async function rowsOf(query: PromiseLike<unknown[][]>): Promise<unknown[][]> {
  const answer = await query;
  const rows: unknown[][] = [];
  // splice() takes ten times as long on the driver's list class.
  for (const row of answer) rows.push(row);
  answer.length = 0;
  return rows;
}

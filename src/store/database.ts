/**
 * The connection to Postgres: a bounded pool behind a bounded queue, timeouts on everything that can wait, and retries
 * of transactions that failed with a serialization failure or a deadlock.
 */
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres, { type ParameterOrJSON, type Sql } from 'postgres';
import { SHARES } from '../rules/limits.js';
import { createFairQueue, type FairQueue, type Work } from '../shares/fair-queue.js';
import { NO_EVENTS, SERVER, type Holder, type ShareEvents } from '../shares/share.js';
import type { ShareTable } from '../shares/configured.js';
import { Overload, Refusal } from '../rules/errors.js';
import { rowsOf } from './answer-rows.js';
import { asRefusal, codeOf, mayBeRetried, overload } from './database-errors.js';
import { createSecondConnectionCheck } from './second-connection.js';

/** The address of the database: a URL, or the parts of a socket's. */
export type Connection =
  { url: string } | { host: string; port: number; username: string; database: string; password?: string };

export interface DatabaseTimeouts {
  queueTimeoutMs: number;
  statementTimeoutMs: number;
  lockTimeoutMs: number;
  idleInTransactionTimeoutMs: number;
}

export interface DatabaseSettings extends DatabaseTimeouts {
  poolSize: number;
  connectTimeoutSeconds: number;
  /** False behind a pooler that gives each transaction another connection. */
  preparedStatements: boolean;
  /** The `application_name` of its connections in `pg_stat_activity`. */
  applicationName: string;
}

export const DATABASE_DEFAULTS: DatabaseSettings = {
  poolSize: 10,
  queueTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5_000,
  idleInTransactionTimeoutMs: 15_000,
  connectTimeoutSeconds: 5,
  preparedStatements: true,
  applicationName: 'job-marketplace',
};

/** SQL that bears its name in a comment. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/**
 * Writes the name behind the first word, where pg_stat_statements, pg_stat_activity and the log all show it: Postgres
 * 18 takes what precedes that word out of pg_stat_statements.
 */
export function named(name: string, text: string): NamedStatement {
  const [first = ''] = text.trimStart().split(/\s/, 1);
  return { name, text: `${first} /* ${name} */${text.trimStart().slice(first.length)}` };
}

/** What statements run on: the pool, or one transaction. */
export interface Db {
  send(statement: NamedStatement, params: ParameterOrJSON<never>[]): Promise<unknown[][]>;
  /** Runs `work` in a transaction, or in a savepoint inside a transaction. */
  inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** The same for long statements, of which only so many run at once. */
  forLong?(): Db;
  /** Whether this is a transaction: one failed statement makes the later ones fail too. */
  readonly isTransaction: boolean;
  /** Does this work once the transaction has committed, and before its caller goes on; at once if there is none. */
  afterCommit(work: () => void): void;
}

export interface Transaction extends Db {
  /**
   * Awaits the last statements of the transaction, and its COMMIT, which is sent behind them in the same flush. All of
   * them must have succeeded: a COMMIT behind a failed statement is a ROLLBACK without an error.
   */
  commitWith<Parts extends readonly unknown[]>(...parts: { [At in keyof Parts]: Promise<Parts[At]> }): Promise<Parts>;
}

export interface Database extends Db {
  /** The same for one caller, counted in that caller's share of the queue. */
  of(holder: Holder): Db;
  /** How many statements and transactions are running and how many wait. */
  readonly queue: Pick<FairQueue, 'active' | 'waiting'>;
  /** Runs a request that keeps its transaction open beyond one call. Only needed for `onSecondConnection`. */
  asOneHolder<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The limits of the queue, and the metrics of its refusals. */
export interface DatabaseShares {
  readonly limits: Pick<ShareTable, 'databaseQueue'>;
  readonly events: ShareEvents;
}

const USUAL_SHARES: DatabaseShares = { limits: SHARES, events: NO_EVENTS };

export interface DatabaseHooks {
  /** Called for every statement that is sent, with its parameters. */
  onStatement?: (text: string, params: readonly unknown[]) => void;
  /**
   * If set, a call that holds a transaction fails when it asks the pool for another connection; called with that error.
   */
  onSecondConnection?: (error: Error) => void;
  /** Called for every statement that has ended, with its name. */
  onAnswered?: (name: string, seconds: number, isFailed: boolean) => void;
  /** Called for every call that the database could not serve. */
  onOverload?: (overload: Overload) => void;
  /** Called when a transaction is retried, with the SQLSTATE of its failure. */
  onRetry?: (code: string) => void;
  /**
   * Gets a function that drops all connections and the statements that are pending on them: when the database or the
   * network stops without closing connections, those would wait for all of that time. The next call opens new
   * connections.
   */
  onOpen?: (reconnect: () => Promise<void>) => void;
  /** Whether the database is known to be away: refusals then do not say that the server is beyond capacity. */
  isAway?: () => boolean;
}

/**
 * Awaits pipelined statements of one transaction, which take one round trip. They run in this order; if one fails,
 * those after it fail because of it, so that the first failure is thrown.
 */
export async function pipelined<Parts extends readonly unknown[]>(
  ...parts: { [At in keyof Parts]: Promise<Parts[At]> }
): Promise<Parts> {
  await Promise.allSettled(parts);
  // All have settled, so that this rejects with the first of them that failed.
  return Promise.all<Parts>(parts as Parts) as Promise<Parts>;
}

/** Sets the lock timeout for the rest of the transaction. */
export async function waitForLocksAtMost(tx: Db, ms: number): Promise<void> {
  await tx.send(named('waitForLocksAtMost', `set local lock_timeout = ${ms}`), []);
}

const ATTEMPTS = 4;

/** One address may use four of five connections; the others stay free for other addresses. */
const placesPerAddress = (poolSize: number) => Math.max(1, Math.floor(poolSize * 0.8));

/**
 * More statements at once gain a user little, since the event loop reads their rows one after the other. Answers of
 * megabytes that arrive in one turn of the loop would delay all callers.
 */
const placesPerUser = (poolSize: number) => Math.max(2, Math.floor(poolSize / 5));

/** A search for two letters reads much of the market: long statements may use one connection in five. */
const placesForLong = (poolSize: number) => Math.max(1, Math.floor(poolSize / 5));

export function connect(
  connection: Connection,
  settings: Partial<DatabaseSettings> = {},
  hooks: DatabaseHooks = {},
  { limits, events }: DatabaseShares = USUAL_SHARES,
): Database {
  const chosen = { ...DATABASE_DEFAULTS, ...settings };
  let pool = openPool(connection, chosen);
  hooks.onOpen?.(() => {
    const lost = pool;
    pool = openPool(connection, chosen);
    return lost.end({ timeout: 0 });
  });
  const queue = createFairQueue({
    name: 'databaseQueue',
    limits: limits.databaseQueue,
    events,
    places: chosen.poolSize,
    placesPerAddress: placesPerAddress(chosen.poolSize),
    placesPerUser: placesPerUser(chosen.poolSize),
    placesForLong: placesForLong(chosen.poolSize),
    waitMs: chosen.queueTimeoutMs,
  });

  const secondConnection = hooks.onSecondConnection && createSecondConnectionCheck(hooks.onSecondConnection);
  const sendOn = (client: Sql, { name, text }: NamedStatement, params: ParameterOrJSON<never>[]) => {
    hooks.onStatement?.(text, params);
    const answer = rowsOf(client.unsafe(text, params, { prepare: chosen.preparedStatements }).values());
    return hooks.onAnswered ? timed(answer, name, hooks.onAnswered) : answer;
  };

  /** Runs a transaction on a connection of its own. */
  async function transact<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await pool.reserve();
    let savepoints = 0;
    const nested = () => {
      const name = `s${(savepoints += 1)}`;
      return {
        begin: { name: 'savepoint', text: `savepoint ${name}` },
        commit: { name: 'release savepoint', text: `release savepoint ${name}` },
        rollback: { name: 'rollback to', text: `rollback to ${name}` },
      };
    };
    const send: Db['send'] = (statement, params) => sendOn(client, statement, params);
    const afterCommit: AfterCommit[] = [];
    const run = <R>(frame: Frame, inner: (tx: Transaction) => Promise<R>): Promise<R> =>
      inFrame(frame, { send, afterCommit, inTransaction: (part) => run(nested(), part) }, inner);
    try {
      const answer = await run(OUTERMOST, work);
      for (const after of afterCommit) after();
      return answer;
    } finally {
      client.release();
    }
  }

  /** Runs a transaction, or a single statement, which is one too, and retries it: a failed one has left no effect. */
  async function persistently<T>(holder: Holder, work: () => Promise<T>, kind?: Work): Promise<T> {
    secondConnection?.assertNoneHeld();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await queue.run(holder, work, kind);
      } catch (error) {
        if (attempt === ATTEMPTS || !mayBeRetried(error)) throw refusalOf(error);
        hooks.onRetry?.(codeOf(error) ?? 'unknown');
      }
    }
  }

  /** While the database is away, the queue is full because of lost connections and not because of too many calls. */
  function refusalOf(error: unknown): unknown {
    const isFull = error instanceof Refusal && error.code === 'OVERLOADED' && !(error instanceof Overload);
    const refusal = isFull && hooks.isAway?.() ? overload('database_away', error) : asRefusal(error);
    if (refusal instanceof Overload) hooks.onOverload?.(refusal);
    return refusal;
  }

  function of(holder: Holder, kind?: Work): Db {
    return {
      isTransaction: false,
      afterCommit: (work) => work(),
      forLong: () => of(holder, { isLong: true }),
      send: (statement, params) => persistently(holder, () => sendOn(pool, statement, params), kind),
      inTransaction: (work) =>
        persistently(holder, () =>
          secondConnection ? secondConnection.holding(() => transact(work)) : transact(work),
        ),
    };
  }

  return {
    ...of(SERVER),
    of: (holder) => of(holder),
    queue,
    asOneHolder: (work) => (secondConnection ? secondConnection.asOneHolder(work) : work()),
    close: () => pool.end({ timeout: 5 }),
  };
}

/** The statements around a transaction or a savepoint. */
interface Frame {
  readonly begin: NamedStatement;
  readonly commit: NamedStatement;
  readonly rollback: NamedStatement;
}

type AfterCommit = () => void;

const OUTERMOST: Frame = {
  begin: { name: 'begin', text: 'begin' },
  commit: { name: 'commit', text: 'commit' },
  rollback: { name: 'rollback', text: 'rollback' },
};

/** BEGIN is sent in the same flush as the first statements of the work, and COMMIT behind its last ones. */
async function inFrame<T>(
  { begin, commit, rollback }: Frame,
  { send, inTransaction, afterCommit }: Pick<Db, 'send' | 'inTransaction'> & { readonly afterCommit: AfterCommit[] },
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let isCommitted = false;
  const outer = afterCommit.length;
  const tx: Transaction = {
    isTransaction: true,
    send,
    inTransaction,
    afterCommit: (after) => afterCommit.push(after),
    async commitWith<Parts extends readonly unknown[]>(...parts: { [At in keyof Parts]: Promise<Parts[At]> }) {
      await pipelined<readonly unknown[]>(...parts, send(commit, []));
      isCommitted = true;
      return Promise.all<Parts>(parts as Parts) as Promise<Parts>;
    },
  };
  const begun = send(begin, []);
  // If it fails, everything behind it fails too, and is awaited.
  begun.catch(() => {});
  try {
    const result = await work(tx);
    await begun;
    if (!isCommitted) await tx.commitWith();
    return result;
  } catch (error) {
    // Of a lost connection this fails, and the database has rolled back by itself.
    if (!isCommitted) await send(rollback, []).catch(() => {});
    afterCommit.length = outer;
    throw error;
  }
}

async function timed<T>(
  answer: PromiseLike<T>,
  name: string,
  onAnswered: (name: string, seconds: number, isFailed: boolean) => void,
): Promise<T> {
  const began = performance.now();
  let isFailed = true;
  try {
    const found = await answer;
    isFailed = false;
    return found;
  } finally {
    onAnswered(name, (performance.now() - began) / 1000, isFailed);
  }
}

/**
 * How long a lost connection waits before it reconnects. The driver's own pauses grow with the failures of all
 * connections together, up to 20 seconds, and would last long after the database is back; an attempt is cheap, and made
 * only when a query waits for it.
 */
const reconnectAfterSeconds = () => 0.05 + Math.random() * 0.1;

/** A client of Postgres with every timeout set. Migrations use a separate one. */
export function openPool(connection: Connection, settings: DatabaseSettings): Sql {
  const options = {
    max: settings.poolSize,
    connect_timeout: settings.connectTimeoutSeconds,
    idle_timeout: 0,
    backoff: reconnectAfterSeconds,
    // The driver's query of types would be an unhandled rejection if the connection is lost during it.
    fetch_types: false,
    prepare: settings.preparedStatements,
    onnotice: () => {},
    connection: {
      application_name: settings.applicationName,
      TimeZone: 'UTC',
      statement_timeout: settings.statementTimeoutMs,
      lock_timeout: settings.lockTimeoutMs,
      idle_in_transaction_session_timeout: settings.idleInTransactionTimeoutMs,
    },
  };
  const pool = 'url' in connection ? postgres(connection.url, options) : postgres({ ...connection, ...options });
  // Drizzle reads times and dates as text; wrapping the client once configures that.
  drizzle({ client: pool });
  return pool;
}

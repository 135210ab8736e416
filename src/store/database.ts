/**
 * The connection to Postgres: a bounded pool behind a bounded queue, time-outs on everything that can wait, and
 * transactions that are tried again when the database asks for it.
 */
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres, { type ParameterOrJSON, type Sql, type TransactionSql } from 'postgres';
import type { SessionId, UserId } from '../rules/ids.js';
import { SHARES } from '../rules/limits.js';
import { createFairQueue, type FairQueue, type Work } from '../shares/fair-queue.js';
import { NO_EVENTS, SERVER, type Holder, type ShareEvents } from '../shares/share.js';
import type { ShareTable } from '../shares/configured.js';
import { Overload, Refusal } from '../rules/errors.js';
import { rowsOf } from './answer-rows.js';
import { asRefusal, codeOf, mayBeRetried, overload } from './database-errors.js';
import { createSecondConnectionCheck } from './second-connection.js';

/** Where the database is: an address, or the parts of a socket's. */
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
  /** False where a pooler gives each transaction another connection. */
  preparedStatements: boolean;
  /** What `pg_stat_activity` says of its connections. */
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

/** What a statement runs on: the pool, or one transaction. */
export interface Db {
  /** Sends one statement; `statement()` is its only caller. */
  send(text: string, params: ParameterOrJSON<never>[]): Promise<unknown[][]>;
  /** Commits what `work` did, or nothing of it. Inside a transaction it is a part that can be undone by itself. */
  inTransaction<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  /** The same for statements that take long, of which only so many are at work at once. */
  forLong?(): Db;
  /** Whether this is a transaction: one failed statement makes the later ones fail too. */
  readonly isTransaction: boolean;
  /** A session that the first statement sent here checks too. */
  readonly sessionCheck?: SessionCheck;
}

/** The values that a statement takes to check a session. No statement has others of these names. */
export interface SessionValues {
  readonly checkedSession: SessionId;
  readonly checkedUser: UserId;
}

/** A session that is still to be found active. */
export interface SessionCheck {
  readonly values: SessionValues;
  readonly isDone: boolean;
  /** A row came back of a statement that checked it. */
  passed(): void;
  /** Checks it by a statement of its own, and throws if the session is over. */
  ask(): Promise<void>;
}

export interface Database extends Db {
  /** The same for one caller, whose share of the queue it draws on. */
  of(holder: Holder): Db;
  /** How many statements and transactions are at work and how many wait. */
  readonly queue: Pick<FairQueue, 'active' | 'waiting'>;
  /** Runs a request that keeps its transaction open beyond one call. For `onSecondConnection` alone. */
  asOneHolder<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The limits of the queue's places, and what hears of refusals. */
export interface DatabaseShares {
  readonly limits: Pick<ShareTable, 'databaseQueue'>;
  readonly events: ShareEvents;
}

const USUAL_SHARES: DatabaseShares = { limits: SHARES, events: NO_EVENTS };

export interface DatabaseHooks {
  /** Called for every statement sent with its values, and for `begin`. */
  onStatement?: (text: string, params: readonly unknown[]) => void;
  /** If given, this is thrown where a call that holds a transaction asks the pool for another connection. */
  onSecondConnection?: (error: Error) => void;
  /** Called for every statement that was answered, or failed. */
  onAnswered?: (text: string, seconds: number, isFailed: boolean) => void;
  /** Called for every call that the database could not serve. */
  onOverload?: (overload: Overload) => void;
  /** Called where a transaction is tried again, with the SQLSTATE that asked for it. */
  onRetry?: (code: string) => void;
  /**
   * Handed how to give up all connections, with whatever waits for an answer on them: where the database or the network
   * has stopped without a word, none would come for as long as that lasts. The next call opens new ones.
   */
  onOpen?: (reconnect: () => Promise<void>) => void;
  /** Whether the database is known to be away: then refusals do not claim that the server is beyond capacity. */
  isAway?: () => boolean;
}

/**
 * Statements of one transaction that are pipelined, and so cost one round trip. They run in this order; where
 * one fails, those after it fail because of it, and so the first failure is the one that counts.
 */
export async function pipelined<Parts extends readonly unknown[]>(
  ...parts: { [At in keyof Parts]: Promise<Parts[At]> }
): Promise<Parts> {
  await Promise.allSettled(parts);
  // All have settled, and so the first of them that failed is the one that is heard.
  return Promise.all<Parts>(parts as Parts) as Promise<Parts>;
}

/** From here to the end of the transaction. */
export async function waitForLocksAtMost(tx: Db, ms: number): Promise<void> {
  await tx.send(`set local lock_timeout = ${ms}`, []);
}

const ATTEMPTS = 4;

/** Of the connections one in five stays free for other addresses than the one that asks. */
const placesPerAddress = (poolSize: number) => Math.max(1, Math.floor(poolSize * 0.8));

/**
 * More at once gain a user little, since the event loop takes their rows one after the other; and where each is of
 * megabytes, everybody waits for as many of them as come in one turn of the loop.
 */
const placesPerUser = (poolSize: number) => Math.max(2, Math.floor(poolSize / 5));

/** A search for two letters reads much of the market: one in five may. */
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
  const sendOn = (client: Sql | TransactionSql, text: string, params: ParameterOrJSON<never>[]) => {
    hooks.onStatement?.(text, params);
    const answer = rowsOf(client.unsafe(text, params, { prepare: chosen.preparedStatements }).values());
    return hooks.onAnswered ? timed(answer, text, hooks.onAnswered) : answer;
  };

  function transactionOn(client: TransactionSql): Db {
    return {
      isTransaction: true,
      send: (text, params) => sendOn(client, text, params),
      inTransaction: async <T>(work: (tx: Db) => Promise<T>) => {
        hooks.onStatement?.('savepoint', []);
        return (await client.savepoint((part) => work(transactionOn(part)))) as T;
      },
    };
  }

  /** Of a transaction, or of a statement alone, which is one too: nothing is left of it where it failed. */
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

  /** Calls queue up because connections are lost, not because there are too many calls. */
  function refusalOf(error: unknown): unknown {
    const isFull = error instanceof Refusal && error.code === 'OVERLOADED' && !(error instanceof Overload);
    const refusal = isFull && hooks.isAway?.() ? overload('database_away', error) : asRefusal(error);
    if (refusal instanceof Overload) hooks.onOverload?.(refusal);
    return refusal;
  }

  function of(holder: Holder, kind?: Work): Db {
    return {
      isTransaction: false,
      forLong: () => of(holder, { isLong: true }),
      send: (text, params) => persistently(holder, () => sendOn(pool, text, params), kind),
      inTransaction: <T>(work: (tx: Db) => Promise<T>) =>
        persistently(holder, async () => {
          hooks.onStatement?.('begin', []);
          const run = (client: TransactionSql) => work(transactionOn(client));
          const runHolding = (client: TransactionSql) => secondConnection?.holding(() => run(client)) ?? run(client);
          // The cast undoes postgres.js's wish to await arrays of queries; `work` returns no such thing.
          return (await pool.begin(runHolding)) as T;
        }),
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

async function timed<T>(
  answer: PromiseLike<T>,
  text: string,
  onAnswered: (text: string, seconds: number, isFailed: boolean) => void,
): Promise<T> {
  const began = performance.now();
  let isFailed = true;
  try {
    const found = await answer;
    isFailed = false;
    return found;
  } finally {
    onAnswered(text, (performance.now() - began) / 1000, isFailed);
  }
}

/**
 * How long a connection that was lost waits before it tries again. The driver's own pauses grow with the failures of
 * all connections together, up to 20 seconds, and would go on long after the database is back; a try costs next to
 * nothing, and is made only when a query waits for it.
 */
const reconnectAfterSeconds = () => 0.05 + Math.random() * 0.1;

/** A client of Postgres with every time-out set. Migrations use one of their own. */
export function openPool(connection: Connection, settings: DatabaseSettings): Sql {
  const options = {
    max: settings.poolSize,
    connect_timeout: settings.connectTimeoutSeconds,
    idle_timeout: 0,
    backoff: reconnectAfterSeconds,
    // The driver's own query of types is an unhandled rejection when the connection dies during it.
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
  // Drizzle reads times and dates as text; wrapping the client once sets that.
  drizzle({ client: pool });
  return pool;
}

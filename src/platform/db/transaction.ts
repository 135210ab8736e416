/**
 * What statements run on, and how a transaction runs: BEGIN is sent with its first statements and COMMIT behind its
 * last ones, so that a change takes two flushes. Transactions within it are savepoints.
 */
import type { ParameterOrJSON } from 'postgres';
import { isBehindFailure } from './database-errors.js';

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

/**
 * Awaits pipelined statements of one transaction, which take one round trip. What is thrown is the failure of a
 * statement itself: those that were sent after it fail because of it.
 */
export async function pipelined<Parts extends readonly unknown[]>(
  ...parts: { [At in keyof Parts]: Promise<Parts[At]> }
): Promise<Parts> {
  const results = await Promise.allSettled<unknown>(parts);
  const failures = results.filter((part) => part.status === 'rejected').map(({ reason }): unknown => reason);
  if (failures.length > 0) throw failures.find((failure) => !isBehindFailure(failure)) ?? failures[0];
  return Promise.all<Parts>(parts as Parts) as Promise<Parts>;
}

/** Runs a transaction on one connection. */
export async function inTransactionOn<T>(send: Db['send'], work: (tx: Transaction) => Promise<T>): Promise<T> {
  let savepoints = 0;
  const runNested = () => {
    const name = `s${(savepoints += 1)}`;
    return {
      begin: { name: 'savepoint', text: `savepoint ${name}` },
      commit: { name: 'release savepoint', text: `release savepoint ${name}` },
      rollback: { name: 'rollback to', text: `rollback to ${name}` },
    };
  };
  const afterCommit: AfterCommit[] = [];
  const run = <R>(frame: Frame, inner: (tx: Transaction) => Promise<R>): Promise<R> =>
    inFrame(frame, { send, afterCommit, inTransaction: (part) => run(runNested(), part) }, inner);
  const answer = await run(OUTERMOST, work);
  for (const after of afterCommit) after();
  return answer;
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
  const answerToBegin = send(begin, []);
  // If it fails, everything behind it fails too, and is awaited.
  answerToBegin.catch(() => {});
  try {
    const result = await work(tx);
    await answerToBegin;
    if (!isCommitted) await tx.commitWith();
    return result;
  } catch (error) {
    // Of a lost connection this fails, and the database has rolled back by itself.
    if (!isCommitted) await send(rollback, []).catch(() => {});
    afterCommit.length = outer;
    throw error;
  }
}

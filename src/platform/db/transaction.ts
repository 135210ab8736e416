/**
 * Runs a transaction in two flushes. BEGIN goes out with the first statements, and COMMIT right after the last ones.
 */
import type { ParameterOrJSON } from 'postgres';
import { isBehindFailure } from './database-errors.js';

export interface NamedStatement {
  readonly name: string;
  readonly text: string;
  readonly isWrite?: boolean;
}

const WRITE = /\b(?:insert into|update|delete from)\b/i;

/**
 * Writes the name after the SQL's first word, so pg_stat_statements, pg_stat_activity, and the log show it. Postgres 18
 * strips comments before that word from pg_stat_statements.
 */
export function named(name: string, text: string): NamedStatement {
  const [first = ''] = text.trimStart().split(/\s/, 1);
  return { name, text: `${first} /* ${name} */${text.trimStart().slice(first.length)}`, isWrite: WRITE.test(text) };
}

export interface Db {
  send(statement: NamedStatement, params: ParameterOrJSON<never>[]): Promise<unknown[][]>;
  /** Runs `work` in a transaction, or in a savepoint inside an open transaction. */
  inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** The same database for long statements. Only a few of them run at the same time. */
  forLong?(): Db;
  /** The same database for reads that may be slightly stale. They may use a replica. */
  readonly forStaleReads?: Db;
  /** True for a transaction. After a failed statement, its later statements fail too. */
  readonly isTransaction: boolean;
  /** Runs `work` after the commit and before the caller continues. Outside a transaction, runs it immediately. */
  afterCommit(work: () => void): void;
}

export interface Transaction extends Db {
  /**
   * Awaits the last statements and the COMMIT that follows them in one flush. All statements must have succeeded,
   * because Postgres silently turns a COMMIT after a failure into a ROLLBACK.
   */
  commitWith<Parts extends readonly unknown[]>(...parts: { [At in keyof Parts]: Promise<Parts[At]> }): Promise<Parts>;
}

/** Awaits pipelined statements in one round trip. Throws the first failure, which causes the later ones. */
export async function pipelined<Parts extends readonly unknown[]>(
  ...parts: { [At in keyof Parts]: Promise<Parts[At]> }
): Promise<Parts> {
  const results = await Promise.allSettled<unknown>(parts);
  const failures = results.filter((part) => part.status === 'rejected').map(({ reason }): unknown => reason);
  if (failures.length > 0) throw failures.find((failure) => !isBehindFailure(failure)) ?? failures[0];
  return Promise.all<Parts>(parts as Parts) as Promise<Parts>;
}

/** `commit` replaces the plain COMMIT. */
export async function inTransactionOn<T>(
  send: Db['send'],
  work: (tx: Transaction) => Promise<T>,
  commit?: Commit,
): Promise<T> {
  let savepoints = 0;
  const nextSavepoint = () => {
    const name = `s${(savepoints += 1)}`;
    return {
      begin: { name: 'savepoint', text: `savepoint ${name}` },
      commit: { name: 'release savepoint', text: `release savepoint ${name}` },
      rollback: { name: 'rollback to', text: `rollback to ${name}` },
    };
  };
  const afterCommit: AfterCommit[] = [];
  const run = <R>(boundary: Boundary, inner: (tx: Transaction) => Promise<R>): Promise<R> =>
    within(boundary, { send, afterCommit, inTransaction: (part) => run(nextSavepoint(), part) }, inner);
  const answer = await run({ ...OUTERMOST, sendCommit: commit }, work);
  for (const after of afterCommit) after();
  return answer;
}

interface Boundary {
  readonly begin: NamedStatement;
  readonly commit: NamedStatement;
  readonly rollback: NamedStatement;
  readonly sendCommit?: Commit | undefined;
}

type AfterCommit = () => void;
type Commit = () => Promise<unknown>;

const OUTERMOST: Boundary = {
  begin: { name: 'begin', text: 'begin' },
  commit: { name: 'commit', text: 'commit' },
  rollback: { name: 'rollback', text: 'rollback' },
};

async function within<T>(
  { begin, commit, rollback, sendCommit }: Boundary,
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
      await pipelined<readonly unknown[]>(...parts, sendCommit?.() ?? send(commit, []));
      isCommitted = true;
      return Promise.all<Parts>(parts as Parts) as Promise<Parts>;
    },
  };
  const answerToBegin = send(begin, []);
  // A failed BEGIN also fails every statement after it. Those failures are awaited.
  answerToBegin.catch(() => {});
  try {
    const result = await work(tx);
    await answerToBegin;
    if (!isCommitted) await tx.commitWith();
    return result;
  } catch (error) {
    // After a lost connection, this fails, but Postgres has already rolled back.
    if (!isCommitted) await send(rollback, []).catch(() => {});
    afterCommit.length = outer;
    throw error;
  }
}

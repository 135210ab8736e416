/**
 * A dry run executes everything and rolls it back, so its response and costs are the same as a real call's. Its
 * transaction begins with the first writing operation and is rolled back after the response. All reads in between run
 * in that transaction.
 */
import { Overload, refuse } from '../errors.js';
import { waitForLocksAtMost, type Db } from '../db/database.js';
import { asRefusal, isBehindFailure } from '../db/database-errors.js';
import { DRY_RUN_LOCK_WAIT_MS } from '../service-limits.js';

const HEADER_VALUES = new Map([
  ['true', true],
  ['false', false],
]);

/** An unknown value is refused, because a caller who misspells it would otherwise make a real call. */
export function wantsDryRun(header: string | undefined): boolean {
  if (header === undefined) return false;
  const isWanted = HEADER_VALUES.get(header.trim().toLowerCase());
  if (isWanted === undefined) throw refuse('VALIDATION_FAILED', { message: 'Dry-Run must be true or false.' });
  return isWanted;
}

export type DryRunEffects = Readonly<Record<string, object[]>>;

export interface RecordedEffects {
  readonly kinds: readonly string[];
  /** Returns the effects since `beganAt`, each with its row's identifier. */
  since(this: void, tx: Db, beganAt: number): Promise<Readonly<Record<string, readonly { readonly id: string }[]>>>;
}

/** Counts the effects, for a header that has no room for the effects themselves. */
export function countsOf(effects: DryRunEffects) {
  const counts = Object.entries(effects).map(([kind, list]) => [kind, list.length]);
  return { ...Object.fromEntries(counts), complete: false };
}

export interface DryRun {
  readonly effects: DryRunEffects;
  /** Undefined before the first writing operation has begun. */
  readonly transaction: Db | undefined;
  /** Begins the transaction if necessary. A refused operation is rolled back immediately, as in a real call. */
  run<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  /** Rolls back the transaction, if it has begun. */
  end(): Promise<void>;
}

class RollbackSignal extends Error {}

export function createDryRun(pool: Db, { kinds, since }: RecordedEffects): DryRun {
  const effects: DryRunEffects = Object.fromEntries(kinds.map((kind) => [kind, []]));
  const seenIds = new Set<string>();
  let beganAt = 0;
  let transaction: Db | undefined;
  const state: State = { isOpen: false, failure: undefined };
  let rollback: Promise<void> | undefined;
  let finish = () => {};

  /**
   * Two requests can lock the same rows in opposite orders. With the usual timeout, each would hold a connection for a
   * long time.
   */
  async function withShortLockTimeout(tx: Db): Promise<Db> {
    await waitForLocksAtMost(tx, DRY_RUN_LOCK_WAIT_MS);
    return tx;
  }

  /** Resolves when the transaction has begun. The transaction stays open until `finish` is called. */
  function begin(): Promise<Db> {
    beganAt = Date.now();
    const end = new Promise<void>((resolve) => (finish = resolve));
    return new Promise((resolve, reject) => {
      const open = async (tx: Db) => {
        state.isOpen = true;
        transaction = whileOpen(tx, state);
        resolve(transaction);
        await end;
        throw new RollbackSignal();
      };
      rollback = pool.inTransaction(open).catch((error: unknown) => {
        // If the connection was lost, the next statement fails with the connection's error.
        state.isOpen = false;
        if (!(error instanceof RollbackSignal)) reject(error);
      });
    });
  }

  /** Adds the effects that the transaction has recorded since the last call. */
  async function addEffects(tx: Db): Promise<void> {
    for (const [kind, recorded] of Object.entries(await since(tx, beganAt))) {
      for (const { id, ...effect } of recorded) {
        if (!seenIds.has(id)) effects[kind]?.push(effect);
        seenIds.add(id);
      }
    }
  }

  return {
    effects,
    get transaction() {
      return transaction;
    },
    run: async (work) => {
      const tx = await (transaction ? withShortLockTimeout(transaction) : begin());
      const answer = await tx.inTransaction(work);
      await addEffects(tx);
      return answer;
    },
    end: async () => {
      state.isOpen = false;
      finish();
      await rollback;
    },
  };
}

interface State {
  isOpen: boolean;
  /** The first database failure. Later statements of the transaction fail because of it. */
  failure: unknown;
}

/**
 * GraphQL doesn't await reads under a failed parent. After a rollback, these reads would run on another request's
 * connection.
 */
function whileOpen(tx: Db, state: State): Db {
  return {
    isTransaction: true,
    send: (statement, params) => translateDatabaseErrors(state, () => tx.send(statement, params)),
    afterCommit: tx.afterCommit,
    inTransaction: (work) =>
      translateDatabaseErrors(state, () =>
        tx.inTransaction((part) => work({ ...whileOpen(part, state), commitWith: part.commitWith })),
      ),
  };
}

/** Turns database errors into refusals here, because the response is built before the transaction ends. */
async function translateDatabaseErrors<T>(state: State, work: () => Promise<T>): Promise<T> {
  if (!state.isOpen)
    throw refuse('OVERLOADED', { message: 'The dry run has ended. Try again.', details: { retryAfter: 1 } });
  try {
    return await work();
  } catch (error) {
    const failure = asRefusal(error);
    if (failure instanceof Overload) state.failure ??= failure;
    throw isBehindFailure(error) && state.failure ? state.failure : failure;
  }
}

/**
 * A dry run executes everything and rolls it back, so its response and cost match a real call's. The first write opens
 * a transaction. Everything after it runs in that transaction, which is rolled back after the response.
 */
import { Overload, refuse } from '../errors.js';
import { waitForLocksAtMost, type Db } from '../db/database.js';
import { asRefusal, isBehindFailure } from '../db/database-errors.js';
import { DRY_RUN_LOCK_WAIT_MS } from '../service-limits.js';

const HEADER_VALUES = new Map([
  ['true', true],
  ['false', false],
]);

/** False for an unknown value, too. Both APIs refuse such a value. */
export function wantsDryRun(header = 'false'): boolean {
  return valueOf(header) === true;
}

/** Otherwise, a misspelled value would make a real call. */
export function isValidDryRun(header = 'false'): boolean {
  return valueOf(header) !== undefined;
}

export function assertDryRunHeader(header: string | undefined): void {
  if (!isValidDryRun(header)) throw refuse('VALIDATION_FAILED', { message: 'Dry-Run must be true or false.' });
}

const valueOf = (header: string) => HEADER_VALUES.get(header.trim().toLowerCase());

export type DryRunEffects = Readonly<Record<string, object[]>>;

export interface EffectReader {
  readonly userId: string;
  readonly role: string;
}

export interface RecordedEffects {
  readonly kinds: readonly string[];
  /** Returns the effects since `beganAt` that the caller may read, each with its row's ID. */
  since(
    this: void,
    tx: Db,
    beganAt: number,
    reader: EffectReader | null,
  ): Promise<Readonly<Record<string, readonly { readonly id: string }[]>>>;
}

export function countsOf(effects: DryRunEffects) {
  const counts = Object.entries(effects).map(([kind, list]) => [kind, list.length]);
  return { ...Object.fromEntries(counts), complete: false };
}

export interface DryRun {
  readonly effects: DryRunEffects;
  /** Undefined until the first write. */
  readonly transaction: Db | undefined;
  /** Begins the transaction if necessary. If the operation is refused, the transaction rolls back immediately. */
  run<T>(reader: EffectReader | null, work: (tx: Db) => Promise<T>): Promise<T>;
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

  /** Two dry runs can lock the same rows in opposite orders. A short timeout frees their connections quickly. */
  async function withShortLockTimeout(tx: Db): Promise<Db> {
    await waitForLocksAtMost(tx, DRY_RUN_LOCK_WAIT_MS);
    return tx;
  }

  /** Resolves once the transaction is open. It stays open until `finish` is called. */
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
        // After a lost connection, the next statement fails with the connection's error.
        state.isOpen = false;
        if (!(error instanceof RollbackSignal)) reject(error);
      });
    });
  }

  /** Collects the effects that the transaction has recorded since the last call. */
  async function addEffects(tx: Db, reader: EffectReader | null): Promise<void> {
    for (const [kind, recorded] of Object.entries(await since(tx, beganAt, reader))) {
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
    run: async (reader, work) => {
      const tx = await (transaction ? withShortLockTimeout(transaction) : begin());
      const answer = await tx.inTransaction(work);
      await addEffects(tx, reader);
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
  /** The first database failure. It makes the transaction's later statements fail. */
  failure: unknown;
}

/**
 * GraphQL doesn't wait for reads under a failed parent. After a rollback, they would run on another request's
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

/** The response is built before the transaction ends, so this function translates the database errors. */
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

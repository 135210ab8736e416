/**
 * A dry run does everything and keeps nothing: the answer is the real one, and so is what it would have cost. Its
 * transaction begins with the first operation that would write, and is rolled back when the request has been answered.
 * Whatever is read in between is read in it.
 */
import { refuse } from '../rules/errors.js';
import { waitForLocksAtMost, type Db, type Journal } from '../store/database.js';

/** Whether a request asks for one. */
export function wantsDryRun(header: string | undefined): boolean {
  return header?.trim().toLowerCase() === 'true';
}

export interface DryRunEffects {
  readonly charges: { userId: string; amount: number; reason: string }[];
  readonly stakes: { userId: string; amount: number }[];
  readonly events: { type: string; fromStatus: string | null; toStatus: string | null }[];
}

/** How many effects there are, where there is no room for all of them. */
export function countsOf({ charges, stakes, events }: DryRunEffects) {
  return { charges: charges.length, stakes: stakes.length, events: events.length, complete: false };
}

export interface DryRun {
  readonly effects: DryRunEffects;
  /** Undefined before the first operation that writes has begun. */
  readonly transaction: Db | undefined;
  /**
   * Runs one operation in the transaction, and begins it if need be. What a refused operation did is undone at once, as
   * it would be for real.
   */
  run<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  /** Rolls back, if anything has begun. */
  end(): Promise<void>;
}

class RolledBack extends Error {}

/** For whoever holds locks already. */
const LOCK_WAIT_MS = 50;

export function createDryRun(pool: Db): DryRun {
  const effects: DryRunEffects = { charges: [], stakes: [], events: [] };
  let transaction: Db | undefined;
  let isOpen = false;
  let rolledBack: Promise<void> | undefined;
  let finish = () => {};

  /**
   * Two requests that lock the same things in opposite orders would wait for each other, each with a connection, as
   * long as a lock may be waited for.
   */
  async function behindAnother(tx: Db): Promise<Db> {
    await waitForLocksAtMost(tx, LOCK_WAIT_MS);
    return tx;
  }

  /** Settles when the transaction has begun; it stays open until `finish` is called. */
  function begin(): Promise<Db> {
    const finished = new Promise<void>((resolve) => (finish = resolve));
    return new Promise((resolve, reject) => {
      const open = async (tx: Db) => {
        isOpen = true;
        transaction = recording(tx, effects, () => isOpen);
        resolve(transaction);
        await finished;
        throw new RolledBack();
      };
      rolledBack = pool.inTransaction(open).catch((error: unknown) => {
        // Where the connection was lost, whoever sends the next statement is told.
        isOpen = false;
        if (!(error instanceof RolledBack)) reject(error);
      });
    });
  }

  return {
    effects,
    get transaction() {
      return transaction;
    },
    run: async (work) => (await (transaction ? behindAnother(transaction) : begin())).inTransaction(work),
    end: async () => {
      isOpen = false;
      finish();
      await rolledBack;
    },
  };
}

function recording(tx: Db, effects: DryRunEffects, isOpen: () => boolean): Db {
  const journal: Journal = {
    charged: (userId, amount, reason) => effects.charges.push({ userId, amount, reason }),
    staked: (userId, amount) => effects.stakes.push({ userId, amount }),
    happened: ({ type, fromStatus = null, toStatus = null }) => effects.events.push({ type, fromStatus, toStatus }),
  };
  return {
    journal,
    isTransaction: true,
    send: async (text, params) => {
      assertOpen(isOpen);
      return tx.send(text, params);
    },
    inTransaction: async (work) => {
      assertOpen(isOpen);
      const { charges, stakes, events } = effects;
      const before = [charges.length, stakes.length, events.length] as const;
      try {
        return await tx.inTransaction((part) => work(recording(part, effects, isOpen)));
      } catch (error) {
        // What was recorded of a part that is undone did not happen.
        [charges.length, stakes.length, events.length] = before;
        throw error;
      }
    },
  };
}

/**
 * GraphQL leaves reads behind when it has given up on what they belong to. After the end they would reach a connection
 * that serves somebody else.
 */
function assertOpen(isOpen: () => boolean): void {
  if (isOpen()) return;
  throw refuse('OVERLOADED', { message: 'The dry run has ended; try again.', details: { retryAfter: 1 } });
}

/**
 * Whoever holds a transaction asks for no second connection: as many callers as there are connections could each hold
 * one and wait for another, for ever. This check is switched on by a hook, as every test does, and follows a request
 * through everything that it awaits.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface SecondConnectionCheck {
  /** Throws where a transaction is held. */
  assertNoneHeld(): void;
  /** Runs what a transaction does. */
  holding<T>(work: () => Promise<T>): Promise<T>;
  /** Runs a request whose transaction stays open while other parts of the request go on: all of them hold it. */
  asOneHolder<T>(work: () => Promise<T>): Promise<T>;
}

export function createSecondConnectionCheck(onFound: (error: Error) => void): SecondConnectionCheck {
  const holders = new AsyncLocalStorage<{ holds: boolean }>();

  async function hold<T>(holder: { holds: boolean }, work: () => Promise<T>): Promise<T> {
    holder.holds = true;
    try {
      return await work();
    } finally {
      holder.holds = false;
    }
  }

  return {
    assertNoneHeld: () => {
      if (!holders.getStore()?.holds) return;
      const error = new Error('A call that holds a transaction asked the pool for a second connection.');
      onFound(error);
      throw error;
    },
    holding: (work) => {
      const request = holders.getStore();
      if (request) return hold(request, work);
      const holder = { holds: true };
      return holders.run(holder, () => hold(holder, work));
    },
    asOneHolder: (work) => holders.run({ holds: false }, work),
  };
}

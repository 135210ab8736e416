/**
 * Checks that a call that holds a transaction does not ask for a second connection: as many callers as there are
 * connections could each hold one and wait for another for ever. A hook switches the check on, as all tests do; it
 * follows a request through everything that the request awaits.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface SecondConnectionCheck {
  /** Throws if this call holds a transaction. */
  assertNoneHeld(): void;
  /** Runs the work of a transaction. */
  holding<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs a request whose transaction stays open while other parts of the request run: all of them count as holding it.
   */
  asOneHolder<T>(work: () => Promise<T>): Promise<T>;
}

export function createSecondConnectionCheck(onSecondConnection: (error: Error) => void): SecondConnectionCheck {
  const holders = new AsyncLocalStorage<{ holds: boolean }>();

  async function hold<T>(client: { holds: boolean }, work: () => Promise<T>): Promise<T> {
    client.holds = true;
    try {
      return await work();
    } finally {
      client.holds = false;
    }
  }

  return {
    assertNoneHeld: () => {
      if (!holders.getStore()?.holds) return;
      const error = new Error('A call that holds a transaction asked the pool for a second connection.');
      onSecondConnection(error);
      throw error;
    },
    holding: (work) => {
      const request = holders.getStore();
      if (request) return hold(request, work);
      const client = { holds: true };
      return holders.run(client, () => hold(client, work));
    },
    asOneHolder: (work) => holders.run({ holds: false }, work),
  };
}

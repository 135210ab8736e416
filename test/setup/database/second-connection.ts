/**
 * Fails if a call asks for a second connection while it holds a transaction. With enough such calls, each would hold
 * one connection and wait for another forever. The check follows everything that a request awaits.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { TransactionWatch } from '../../../src/platform/db/database.js';

export function createSecondConnectionCheck(onSecondConnection: (error: Error) => void): TransactionWatch {
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
    asking: () => {
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
    asOneRequest: (work) => holders.run({ holds: false }, work),
  };
}

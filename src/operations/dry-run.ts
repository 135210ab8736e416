/** A dry run does everything and keeps nothing: the answer is the real one, and so is what it would have cost. */
import type { Db, Journal } from '../store/database.js';
import type { Caller } from './caller.js';

/** Whether a request asks for one. */
export function wantsDryRun(header: string | undefined): boolean {
  return header?.trim().toLowerCase() === 'true';
}

export interface DryRunEffects {
  charges: { userId: string; amount: number; reason: string }[];
  stakes: { userId: string; amount: number }[];
  events: { type: string; fromStatus: string | null; toStatus: string | null }[];
}

class NothingIsKept extends Error {}

/** All that the caller does in `work` is undone when it is over, whatever came of it. */
export async function asDryRun<Outcome>(caller: Caller, work: () => Promise<Outcome>): Promise<{ outcome: Outcome; effects: DryRunEffects }> {
  const { db } = caller.house;
  let done: { outcome: Outcome; effects: DryRunEffects } | undefined;
  try {
    await db.inTransaction(async (tx) => {
      const effects: DryRunEffects = { charges: [], stakes: [], events: [] };
      caller.db = noting(tx, effects);
      done = { outcome: await work(), effects };
      throw new NothingIsKept();
    });
  } catch (error) {
    if (!(error instanceof NothingIsKept)) throw error;
  } finally {
    caller.db = db;
  }
  if (!done) throw new Error('A dry run ended without an outcome.');
  return done;
}

function noting(tx: Db, effects: DryRunEffects): Db {
  const journal: Journal = {
    charged: (userId, amount, reason) => effects.charges.push({ userId, amount, reason }),
    staked: (userId, amount) => effects.stakes.push({ userId, amount }),
    happened: ({ type, fromStatus = null, toStatus = null }) => effects.events.push({ type, fromStatus, toStatus }),
  };
  const noted: Db = {
    journal,
    isTransaction: true,
    send: (text, params) => tx.send(text, params),
    // What was noted in a part that is undone did not happen.
    inTransaction: async (work) => {
      const before = { charges: effects.charges.length, stakes: effects.stakes.length, events: effects.events.length };
      try {
        return await tx.inTransaction((inner) => work(noting(inner, effects)));
      } catch (error) {
        effects.charges.length = before.charges;
        effects.stakes.length = before.stakes;
        effects.events.length = before.events;
        throw error;
      }
    },
  };
  return noted;
}

/**
 * A session's check rides on whatever is read first: where a caller's session was found standing before, the statement
 * that serves them asks by itself whether it still does, and gives no row if not. So a row proves the session; and no
 * answer is given before one has, or the session was asked for by itself.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { SessionId, UserId } from '../rules/ids.js';
import type { Db } from './database.js';
import type { Values } from './statement.js';
import { sessions } from './tables/sessions.js';

/** The values that a statement takes beside its own. No statement has others of these names. */
export interface RidingValues {
  ridingSession: SessionId;
  ridingUser: UserId;
}

/** A session that is still to be found standing. */
export interface Riding {
  readonly values: RidingValues;
  readonly isProven: boolean;
  /** A row came back. */
  prove(): void;
  /** Asks by itself, and throws if the session is over. */
  ask(): Promise<void>;
}

/** Whoever sends a statement here has their session checked with it; what can carry no check waits for one. */
export function ridingOn(db: Db, riding: Riding): Db {
  return {
    riding,
    isTransaction: db.isTransaction,
    forLong: () => (db.forLong ? ridingOn(db.forLong(), riding) : db),
    send: (text, params) => db.send(text, params),
    inTransaction: async (work) => {
      await riding.ask();
      return db.inTransaction(work);
    },
  };
}

export function sessionStands($: Values<RidingValues>): SQL {
  return sql`exists (select from ${sessions} riding where riding.id = ${$.ridingSession} and riding.user_id = ${$.ridingUser} and riding.revoked_at is null and riding.ends_at > now())`;
}

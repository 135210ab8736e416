/**
 * The session check in the same statement. Where a caller's session was found active before, the statement that serves
 * them asks by itself whether it still is, and gives no row if not. So a row shows that the session is active; and no
 * answer is given before one has, or the session was asked for by a statement of its own.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Db, SessionCheck, SessionValues } from './database.js';
import { sessions } from './tables/sessions.js';

/** The first statement that is sent here checks the session too; what cannot do so waits until it was checked. */
export function checkingSession(db: Db, sessionCheck: SessionCheck): Db {
  return {
    sessionCheck,
    isTransaction: db.isTransaction,
    forLong: () => (db.forLong ? checkingSession(db.forLong(), sessionCheck) : db),
    send: (text, params) => db.send(text, params),
    inTransaction: async (work) => {
      await sessionCheck.ask();
      return db.inTransaction(work);
    },
  };
}

const named = (name: keyof SessionValues) => sql.placeholder(name);

export const sessionIsActive: SQL = sql`exists (select from ${sessions} own_session
  where own_session.id = ${named('checkedSession')} and own_session.user_id = ${named('checkedUser')}
    and own_session.revoked_at is null and own_session.ends_at > now())`;

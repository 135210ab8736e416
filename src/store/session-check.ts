/**
 * Checks a cached session in the same statement as the first read. If an earlier request found the session active, the
 * statement itself checks whether it still is, and returns no row if it is not. So a row shows that the session is
 * active; and no answer is sent before a statement has returned one, or a separate statement has checked the session.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Db, SessionCheck, SessionValues } from './database.js';
import { sessions } from './tables/sessions.js';

/**
 * The first statement on this `Db` checks the session too; a statement that cannot do so waits for a separate check.
 */
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

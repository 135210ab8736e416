/** Which of the sessions behind open streams have ended. */
import { and, gt, isNull, sql } from 'drizzle-orm';
import type { Db } from '../../../platform/db/database.js';
import { asArray, builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { sessions } from '../tables/sessions.js';

const selectEnded = statement(
  'selectEnded',
  { id: sql<string>`session_ids.id` },
  ($: Placeholders<{ ids: string }>, fields) => {
    const active = builder
      .select({ one: sql`1` })
      .from(sessions)
      .where(and(sql`${sessions.id} = session_ids.id`, isNull(sessions.revokedAt), gt(sessions.endsAt, sql`now()`)));
    return builder
      .select(fields)
      .from(sql`unnest(${$('ids')}::text[]) as session_ids(id)`)
      .where(sql`not exists ${active}`);
  },
);

export async function findEndedSessions(db: Db, ids: readonly string[]): Promise<string[]> {
  return (await selectEnded(db, { ids: asArray(ids) })).map(({ id }) => id);
}

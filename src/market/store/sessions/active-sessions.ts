/** The log-ins of a person that go on, for that person: listed, read, and ended together. */
import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import type { SessionId, UserId } from '../../rules/ids.js';
import { pagedList } from '../../../platform/db/pages/page.js';
import { asDate, ConvertedColumn } from '../../../platform/db/rows.js';
import { ANNOUNCEMENT, END_NOW } from './sessions.js';
import { asArray, builder, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { sessions } from '../tables/sessions.js';
import type { Db } from '../../../platform/db/database.js';

export interface ActiveSession {
  id: SessionId;
  createdAt: Date;
  lastUsedAt: Date;
  program: string | null;
  isCurrent: boolean;
}

interface CurrentSession {
  readonly currentId: SessionId;
}

/** The unused refresh token was created at the last login or refresh. */
const lastUsedAt = sql`(select coalesce(max(token.created_at), sessions.created_at) from refresh_tokens token
  where token.session_id = sessions.id and token.used_at is null)`;

const shape = ($: Placeholders<CurrentSession>) => ({
  id: sessions.id,
  createdAt: sessions.createdAt,
  lastUsedAt: new ConvertedColumn(lastUsedAt, 'last_used_at', asDate),
  program: sessions.program,
  isCurrent: sql<boolean>`${sessions.id} = ${$('currentId')}`.as('is_current'),
});

/** API keys have sessions too, which aren't logins. */
const isLogIn = sql`not exists (select from api_keys where session_id = sessions.id)`;

const isActive = and(isNull(sessions.revokedAt), gt(sessions.endsAt, sql`now()`), isLogIn);

export const listActiveSessions = pagedList({
  name: 'listActiveSessions',
  keys: { createdAt: sessions.createdAt, id: sessions.id },
  direction: 'desc',
  fields: shape,
  rows: ($: Placeholders<CurrentSession & { userId: UserId }>, fields, condition) =>
    selectFrom(sessions, fields, and(eq(sessions.userId, $('userId')), isActive, condition)),
});

/** With its owner. Also finds one that has ended. */
export const selectSession = statement(
  'selectSession',
  ($: Placeholders<CurrentSession & { id: SessionId }>) => ({
    session: shape($),
    userId: sessions.userId,
    isActive: sql<boolean>`${isActive}`.as('is_active'),
  }),
  ($, fields) => selectFrom(sessions, fields, and(eq(sessions.id, $('id')), isLogIn)),
);

/** Revokes all of them if no session is given. */
export const revokeOtherLogIns = statement(
  'revokeOtherLogIns',
  ANNOUNCEMENT,
  ($: Placeholders<{ userId: UserId; sessionId: SessionId | null }>, fields) =>
    builder
      .update(sessions)
      .set(END_NOW)
      .where(and(eq(sessions.userId, $('userId')), sql`sessions.id is distinct from ${$('sessionId')}`, isActive))
      .returning(fields),
);

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

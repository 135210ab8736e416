/** Opens, finds, and ends sessions. Tells every instance when one ends. */
import { and, desc, eq, gt, inArray, isNull, sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { SessionId, UserId } from '../../rules/ids.js';
import { newId } from '../new-id.js';
import { SESSION } from '../../../platform/caller-limits.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { asDate, ConvertedColumn, mayBeAbsent } from '../../../platform/db/rows.js';
import { asArray, builder, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { contractors, homeowners, users } from '../tables/accounts.js';
import { sessions } from '../tables/sessions.js';
import { hashOf, insertRefreshToken, type CurrentRefreshToken } from './refresh-tokens.js';
import { pagedList } from '../../../platform/db/pages/page.js';

/** Only the database can tell whether the session is still active. */
export interface NamedSession {
  sessionId: SessionId;
  userId: UserId;
}

export const viewerShape = {
  userId: users.id,
  sessionId: sessions.id,
  role: users.userType,
  homeownerId: mayBeAbsent(homeowners.id),
  contractorId: mayBeAbsent(contractors.id),
};

const selectActiveSession = statement(
  'selectActiveSession',
  {
    ...viewerShape,
    emailVerified: users.emailVerified,
    endsInMs: sql<number>`1000 * extract(epoch from ${sessions.endsAt} - clock_timestamp())::float8`,
  },
  ($: Placeholders<NamedSession>, fields) =>
    builder
      .select(fields)
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .leftJoin(homeowners, eq(homeowners.userId, users.id))
      .leftJoin(contractors, eq(contractors.userId, users.id))
      .where(
        and(
          eq(sessions.id, $('sessionId')),
          eq(sessions.userId, $('userId')),
          isNull(sessions.revokedAt),
          gt(sessions.endsAt, sql`now()`),
        ),
      ),
);

export interface FoundSession {
  readonly viewer: Viewer;
  readonly emailVerified: boolean;
  /** The number of milliseconds until the session expires, as of this statement. */
  readonly endsInMs: number;
}

/** Undefined if the session has ended or belongs to another user. */
export async function findActiveSession(db: Db, session: NamedSession): Promise<FoundSession | undefined> {
  const [row] = await selectActiveSession(db, session);
  if (!row) return undefined;
  const { endsInMs, emailVerified, ...viewer } = row;
  // The cast is safe. The row has columns for all three roles, and the viewer's role decides which profile is set.
  return { viewer: viewer as Viewer, emailVerified, endsInMs };
}

/**
 * The share lock makes the login wait for a concurrent password change or suspension. Afterward, nobody can open a
 * session with the old password, or any session for a suspended user.
 */
const insertSession = statement(
  'insertSession',
  { id: sessions.id },
  ($: Placeholders<{ id: SessionId; userId: UserId; passwordHash: string; program: string | null }>, fields) =>
    builder
      .insert(sessions)
      .select(
        builder
          .select({
            id: sql`${$('id')}::text`.as('id'),
            userId: users.id,
            createdAt: sql`now()`.as('created_at'),
            endsAt: sql`now() + ${sql.raw(`interval '${SESSION.sessionDaysMax} days'`)}`.as('ends_at'),
            revokedAt: sql`null::timestamptz`.as('revoked_at'),
            program: sql`${$('program')}::text`.as('program'),
          })
          .from(users)
          .where(
            and(eq(users.id, $('userId')), eq(users.passwordHash, $('passwordHash')), sql`users.suspended_at is null`),
          )
          .for('share'),
      )
      .returning(fields),
);

/** Undefined if the password hash has changed or the user was suspended in the meantime. */
export async function openSession(
  tx: Db,
  person: { readonly userId: UserId; readonly passwordHash: string; readonly program: string | null },
): Promise<OpenedSession | undefined> {
  const sessionId = newId('session');
  const refreshToken = newId('refreshToken');
  if ((await insertSession(tx, { id: sessionId, ...person })).length === 0) return undefined;
  const [row] = await insertRefreshToken(tx, { hash: hashOf(refreshToken), sessionId });
  return row && { sessionId, refreshToken, refreshExpiresAt: row.expiresAt };
}

export interface OpenedSession extends CurrentRefreshToken {
  sessionId: SessionId;
}

/**
 * Sets the session's end to the current time. The session is then deleted as long after its end as any other session.
 */
export const END_NOW = { revokedAt: sql`now()`, endsAt: sql`least(${sessions.endsAt}, now())` };

/**
 * Every instance receives a session's ID as soon as its revocation is committed. The channel also carries the
 * heartbeats of `platform/live/revocation-feed.ts`.
 */
export const SESSIONS_CHANNEL = 'session_ended';

export const notifyOfSession = (payload: SQL | Placeholder | PgColumn) =>
  sql<string>`pg_notify(${sql.raw(`'${SESSIONS_CHANNEL}'`)}, ${payload})::text`;

export const ANNOUNCEMENT = { id: sessions.id, announced: notifyOfSession(sessions.id).as('announced') };

export const revokeSession = statement(
  'revokeSession',
  ANNOUNCEMENT,
  ($: Placeholders<{ sessionId: SessionId }>, fields) =>
    builder
      .update(sessions)
      .set(END_NOW)
      .where(and(eq(sessions.id, $('sessionId')), isNull(sessions.revokedAt)))
      .returning(fields),
);

/** All of a user's sessions, except `except` if it's given. */
export interface SessionsToEnd {
  readonly userId: UserId;
  readonly except: SessionId | null;
}

const isToEnd = ($: Placeholders<SessionsToEnd>) =>
  and(eq(sessions.userId, $('userId')), sql`sessions.id is distinct from ${$('except')}`);

/** The sessions of API keys are revoked, too. */
export const revokeSessionsAndKeys = statement(
  'revokeSessionsAndKeys',
  ANNOUNCEMENT,
  ($: Placeholders<SessionsToEnd>, fields) =>
    builder
      .update(sessions)
      .set(END_NOW)
      .where(and(isToEnd($), isNull(sessions.revokedAt)))
      .returning(fields),
);

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

/** Each login or refresh creates an unused refresh token, so this is the newest token's time. */
const lastUsedAt = sql`(select coalesce(max(token.created_at), sessions.created_at) from refresh_tokens token
  where token.session_id = sessions.id and token.used_at is null)`;

const shape = ($: Placeholders<CurrentSession>) => ({
  id: sessions.id,
  createdAt: sessions.createdAt,
  lastUsedAt: new ConvertedColumn(lastUsedAt, 'last_used_at', asDate),
  program: sessions.program,
  isCurrent: sql<boolean>`${sessions.id} = ${$('currentId')}`.as('is_current'),
});

/** Excludes the sessions of API keys, which aren't logins. */
const hasNoKey = sql`not exists (select from api_keys where session_id = sessions.id)`;

const isActive = and(isNull(sessions.revokedAt), gt(sessions.endsAt, sql`now()`), hasNoKey);

export const listActiveSessions = pagedList({
  name: 'listActiveSessions',
  keys: { createdAt: sessions.createdAt, id: sessions.id },
  direction: 'desc',
  fields: shape,
  rows: ($: Placeholders<CurrentSession & { userId: UserId }>, fields, condition) =>
    selectFrom(sessions, fields, and(eq(sessions.userId, $('userId')), isActive, condition)),
});

/** Includes ended sessions. */
export const selectSession = statement(
  'selectSession',
  ($: Placeholders<CurrentSession & { id: SessionId }>) => ({
    session: shape($),
    userId: sessions.userId,
    isActive: sql<boolean>`${isActive}`.as('is_active'),
  }),
  ($, fields) => selectFrom(sessions, fields, and(eq(sessions.id, $('id')), hasNoKey)),
);

/** The sessions of API keys stay. */
export const revokeLogins = statement('revokeLogins', ANNOUNCEMENT, ($: Placeholders<SessionsToEnd>, fields) =>
  builder
    .update(sessions)
    .set(END_NOW)
    .where(and(isToEnd($), isActive))
    .returning(fields),
);

/** Revokes the logins that were used least recently, if the user has more than `SESSION.perAccountMax`. */
export const revokeOldestLogins = statement(
  'revokeOldestLogins',
  ANNOUNCEMENT,
  ($: Placeholders<{ userId: UserId }>, fields) =>
    builder
      .update(sessions)
      .set(END_NOW)
      .where(
        inArray(
          sessions.id,
          builder
            .select({ id: sessions.id })
            .from(sessions)
            .where(and(eq(sessions.userId, $('userId')), isActive))
            .orderBy(desc(lastUsedAt), desc(sessions.id))
            .offset(SESSION.perAccountMax),
        ),
      )
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

/** Sessions and their refresh tokens: opens, finds, refreshes, and revokes them. */
import { createHash } from 'node:crypto';
import { and, eq, gt, isNull, ne, sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { SessionId, UserId } from '../../rules/ids.js';
import { newId } from '../new-id.js';
import { SESSION } from '../../../platform/caller-limits.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { asDate, ConvertedColumn, mayBeAbsent } from '../../../platform/db/rows.js';
import { builder, columns, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { contractors, homeowners, users } from '../tables/accounts.js';
import { refreshTokens, sessions } from '../tables/sessions.js';

/** The session and user of an access token. Only the database can confirm that the session is active. */
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
  /** Milliseconds until the session expires, at the time of the statement. */
  readonly endsInMs: number;
}

/** Undefined for a session that has ended or isn't this user's. */
export async function findActiveSession(db: Db, session: NamedSession): Promise<FoundSession | undefined> {
  const [row] = await selectActiveSession(db, session);
  if (!row) return undefined;
  const { endsInMs, emailVerified, ...viewer } = row;
  // The row has the columns of all three roles. The viewer's role decides which profile is set.
  return { viewer: viewer as Viewer, emailVerified, endsInMs };
}

/**
 * The share lock serializes a login with a password change. An old password opens no session after the change, and
 * nobody opens one after their suspension.
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

/** Never later than the session's own end, however often it is refreshed. */
const tokenExpiry = sql`least(now() + ${sql.raw(`interval '${SESSION.refreshTokenDays} days'`)}, ${sessions.endsAt})`;

const newRefreshToken = (hash: Placeholder) => ({
  hash: sql`${hash}::text`.as('hash'),
  sessionId: sessions.id,
  createdAt: sql`now()`.as('created_at'),
  expiresAt: tokenExpiry.as('expires_at'),
  usedAt: sql`null::timestamptz`.as('used_at'),
});

const insertRefreshToken = statement(
  'insertRefreshToken',
  { expiresAt: refreshTokens.expiresAt },
  ($: Placeholders<{ hash: string; sessionId: SessionId }>, fields) =>
    builder
      .insert(refreshTokens)
      .select(
        builder
          .select(newRefreshToken($('hash')))
          .from(sessions)
          .where(eq(sessions.id, $('sessionId'))),
      )
      .returning(fields),
);

/**
 * Opens a session with its first refresh token, of which only a hash is stored. Undefined if the account's password
 * hash has changed by now.
 */
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

export interface CurrentRefreshToken {
  refreshToken: string;
  refreshExpiresAt: Date;
}

const selectRefreshToken = statement(
  'selectRefreshToken',
  {
    sessionId: sessions.id,
    userId: users.id,
    role: users.userType,
    sessionEnded: sql<boolean>`${sessions.revokedAt} is not null or ${sessions.endsAt} <= now()`,
    expired: sql<boolean>`${refreshTokens.expiresAt} <= now()`,
    usedAt: refreshTokens.usedAt,
    secondsSinceUse: sql<number>`extract(epoch from clock_timestamp() - ${refreshTokens.usedAt})::float8`,
    readAt: new ConvertedColumn(sql`now()`, 'read_at', asDate),
  },
  ($: Placeholders<{ hash: string }>, fields) =>
    builder
      .select(fields)
      .from(refreshTokens)
      .innerJoin(sessions, eq(sessions.id, refreshTokens.sessionId))
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(eq(refreshTokens.hash, $('hash'))),
);

export async function findRefreshToken(db: Db, token: string) {
  const [row] = await selectRefreshToken(db, { hash: hashOf(token) });
  return row;
}

/** Both in one statement, so a used token always has a successor. */
const replaceToken = statement(
  'replaceToken',
  { expiresAt: refreshTokens.expiresAt },
  ($: Placeholders<{ hash: string; usedAt: Date; successorHash: string }>, fields) => {
    const usedToken = builder.$with('used').as(
      builder
        .update(refreshTokens)
        .set(columns($, ['usedAt']))
        .where(and(eq(refreshTokens.hash, $('hash')), isNull(refreshTokens.usedAt)))
        .returning({ sessionId: refreshTokens.sessionId }),
    );
    const successor = builder.$with('successor').as(
      builder
        .insert(refreshTokens)
        .select(
          builder
            .select(newRefreshToken($('successorHash')))
            .from(sessions)
            .innerJoin(usedToken, eq(usedToken.sessionId, sessions.id)),
        )
        .returning(fields),
    );
    return builder.with(usedToken, successor).select().from(successor);
  },
);

/**
 * Replaces an unused token with its successor. Of two concurrent calls, one finds the token used and gets undefined.
 */
export async function replaceRefreshToken(
  db: Db,
  token: string,
  usedAt: Date,
  successor: string,
): Promise<CurrentRefreshToken | undefined> {
  const [row] = await replaceToken(db, { hash: hashOf(token), usedAt, successorHash: hashOf(successor) });
  return row && { refreshToken: successor, refreshExpiresAt: row.expiresAt };
}

const selectUnusedTokens = statement(
  'selectUnusedTokens',
  { hash: refreshTokens.hash, expiresAt: refreshTokens.expiresAt },
  ($: Placeholders<{ sessionId: SessionId }>, fields) =>
    selectFrom(refreshTokens, fields, and(eq(refreshTokens.sessionId, $('sessionId')), isNull(refreshTokens.usedAt))),
);

/** The one of these that is the session's newest refresh token, if any. */
export async function findCurrentRefreshToken(
  db: Db,
  sessionId: SessionId,
  candidates: readonly string[],
): Promise<CurrentRefreshToken | undefined> {
  const unusedTokens = await selectUnusedTokens(db, { sessionId });
  for (const refreshToken of candidates) {
    const token = unusedTokens.find(({ hash }) => hash === hashOf(refreshToken));
    if (token) return { refreshToken, refreshExpiresAt: token.expiresAt };
  }
  return undefined;
}

/** A revoked session ends when it is revoked. It is deleted as long after its end as any other. */
export const END_NOW = { revokedAt: sql`now()`, endsAt: sql`least(${sessions.endsAt}, now())` };

/**
 * The channel on which every instance receives the ID of a revoked session once that is committed, and the heartbeats
 * of `platform/live/revocation-feed.ts`.
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

export const revokeOtherSessionsAndKeys = statement(
  'revokeOtherSessionsAndKeys',
  ANNOUNCEMENT,
  ($: Placeholders<{ userId: UserId; sessionId: SessionId }>, fields) =>
    builder
      .update(sessions)
      .set(END_NOW)
      .where(and(eq(sessions.userId, $('userId')), ne(sessions.id, $('sessionId')), isNull(sessions.revokedAt)))
      .returning(fields),
);

export const revokeSessionsAndKeys = statement(
  'revokeSessionsAndKeys',
  ANNOUNCEMENT,
  ($: Placeholders<{ userId: UserId }>, fields) =>
    builder
      .update(sessions)
      .set(END_NOW)
      .where(and(eq(sessions.userId, $('userId')), isNull(sessions.revokedAt)))
      .returning(fields),
);

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** Log-ins and their refresh tokens: who a session is, how it is carried on, and how it ends. */
import { createHash } from 'node:crypto';
import { and, eq, gt, isNull, ne, sql } from 'drizzle-orm';
import { newId, type SessionId, type UserId } from '../rules/ids.js';
import { SESSION } from '../rules/limits.js';
import type { Viewer } from '../rules/viewer.js';
import type { Db } from './database.js';
import { statement, type Values } from './statement.js';
import { contractors, homeowners, users } from './tables/accounts.js';
import { refreshTokens, sessions } from './tables/sessions.js';

/** The session that a token names, which an access token may claim and this alone can confirm. */
export interface NamedSession {
  sessionId: SessionId;
  userId: UserId;
}

const selectViewer = statement((db, $: Values<NamedSession>) =>
  db
    .select({
      userId: users.id,
      sessionId: sessions.id,
      role: users.userType,
      homeownerId: homeowners.id,
      contractorId: contractors.id,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(homeowners, eq(homeowners.userId, users.id))
    .leftJoin(contractors, eq(contractors.userId, users.id))
    .where(
      and(
        eq(sessions.id, $.sessionId),
        eq(sessions.userId, $.userId),
        isNull(sessions.revokedAt),
        gt(sessions.endsAt, sql`now()`),
      ),
    ),
);

/** Who the session makes its caller, while it stands. */
export async function findViewer(db: Db, session: NamedSession): Promise<Viewer | undefined> {
  const [row] = await selectViewer(db, session);
  // The row is as wide as all three kinds of viewer; which profile it has follows from the role.
  return row as Viewer | undefined;
}

/**
 * The share lock makes a log-in and a change of its password follow one another: no old password opens a session after
 * it.
 */
const insertSession = statement((db, $: Values<{ id: SessionId; userId: UserId; passwordHash: string }>) =>
  db
    .insert(sessions)
    .select(
      db
        .select({
          id: sql`${$.id}::text`.as('id'),
          userId: users.id,
          createdAt: sql`now()`.as('created_at'),
          endsAt: sql`now() + ${sql.raw(`interval '${SESSION.sessionDaysMax} days'`)}`.as('ends_at'),
          revokedAt: sql`null::timestamptz`.as('revoked_at'),
        })
        .from(users)
        .where(and(eq(users.id, $.userId), eq(users.passwordHash, $.passwordHash)))
        .for('share'),
    )
    .returning({ id: sessions.id }),
);

/** Never beyond the session's own end, however often it is refreshed. */
const tokenExpiry = sql`least(now() + ${sql.raw(`interval '${SESSION.refreshTokenDays} days'`)}, ${sessions.endsAt})`;

const insertRefreshToken = statement((db, $: Values<{ hash: string; sessionId: SessionId }>) =>
  db.insert(refreshTokens).select(
    db
      .select({
        hash: sql`${$.hash}::text`.as('hash'),
        sessionId: sessions.id,
        createdAt: sql`now()`.as('created_at'),
        expiresAt: tokenExpiry.as('expires_at'),
        usedAt: sql`null::timestamptz`.as('used_at'),
      })
      .from(sessions)
      .where(eq(sessions.id, $.sessionId)),
  ),
);

/**
 * Opens a session and its first refresh token, which is stored nowhere in the clear; undefined if the password with
 * this hash is no longer the account's.
 */
export async function openSession(tx: Db, userId: UserId, passwordHash: string): Promise<OpenedSession | undefined> {
  const sessionId = newId('session');
  const [opened] = await insertSession(tx, { id: sessionId, userId, passwordHash });
  return opened && { sessionId, refreshToken: await issueRefreshToken(tx, sessionId) };
}

export interface OpenedSession {
  sessionId: SessionId;
  refreshToken: string;
}

async function issueRefreshToken(tx: Db, sessionId: SessionId): Promise<string> {
  const token = newId('refreshToken');
  await insertRefreshToken(tx, { hash: hashOf(token), sessionId });
  return token;
}

const markUsed = statement((db, $: Values<{ hash: string }>) =>
  db
    .update(refreshTokens)
    .set({ usedAt: sql`now()` })
    .where(and(eq(refreshTokens.hash, $.hash), isNull(refreshTokens.usedAt)))
    .returning({ hash: refreshTokens.hash }),
);

const selectRefreshToken = statement((db, $: Values<{ hash: string }>) =>
  db
    .select({
      sessionId: sessions.id,
      userId: users.id,
      role: users.userType,
      usable: sql<boolean>`${refreshTokens.usedAt} is null and ${refreshTokens.expiresAt} > now() and ${sessions.endsAt} > now() and ${sessions.revokedAt} is null`,
      secondsSinceUse: sql<number | null>`extract(epoch from clock_timestamp() - ${refreshTokens.usedAt})::float8`,
    })
    .from(refreshTokens)
    .innerJoin(sessions, eq(sessions.id, refreshTokens.sessionId))
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(refreshTokens.hash, $.hash)),
);

export async function findRefreshToken(db: Db, token: string) {
  const [row] = await selectRefreshToken(db, { hash: hashOf(token) });
  return row;
}

/** Puts a new refresh token in the place of a used one. Of two at once, one finds the token used and gets nothing. */
export async function rotateRefreshToken(tx: Db, token: string, sessionId: SessionId): Promise<string | undefined> {
  const [used] = await markUsed(tx, { hash: hashOf(token) });
  return used && issueRefreshToken(tx, sessionId);
}

export const revokeSession = statement((db, $: Values<{ sessionId: SessionId }>) =>
  db
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(sessions.id, $.sessionId), isNull(sessions.revokedAt))),
);

export const revokeOtherSessions = statement((db, $: Values<{ userId: UserId; sessionId: SessionId }>) =>
  db
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(sessions.userId, $.userId), ne(sessions.id, $.sessionId), isNull(sessions.revokedAt))),
);

export const revokeAllSessions = statement((db, $: Values<{ userId: UserId }>) =>
  db
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(sessions.userId, $.userId), isNull(sessions.revokedAt))),
);

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

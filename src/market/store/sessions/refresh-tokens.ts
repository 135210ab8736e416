/** The refresh tokens of sessions. Only a token's hash is stored. */
import { createHash } from 'node:crypto';
import { and, eq, isNull, sql, type Placeholder } from 'drizzle-orm';
import type { SessionId } from '../../rules/ids.js';
import { SESSION } from '../../../platform/caller-limits.js';
import type { Db } from '../../../platform/db/database.js';
import { asDate, ConvertedColumn } from '../../../platform/db/rows.js';
import { builder, columns, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { users } from '../tables/accounts.js';
import { refreshTokens, sessions } from '../tables/sessions.js';

/** A token never outlives its session, no matter how often the session is refreshed. */
const tokenExpiry = sql`least(now() + ${sql.raw(`interval '${SESSION.refreshTokenDays} days'`)}, ${sessions.endsAt})`;

const newRefreshToken = (hash: Placeholder) => ({
  hash: sql`${hash}::text`.as('hash'),
  sessionId: sessions.id,
  createdAt: sql`now()`.as('created_at'),
  expiresAt: tokenExpiry.as('expires_at'),
  usedAt: sql`null::timestamptz`.as('used_at'),
});

export const insertRefreshToken = statement(
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

/** This is a single statement, so a used token always has a successor. */
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

/** If two calls do this at the same time, the second one finds that the token is used and gets undefined. */
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

/** Finds the session's newest refresh token if it is one of these tokens. */
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

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

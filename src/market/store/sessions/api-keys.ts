/** API keys. Each key has its own session, which is checked, ended, and deleted like any other session. */
import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import type { ApiKeyAccess } from '../../rules/entities/api-key.js';
import type { ApiKeyId, SessionId, UserId } from '../../rules/ids.js';
import { newId } from '../new-id.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Db } from '../../../platform/db/database.js';
import { pagedList } from '../../../platform/db/pages/page.js';
import { asDate, ConvertedColumn } from '../../../platform/db/rows.js';
import { viewerShape } from './sessions.js';
import { builder, asArray, columns, statement, type Placeholders } from '../../../platform/db/statement.js';
import { contractors, homeowners, users } from '../tables/accounts.js';
import { apiKeys, sessions } from '../tables/sessions.js';

export interface ApiKey {
  id: ApiKeyId;
  name: string;
  access: ApiKeyAccess;
  createdAt: Date;
  /** Null if the key doesn't expire. */
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

const keyShape = {
  id: apiKeys.id,
  name: apiKeys.name,
  access: apiKeys.access,
  createdAt: apiKeys.createdAt,
  expiresAt: new ConvertedColumn<Date | null>(sql`nullif(${sessions.endsAt}, 'infinity')`, 'expires_at', asDate),
  lastUsedAt: apiKeys.lastUsedAt,
};

const isActive = and(isNull(sessions.revokedAt), gt(sessions.endsAt, sql`now()`));

/** Leaves out keys that were revoked or have expired. */
export const listApiKeys = pagedList({
  name: 'listApiKeys',
  keys: { createdAt: apiKeys.createdAt, id: apiKeys.id },
  direction: 'desc',
  fields: keyShape,
  rows: ($: Placeholders<{ userId: UserId }>, fields, condition) =>
    builder
      .select(fields)
      .from(apiKeys)
      .innerJoin(sessions, eq(sessions.id, apiKeys.sessionId))
      .where(and(eq(apiKeys.userId, $('userId')), isActive, condition))
      .$dynamic(),
});

export const selectApiKey = statement(
  'selectApiKey',
  {
    key: keyShape,
    userId: apiKeys.userId,
    sessionId: apiKeys.sessionId,
    isActive: sql<boolean>`${isActive}`.as('is_active'),
  },
  ($: Placeholders<{ id: ApiKeyId }>, fields) =>
    builder
      .select(fields)
      .from(apiKeys)
      .innerJoin(sessions, eq(sessions.id, apiKeys.sessionId))
      .where(eq(apiKeys.id, $('id'))),
);

/** The caller must hold the account's lock. */
export const countApiKeys = statement(
  'countApiKeys',
  { count: sql<number>`count(*)::int` },
  ($: Placeholders<{ userId: UserId }>, fields) =>
    builder
      .select(fields)
      .from(apiKeys)
      .innerJoin(sessions, eq(sessions.id, apiKeys.sessionId))
      .where(and(eq(apiKeys.userId, $('userId')), isActive)),
);

const insertKeySession = statement(
  'insertKeySession',
  {},
  ($: Placeholders<{ id: SessionId; userId: UserId; expiresAt: string | null }>) =>
    builder
      .insert(sessions)
      .values({ ...columns($, ['id', 'userId']), endsAt: sql`coalesce(${$('expiresAt')}::timestamptz, 'infinity')` }),
);

const NEW_KEY = ['id', 'userId', 'sessionId', 'name', 'access', 'secretHash'] as const;
type NewKey = Pick<typeof apiKeys.$inferSelect, (typeof NEW_KEY)[number]>;

const insertKey = statement('insertKey', { createdAt: apiKeys.createdAt }, ($: Placeholders<NewKey>, fields) =>
  builder.insert(apiKeys).values(columns($, NEW_KEY)).returning(fields),
);

export async function insertApiKey(
  tx: Db,
  { expiresAt, ...key }: Omit<NewKey, 'id' | 'sessionId'> & { expiresAt: Date | null },
): Promise<ApiKey> {
  const [id, sessionId] = [newId('apiKey'), newId('session')];
  await insertKeySession(tx, { id: sessionId, userId: key.userId, expiresAt: expiresAt && expiresAt.toISOString() });
  const [row] = await insertKey(tx, { id, sessionId, ...key });
  if (!row) throw new Error('A new API key could not be read back.');
  return { id, name: key.name, access: key.access, createdAt: row.createdAt, expiresAt, lastUsedAt: null };
}

const selectBySecret = statement(
  'selectBySecret',
  {
    ...viewerShape,
    emailVerified: users.emailVerified,
    keyId: apiKeys.id,
    access: apiKeys.access,
    revoked: sql<boolean>`${sessions.revokedAt} is not null`,
    expired: sql<boolean>`${sessions.endsAt} <= now()`,
  },
  ($: Placeholders<{ secretHash: string }>, fields) =>
    builder
      .select(fields)
      .from(apiKeys)
      .innerJoin(sessions, eq(sessions.id, apiKeys.sessionId))
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .leftJoin(homeowners, eq(homeowners.userId, users.id))
      .leftJoin(contractors, eq(contractors.userId, users.id))
      .where(eq(apiKeys.secretHash, $('secretHash'))),
);

export interface KeyOwner {
  readonly keyId: ApiKeyId;
  readonly access: ApiKeyAccess;
  readonly viewer: Viewer;
  readonly emailVerified: boolean;
}

/** Returns a reason instead if the key must be refused. */
export async function findKeyOwner(db: Db, secretHash: string): Promise<KeyOwner | 'unknown' | 'revoked' | 'expired'> {
  const [row] = await selectBySecret(db, { secretHash });
  if (!row) return 'unknown';
  const { keyId, access, revoked, expired, emailVerified, ...viewer } = row;
  if (revoked) return 'revoked';
  if (expired) return 'expired';
  // The cast is safe. The row has columns for all three roles, and the viewer's role decides which profile is set.
  return { keyId, access, viewer: viewer as Viewer, emailVerified };
}

const updateLastUsed = statement('updateLastUsed', {}, ($: Placeholders<{ ids: string; times: string }>) =>
  builder
    .update(apiKeys)
    .set({ lastUsedAt: sql`used.at` })
    .from(sql`unnest(${$('ids')}::text[], ${$('times')}::timestamptz[]) as used(id, at)`)
    .where(sql`${apiKeys.id} = used.id and (${apiKeys.lastUsedAt} is null or ${apiKeys.lastUsedAt} < used.at)`),
);

export async function recordKeyUses(db: Db, uses: ReadonlyMap<ApiKeyId, Date>): Promise<void> {
  const times = [...uses.values()].map((time) => time.toISOString());
  await updateLastUsed(db, { ids: asArray([...uses.keys()]), times: asArray(times) });
}

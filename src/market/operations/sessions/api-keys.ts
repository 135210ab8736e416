/** API keys for programs, which can't log in again every 15 minutes. Only a session can manage keys. */
import { z } from 'zod';
import { API_KEY_ACCESSES } from '../../rules/entities/api-key.js';
import { refuse } from '../../rules/errors.js';
import type { ApiKeyId } from '../../rules/ids.js';
import { API_KEYS_PER_PERSON_MAX, TEXT } from '../../rules/market-limits.js';
import { enumOf, requiredText } from '../../../platform/fields/values.js';
import type { Viewer } from '../../rules/viewer.js';
import { hashOfApiKey, newApiKeySecret } from '../../../platform/security/access-token.js';
import {
  countApiKeys,
  insertApiKey,
  listApiKeys as keysNewestFirst,
  selectApiKey,
  type ApiKey,
} from '../../store/sessions/api-keys.js';
import type { Db } from '../../../platform/db/database.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { timestampInBody } from '../../../platform/fields/shapes.js';
import { idInPath } from '../../rules/id-fields.js';
import { endSession } from './ended-sessions.js';
import { lockOwnAccount } from '../accounts/own-account.js';

const NEWEST_FIRST = ['time', 'text'] as const;

export interface NewApiKey {
  apiKey: ApiKey;
  secret: string;
}

export const createApiKey = operation({
  name: 'createApiKey',
  description:
    'Creates an API key for a program. A key with full access can do everything that its owner can, except manage ' +
    'the email address, password, sessions, and API keys. The secret is shown only once.',
  allows: 'signed in',
  budget: 'write',
  answersSecret: true,
  needsSession: true,
  input: z.strictObject({
    name: requiredText(TEXT.name).describe('A name that says what the key is for.'),
    expiresAt: timestampInBody
      .refine((time) => time.getTime() > Date.now(), 'must be in the future')
      .meta({ timestamp: true })
      .nullish()
      .describe('When the key expires. By default, it works until it’s revoked.'),
    access: enumOf(API_KEY_ACCESSES, 'ApiKeyAccess')
      .nullish()
      .describe('What the key can do. The default is full access.'),
  }),
  async run({ db, viewer }, { name, expiresAt = null, access }): Promise<NewApiKey> {
    const secret = newApiKeySecret();
    const apiKey = await db.inTransaction(async (tx) => {
      await lockOwnAccount(tx, viewer);
      const [total] = await countApiKeys(tx, viewer);
      if ((total?.count ?? 0) >= API_KEYS_PER_PERSON_MAX) throw tooManyKeys();
      const { userId } = viewer;
      return insertApiKey(tx, { userId, name, access: access ?? 'full', expiresAt, secretHash: hashOfApiKey(secret) });
    });
    return { apiKey, secret };
  },
});

function tooManyKeys() {
  return refuse('VALIDATION_FAILED', {
    message: `You have ${API_KEYS_PER_PERSON_MAX} API keys, which is the maximum. Revoke one first.`,
  });
}

export const listApiKeys = operation({
  name: 'apiKeys',
  description: 'Lists your active API keys, newest first, without their secrets.',
  allows: 'signed in',
  budget: 'read',
  needsSession: true,
  input: z.strictObject(pageShape),
  run: ({ db, viewer, include }, input) =>
    keysNewestFirst(db, { userId: viewer.userId }, pageRequest(input, NEWEST_FIRST, include)),
});

const keyInput = z.strictObject({ id: idInPath('apiKey').describe('The API key.') });

export const readApiKey = operation({
  name: 'apiKey',
  description: 'Returns one of your active API keys, without its secret.',
  allows: 'signed in',
  budget: 'read',
  needsSession: true,
  input: keyInput,
  async run({ db, viewer }, { id }): Promise<ApiKey> {
    const { key, isActive } = await ownApiKey(db, viewer, id);
    if (!isActive) throw refuse('NOT_FOUND', { message: 'This API key is no longer active.' });
    return key;
  },
});

export const revokeApiKey = operation({
  name: 'revokeApiKey',
  description: 'Revokes an API key. It stops working immediately, everywhere.',
  allows: 'signed in',
  budget: 'write',
  needsSession: true,
  input: keyInput,
  async run(call, { id }): Promise<ApiKey> {
    const { key, sessionId } = await ownApiKey(call.db, call.viewer, id);
    await endSession(call, sessionId);
    return key;
  },
});

async function ownApiKey(db: Db, viewer: Viewer, id: ApiKeyId) {
  const [key] = await selectApiKey(db, { id });
  if (!key) throw refuse('NOT_FOUND', { message: 'API key not found.' });
  if (key.userId !== viewer.userId) throw refuse('FORBIDDEN', { message: 'This API key belongs to another user.' });
  return key;
}

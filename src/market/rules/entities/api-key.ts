/** API keys for programs, as the keys' owner sees them. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { identifier } from '../id-fields.js';
import { TEXT } from '../market-limits.js';
import { enumOf, timestamp, requiredText } from '../../../platform/fields/values.js';

/** What a key allows: only reads, or everything that its owner may do without a session. */
export const API_KEY_ACCESSES = ['read', 'full'] as const;
export type ApiKeyAccess = (typeof API_KEY_ACCESSES)[number];

export const API_KEY = entity(
  'ApiKey',
  'A key for a program. The program acts as the key’s owner. The secret is shown only when the key is created.',
  {
    id: identifier('apiKey'),
    name: {
      type: requiredText(TEXT.name),
      description: 'The name of the key, which says what it’s for.',
      example: 'Nightly export',
      written: true,
    },
    access: {
      type: enumOf(API_KEY_ACCESSES, 'ApiKeyAccess'),
      description: 'What the key can do.',
      example: 'full',
      written: true,
    },
    createdAt: { type: timestamp, description: 'When the key was created.' },
    expiresAt: {
      type: timestamp.nullable(),
      description: 'When the key expires. Null if it works until it’s revoked.',
    },
    lastUsedAt: {
      type: timestamp.nullable(),
      description: 'When the key was last used, to the minute. Null if it was never used.',
      example: '2026-03-02T09:41:00.000Z',
    },
  },
);

export const NEW_API_KEY = entity('NewApiKey', 'A new API key and its secret.', {
  apiKey: { type: API_KEY.schema, description: 'The key.' },
  secret: {
    type: z.string().meta({ pattern: '^jmk_[0-9A-Za-z]{40}$' }),
    description:
      'The secret: `jmk_` and 40 letters and digits. Send it as `Authorization: Bearer …`. It’s shown only once and ' +
      'never stored.',
    example: 'jmk_3fQ8ZpL0xVnB7tYc2KdWsE9uHgRa5jMi1oTq4Xby',
  },
});

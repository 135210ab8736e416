/** Sessions, and the data that a client reads right after login. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { TEXT } from '../market-limits.js';
import { email, timestamp, text, integer } from '../../../platform/fields/values.js';
import { idPattern, exampleId, identifier } from '../id-fields.js';
import { REFERRAL_ALPHABET, REFERRAL_BONUS, REFERRAL_LENGTH } from '../tokens.js';
import { JOB } from './job.js';
import { CONTRACTOR, HOMEOWNER, USER } from './people.js';
import { TOKEN_BALANCE } from './tokens.js';

export const SESSION = entity('Session', 'A session: its tokens and, after a signup, the new account.', {
  token: {
    type: z.string(),
    description: 'The access token, which lasts 15 minutes. Send it as `Authorization: Bearer …`.',
    example: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfIn0.c2lnbmF0dXJl',
  },
  refreshToken: {
    type: z.string().meta({ pattern: idPattern('refreshToken') }),
    description: 'The refresh token. Exchange it for new tokens with `refreshSession` or, in REST, `/v1/auth/refresh`.',
    example: exampleId('refreshToken'),
  },
  expiresAt: {
    type: timestamp,
    description: 'When the access token expires: 15 minutes after it was issued.',
    example: '2026-03-02T09:45:00.000Z',
  },
  refreshExpiresAt: {
    type: timestamp,
    description: 'When the refresh token expires: after 30 days, or when the session reaches 90 days.',
    example: '2026-04-01T09:30:00.000Z',
  },
  user: { type: USER.schema.nullish(), description: 'The user who logged in. Null after a refresh.' },
  homeowner: {
    type: HOMEOWNER.schema.nullish(),
    description: 'A new homeowner’s profile. Null except after their signup.',
  },
  contractor: {
    type: CONTRACTOR.schema.nullish(),
    description: 'A new contractor’s profile. Null except after their signup.',
  },
  tokensAwarded: {
    type: integer().nullish(),
    description: 'The tokens credited for the signup and the referral. Null except after a signup.',
    example: 10,
  },
  confirmationSent: {
    type: z.boolean().nullish(),
    description:
      'After a signup, true if an email with a confirmation link is on its way. If false, request one later with ' +
      '`requestEmailVerification`.',
    example: true,
  },
});

export const ACTIVE_SESSION = entity('ActiveSession', 'An active session on a device, in a browser, or in an app.', {
  id: identifier('session'),
  createdAt: { type: timestamp, description: 'When the user logged in.' },
  lastUsedAt: {
    type: timestamp,
    description: 'When the session last got new tokens. An app in use gets them every 15 minutes.',
    example: '2026-03-02T09:30:00.000Z',
  },
  program: {
    type: text(TEXT.line).nullable(),
    description: 'The `User-Agent` of the program that logged in, up to 200 characters.',
    example: 'Mozilla/5.0 (X11; Linux x86_64; rv:149.0) Gecko/20100101 Firefox/149.0',
  },
  isCurrent: { type: z.boolean(), description: 'True for the session making this request.', example: true },
});

export const VIEWER = entity('Viewer', 'Your own account.', {
  user: { type: USER.schema, description: 'The user.' },
  homeowner: { type: HOMEOWNER.schema.nullable(), description: 'The homeowner’s profile. Null for everyone else.' },
  contractor: { type: CONTRACTOR.schema.nullable(), description: 'The contractor’s profile. Null for everyone else.' },
  tokens: { type: TOKEN_BALANCE.schema, description: 'The account’s prepaid tokens.' },
  referralCode: {
    type: z.string().meta({ pattern: `^[${REFERRAL_ALPHABET}]{${REFERRAL_LENGTH}}$` }),
    description: `Your referral code. When someone signs up with it, you both get ${REFERRAL_BONUS} tokens.`,
    example: 'K7QM2XPA',
  },
});

export const PUBLICATION = entity('PublishJobPayload', 'A published job and the tokens that it cost.', {
  job: { type: JOB.schema, description: 'The published job.' },
  tokensCharged: { type: integer(), description: 'The tokens that were charged.', example: 5 },
  remainingBalance: { type: integer(), description: 'The tokens that you can still spend.', example: 5 },
});

export const UNDONE_EMAIL_CHANGE = entity('UndoEmailChangePayload', 'The payload of `undoEmailChange`.', {
  email: {
    type: email,
    description: 'The address that the link was sent to. The account has it again unless `pending` is true.',
    example: 'hanna@example.com',
  },
  pending: {
    type: z.boolean(),
    description:
      'True if support must decide, because the account was used after the change or because of another request to ' +
      'undo a change. Nothing changes until then. Contact support.',
    example: false,
  },
});

export const CHANGED_PASSWORD = entity('ChangePasswordPayload', 'The payload of `changePassword`.', {
  changed: {
    type: z.boolean(),
    description: 'Always true. If the password can’t be changed, you get an error.',
    example: true,
  },
  noticeSent: {
    type: z.boolean(),
    description:
      'True if an email about the change is on its way. Only a confirmed address gets one, at most three times per ' +
      'hour.',
    example: true,
  },
});

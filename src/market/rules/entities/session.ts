/** Sessions, and the first thing that a logged-in user reads. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { TEXT } from '../market-limits.js';
import { email, timestamp, text, integer } from '../../../platform/fields/values.js';
import { idPattern, exampleId, identifier } from '../id-fields.js';
import { REFERRAL_ALPHABET, REFERRAL_BONUS, REFERRAL_LENGTH } from '../tokens.js';
import { JOB } from './job.js';
import { CONTRACTOR, HOMEOWNER, USER } from './people.js';
import { TOKEN_BALANCE } from './tokens.js';

export const SESSION = entity('Session', 'A log-in: the tokens to call with, and what a sign-up made.', {
  token: {
    type: z.string(),
    description: 'The access token: send it as `Authorization: Bearer …`. It lasts 15 minutes.',
    example: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfIn0.c2lnbmF0dXJl',
  },
  refreshToken: {
    type: z.string().meta({ pattern: idPattern('refreshToken') }),
    description: 'Exchange it, by `refreshSession` (in REST, `/v1/auth/refresh`), for new tokens.',
    example: exampleId('refreshToken'),
  },
  expiresAt: {
    type: timestamp,
    description: 'When the access token expires: 15 minutes after it was given out.',
    example: '2026-03-02T09:45:00.000Z',
  },
  refreshExpiresAt: {
    type: timestamp,
    description: 'When the refresh token expires: after 30 days, or with its session after 90.',
    example: '2026-04-01T09:30:00.000Z',
  },
  user: { type: USER.schema.nullish(), description: 'Who logged in; null on a refresh.' },
  homeowner: { type: HOMEOWNER.schema.nullish(), description: 'The new profile, on a homeowner’s sign-up.' },
  contractor: { type: CONTRACTOR.schema.nullish(), description: 'The new profile, on a contractor’s sign-up.' },
  tokensAwarded: {
    type: integer().nullish(),
    description: 'The tokens credited for the sign-up and its referral.',
    example: 10,
  },
  confirmationSent: {
    type: z.boolean().nullish(),
    description:
      'On signup, whether an email with a link to confirm the address is on its way. If not, request one later with ' +
      '`requestEmailVerification`.',
    example: true,
  },
});

export const ACTIVE_SESSION = entity('ActiveSession', 'A log-in that goes on: on a device, in a browser, in an app.', {
  id: identifier('session'),
  createdAt: { type: timestamp, description: 'When the log-in was.' },
  lastUsedAt: {
    type: timestamp,
    description: 'When it last got new tokens, which an app in use does every 15 minutes.',
    example: '2026-03-02T09:30:00.000Z',
  },
  program: {
    type: text(TEXT.line).nullable(),
    description: 'What the program that logged in called itself (`User-Agent`, at most 200 characters).',
    example: 'Mozilla/5.0 (X11; Linux x86_64; rv:149.0) Gecko/20100101 Firefox/149.0',
  },
  isCurrent: { type: z.boolean(), description: 'Whether it is the one that asks.', example: true },
});

export const VIEWER = entity('Viewer', 'The account that is logged in.', {
  user: { type: USER.schema, description: 'The person.' },
  homeowner: { type: HOMEOWNER.schema.nullable(), description: 'The profile of a homeowner; null for others.' },
  contractor: { type: CONTRACTOR.schema.nullable(), description: 'The profile of a contractor; null for others.' },
  tokens: { type: TOKEN_BALANCE.schema, description: 'The prepaid tokens.' },
  referralCode: {
    type: z.string().meta({ pattern: `^[${REFERRAL_ALPHABET}]{${REFERRAL_LENGTH}}$` }),
    description: `The code to refer others with: both of you get ${REFERRAL_BONUS} tokens.`,
    example: 'K7QM2XPA',
  },
});

export const PUBLICATION = entity('PublishJobPayload', 'A job that was published, and what that cost.', {
  job: { type: JOB.schema, description: 'The job, which is open now.' },
  tokensCharged: { type: integer(), description: 'The tokens that were charged.', example: 5 },
  remainingBalance: { type: integer(), description: 'The tokens that are free to spend after it.', example: 5 },
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
      'True if the account was used after the change. Then nothing changes until support decides. Contact support.',
    example: false,
  },
});

export const CHANGED_PASSWORD = entity('ChangePasswordPayload', 'What `changePassword` answers.', {
  changed: { type: z.boolean(), description: 'Always true; a refusal is an error.', example: true },
  noticeSent: {
    type: z.boolean(),
    description:
      'Whether an email about the change is on its way: only to a confirmed address, at most three times per hour.',
    example: true,
  },
});

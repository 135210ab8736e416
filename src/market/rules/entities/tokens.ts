/** Prepaid tokens: a balance, the transfers that add up to it, and the audit that compares the two. */
import { z } from 'zod';
import { entity } from '../../../platform/fields/entity.js';
import { isId, type UserId } from '../ids.js';
import { TEXT } from '../market-limits.js';
import { SYSTEM_ACCOUNTS, TRANSFER_REASON_KEYS, type SystemAccount } from '../tokens.js';
import { enumOf, timestamp, nullableText, integer } from '../../../platform/fields/values.js';
import { idOf, exampleId, identifier } from '../id-fields.js';

export const TOKEN_BALANCE = entity(
  'TokenBalance',
  'An account’s prepaid tokens: a credit unit, not the log-in’s token.',
  {
    balance: { type: integer(), description: 'All of them.', example: 25 },
    held: { type: integer(), description: 'Those staked on bids.', example: 5 },
    available: { type: integer(), description: 'Those free to spend: `balance` less `held`.', example: 20 },
  },
);

const account = z
  .custom<UserId | SystemAccount>((value) => isId('user', value) || SYSTEM_ACCOUNTS.some((one) => one === value))
  .meta({ type: 'string' });

export const TOKEN_TRANSFER = entity(
  'TokenTransfer',
  'One movement of tokens from one account to another. It is never changed or removed.',
  {
    id: identifier('transfer'),
    fromAccount: {
      type: account,
      description: 'Who gave: a user, or one of the system accounts `issuance` and `fees`.',
      example: 'issuance',
    },
    toAccount: {
      type: account,
      description: 'Who got: a user, or one of the system accounts `issuance` and `fees`.',
      example: exampleId('user'),
    },
    amount: { type: integer(1), description: 'How many tokens; always above zero.', example: 10 },
    reason: {
      type: enumOf(TRANSFER_REASON_KEYS, 'TokenTransferReason'),
      description: 'Why they moved.',
      example: 'signup_bonus',
    },
    jobId: { type: idOf('job').nullable(), description: 'The job that caused it.', example: null },
    bidId: { type: idOf('bid').nullable(), description: 'The bid that caused it.', example: null },
    referralUserId: { type: idOf('user').nullable(), description: 'The other party of a referral.', example: null },
    actorId: { type: idOf('user').nullable(), description: 'The admin who made an adjustment.', example: null },
    note: { type: nullableText(TEXT.note), description: 'The reason that the admin gave.', example: null },
    externalReference: {
      type: nullableText(TEXT.reference),
      description: 'What an adjustment is called elsewhere, such as a payment; no two transfers have the same.',
      example: null,
    },
    createdAt: { type: timestamp, description: 'When.' },
  },
);

export const TOKEN_MISMATCH = entity(
  'TokenMismatch',
  'An account whose kept figures are not what its transfers and active holds add up to.',
  {
    userId: { type: idOf('user'), description: 'Whose account.' },
    kept: { type: integer(), description: 'The balance that is kept.', example: 25 },
    summed: { type: z.int(), description: 'What the transfers add up to.', example: 20 },
    keptHeld: { type: integer(), description: 'The held tokens that are kept.', example: 5 },
    summedHeld: { type: z.int(), description: 'What the active holds add up to.', example: 5 },
  },
);

export const TOKEN_AUDIT = entity('TokenAudit', 'The ledger, added up anew.', {
  ok: { type: z.boolean(), description: 'Whether every figure agrees.', example: true },
  accounts: { type: integer(), description: 'How many accounts were looked at.', example: 3 },
  transfers: { type: integer(), description: 'How many transfers were added up.', example: 7 },
  mismatches: { type: z.array(TOKEN_MISMATCH.schema), description: 'Those that do not agree.', example: [] },
});

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
  'An account’s prepaid tokens. These are credits, not access tokens.',
  {
    balance: { type: integer(), description: 'All tokens in the account.', example: 25 },
    held: { type: integer(), description: 'The tokens staked on bids.', example: 5 },
    available: { type: integer(), description: 'The tokens available to spend: `balance` minus `held`.', example: 20 },
    bought: { type: integer(), description: 'The tokens in the account that were bought.', example: 0 },
    debt: {
      type: integer(),
      description: 'The tokens owed after lost chargebacks. Later credits and released stakes pay this debt first.',
      example: 0,
    },
  },
);

const account = z
  .custom<UserId | SystemAccount>((value) => isId('user', value) || SYSTEM_ACCOUNTS.some((one) => one === value))
  .meta({ type: 'string' });

export const TOKEN_TRANSFER = entity(
  'TokenTransfer',
  'A transfer of tokens from one account to another. It’s never changed or deleted.',
  {
    id: identifier('transfer'),
    fromAccount: {
      type: account,
      description: 'The sender: a user, or the system account `issuance` or `fees`.',
      example: 'issuance',
    },
    toAccount: {
      type: account,
      description: 'The recipient: a user, or the system account `issuance` or `fees`.',
      example: exampleId('user'),
    },
    amount: { type: integer(1), description: 'The number of tokens, always above zero.', example: 10 },
    reason: {
      type: enumOf(TRANSFER_REASON_KEYS, 'TokenTransferReason'),
      description: 'The reason for the transfer.',
      example: 'signup_bonus',
    },
    jobId: {
      type: idOf('job').nullable(),
      description: 'The job that the transfer is for. Null for other transfers.',
      example: null,
    },
    bidId: {
      type: idOf('bid').nullable(),
      description: 'The bid that the transfer is for. Null for other transfers.',
      example: null,
    },
    referralUserId: {
      type: idOf('user').nullable(),
      description: 'The other user in a referral. Null for other transfers.',
      example: null,
    },
    actorId: {
      type: idOf('user').nullable(),
      description: 'The admin who made the adjustment or the refund. Null for other transfers.',
      example: null,
    },
    note: {
      type: nullableText(TEXT.note),
      description: 'The admin’s reason for an adjustment or a refund. Null for other transfers.',
      example: null,
    },
    externalReference: {
      type: nullableText(TEXT.reference),
      description:
        'A unique reference to another system, such as a payment ID. Only adjustments and undone refunds can have one.',
      example: null,
    },
    createdAt: { type: timestamp, description: 'When the tokens were transferred.' },
    bought: { type: integer(), description: 'The number of transferred tokens that were bought.', example: 0 },
    purchaseId: {
      type: idOf('purchase').nullable(),
      description: 'The purchase that was credited, refunded, or charged back. Null for other transfers.',
      example: null,
    },
  },
);

export const TOKEN_MISMATCH = entity(
  'TokenMismatch',
  'An account whose stored balances don’t match the sums of its transfers, active holds, and purchases.',
  {
    userId: { type: idOf('user'), description: 'The user whose account has the mismatch.' },
    kept: { type: integer(), description: 'The stored balance.', example: 25 },
    summed: { type: z.int(), description: 'The sum of the transfers.', example: 20 },
    keptHeld: { type: integer(), description: 'The stored number of held tokens.', example: 5 },
    summedHeld: { type: z.int(), description: 'The sum of the active holds.', example: 5 },
    keptBought: { type: integer(), description: 'The stored number of bought tokens.', example: 0 },
    summedBought: { type: z.int(), description: 'The sum of the bought tokens in the transfers.', example: 0 },
    keptDebt: { type: integer(), description: 'The stored debt.', example: 0 },
    summedDebt: { type: z.int(), description: 'The debts from lost chargebacks, minus the debt payments.', example: 0 },
    keptPurchased: {
      type: integer(),
      description: 'The tokens credited for purchases, minus the tokens taken back.',
      example: 0,
    },
    summedPurchased: { type: z.int(), description: 'The sum of the transfers for purchases.', example: 0 },
  },
);

export const TOKEN_AUDIT = entity('TokenAudit', 'The result of an audit of all tokens.', {
  ok: { type: z.boolean(), description: 'True if every stored balance matches.', example: true },
  accounts: { type: integer(), description: 'The number of accounts checked.', example: 3 },
  transfers: { type: integer(), description: 'The number of transfers added up.', example: 7 },
  mismatches: { type: z.array(TOKEN_MISMATCH.schema), description: 'The accounts that don’t match.', example: [] },
});

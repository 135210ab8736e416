/** The caller's token balance and transfers. For admins, also adjustments and the audit. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import { isId, type UserId } from '../../rules/ids.js';
import { ADJUSTED_BALANCE_MAX, BALANCE_TOO_LARGE, ADJUSTMENT_MAX, TEXT } from '../../rules/market-limits.js';
import { requiredText } from '../../../platform/fields/values.js';
import { idOf, idInPath } from '../../rules/id-fields.js';
import type { Viewer } from '../../rules/viewer.js';
import {
  countLedger,
  listTransfers as transfersNewestFirst,
  listTransfersByReference as transfersByReference,
  lockBalance,
  moveTokens,
  selectBalance,
  selectMismatches,
  type Balance,
  type TokenTransfer,
  selectTransfer,
  selectTransferByReference,
} from '../../store/ledger/ledger.js';
import { recordAdminAction } from '../../store/accounts/admin-actions.js';
import type { Db } from '../../../platform/db/database.js';
import { violatedConstraint } from '../../../platform/db/database-errors.js';
import { operation } from '../operation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { emptyInput } from '../../../platform/fields/shapes.js';
import { invalidField } from '../../../platform/call/validation.js';

export const TRANSFERS_NEWEST_FIRST = ['time', 'text'] as const;

export const tokenOwner = {
  userId: idOf('user').nullish().describe('The user whose tokens to read. Only admins can read another user’s tokens.'),
};

export function ownerOf(viewer: Viewer, { userId }: { userId?: UserId | null | undefined }): UserId {
  if (userId != null && !seesTokensOf(viewer, userId))
    throw refuse('FORBIDDEN', { message: 'Only admins can view another user’s tokens.' });
  return userId ?? viewer.userId;
}

export function seesTokensOf(viewer: Viewer, userId: UserId): boolean {
  return viewer.role === 'admin' || viewer.userId === userId;
}

export const readTokens = operation({
  name: 'tokens',
  description:
    'Returns your token balance: all tokens, those staked on bids, and those available to spend. Admins can read any ' +
    'user’s balance.',
  allows: 'signed in',
  budget: 'read',
  refusals: ['FORBIDDEN'],
  input: z.strictObject(tokenOwner),
  async run({ db, viewer }, input): Promise<Balance> {
    const userId = ownerOf(viewer, input);
    const [row] = await selectBalance(db, { userId });
    if (!row) throw invalidField('userId', 'doesn’t match any account');
    return row;
  },
});

export const listTransfers = operation({
  name: 'tokenTransactions',
  description: 'Lists your token transfers, newest first. Admins can list any user’s transfers.',
  allows: 'signed in',
  budget: 'read',
  refusals: ['FORBIDDEN'],
  input: z.strictObject({ ...tokenOwner, ...pageShape }),
  run: async ({ db, viewer, include }, input) =>
    transfersNewestFirst(db, { userId: ownerOf(viewer, input) }, pageRequest(input, TRANSFERS_NEWEST_FIRST, include)),
});

export const transferFilter = z.strictObject({
  externalReference: requiredText(TEXT.reference).describe('The external reference to look up.'),
});

export const findTransfers = operation({
  name: 'tokenTransfers',
  description: 'Finds a transfer by its external reference. Only admins can use this query.',
  allows: ['admin'],
  budget: 'read',
  input: z.strictObject({ ...transferFilter.shape, ...pageShape }),
  run: ({ db, include }, { externalReference, ...page }) =>
    transfersByReference(db, { externalReference }, pageRequest(page, TRANSFERS_NEWEST_FIRST, include)),
});

export const readTransfer = operation({
  name: 'tokenTransfer',
  description: 'Returns a token transfer. Only the users whose tokens were transferred and admins can read it.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('transfer').describe('The transfer.') }),
  async run({ db, viewer }, { id }): Promise<TokenTransfer> {
    const [transfer] = await selectTransfer(db, { id });
    if (!transfer) throw refuse('NOT_FOUND', { message: 'Transfer not found.' });
    const { userId, ...readable } = transfer;
    if (!seesTokensOf(viewer, userId))
      throw refuse('FORBIDDEN', { message: 'You don’t have access to this transfer.' });
    return readable;
  },
});

export const adjustTokens = operation({
  name: 'adjustTokens',
  description: 'Credits or debits an account’s tokens. The reason is stored.',
  allows: ['admin'],
  budget: 'write',
  refusals: ['INSUFFICIENT_TOKENS'],
  input: z.strictObject({
    userId: idOf('user').describe('The user whose tokens to adjust.'),
    amount: z
      .int()
      .min(-ADJUSTMENT_MAX)
      .max(ADJUSTMENT_MAX)
      .refine((amount) => amount !== 0, 'must not be 0')
      .describe('The number of tokens. A positive number credits tokens; a negative number debits them.'),
    reason: requiredText(TEXT.note).describe(
      'The reason. It’s stored permanently with the transfer, so don’t include private information.',
    ),
    // A refund that the payment provider refuses is undone under its transfer's ID, which must still be free.
    externalReference: requiredText(TEXT.reference)
      .refine((reference) => !isId('transfer', reference), 'must come from another system, not be a transfer’s ID')
      .nullish()
      .describe(
        'A unique reference to another system, such as a payment ID. An adjustment with the same reference is made ' +
          'only once, even if you send it again. It can’t be the ID of a transfer.',
      ),
  }),
  run: ({ db, viewer }, input): Promise<TokenTransfer> =>
    db
      .inTransaction(async (tx) => {
        const { userId, amount, reason, externalReference = null } = input;
        const [account] = await lockBalance(tx, { userId });
        if (!account) throw invalidField('userId', 'doesn’t match any account');
        const earlier = externalReference === null ? undefined : await earlierTransfer(tx, input, externalReference);
        if (earlier) return earlier;
        const { balance, available } = account;
        if (available + amount < 0)
          throw refuse('INSUFFICIENT_TOKENS', {
            message: `You tried to debit ${-amount} tokens, but only ${available} are available.`,
            details: { required: -amount, available },
          });
        if (amount > 0 && balance + amount > ADJUSTED_BALANCE_MAX) throw invalidField('amount', BALANCE_TOO_LARGE);
        const about = { reason: 'adjustment', actorId: viewer.userId, note: reason, externalReference } as const;
        const [transfer] = await tx.commitWith(
          moveTokens(tx, { userId, change: amount, ...about }),
          recordAdminAction(tx, viewer, { action: 'adjustTokens', subjectId: userId, reason, amount }),
        );
        return transfer;
      })
      .catch((error: unknown) => {
        // Two concurrent calls used the same reference for different accounts.
        throw violatedConstraint(error) === REFERENCE_TAKEN ? referenceReused() : error;
      }),
});

type Adjustment = Parameters<(typeof adjustTokens)['run']>[1];

/** Refuses the call if the transfer under this reference was a different adjustment. */
async function earlierTransfer(
  tx: Db,
  { userId, amount, reason }: Adjustment,
  externalReference: string,
): Promise<TokenTransfer | undefined> {
  const [row] = await selectTransferByReference(tx, { externalReference });
  if (!row) return undefined;
  const { userId: owner, ...transfer } = row;
  const change = transfer.toAccount === owner ? transfer.amount : -transfer.amount;
  if (owner !== userId || change !== amount || transfer.note !== reason) throw referenceReused();
  return transfer;
}

const REFERENCE_TAKEN = 'token_transfers_external_reference';

function referenceReused() {
  return refuse('IDEMPOTENCY_KEY_REUSED', {
    message: 'This external reference was already used for another adjustment.',
    fields: { externalReference: 'was already used for another adjustment' },
  });
}

export const auditTokens = operation({
  name: 'auditTokens',
  description: 'Adds up all transfers, holds, and purchases, and compares the sums with the stored balances.',
  allows: ['admin'],
  budget: 'read',
  input: emptyInput,
  run: ({ db }) =>
    db.inTransaction(async (tx) => {
      // These are two statements, and the mismatches come first. An account that is opened between the two is counted
      // but not checked.
      const mismatches = await selectMismatches(tx, {});
      const [counts] = await countLedger(tx, {});
      return {
        ok: mismatches.length === 0,
        accounts: counts?.accounts ?? 0,
        transfers: counts?.transfers ?? 0,
        mismatches,
      };
    }),
});

/** The caller's tokens: the balance and its transfers. Also adjustments and the audit, for admins. */
import { z } from 'zod';
import { refuse } from '../../rules/errors.js';
import type { UserId } from '../../rules/ids.js';
import { ADJUSTMENT_MAX, TEXT } from '../../rules/market-limits.js';
import { INT32_MAX, requiredText } from '../../../platform/fields/values.js';
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

const whose = { userId: idOf('user').nullish().describe('Whose tokens, for admins; one’s own by default.') };

function ownerOf(viewer: Viewer, { userId }: { userId?: UserId | null | undefined }): UserId {
  if (userId != null && !seesTokensOf(viewer, userId))
    throw refuse('FORBIDDEN', { message: 'Only admins may read the tokens of somebody else.' });
  return userId ?? viewer.userId;
}

/** True if the viewer may see a person's balance and transfers. */
export function seesTokensOf(viewer: Viewer, userId: UserId): boolean {
  return viewer.role === 'admin' || viewer.userId === userId;
}

export const readTokens = operation({
  name: 'tokens',
  description: 'Reads one’s balance: all tokens, those staked on bids, and those free to spend. Admins read anybody’s.',
  allows: 'signed in',
  budget: 'read',
  refusals: ['FORBIDDEN'],
  input: z.strictObject(whose),
  async run({ db, viewer }, input): Promise<Balance> {
    const userId = ownerOf(viewer, input);
    const [row] = await selectBalance(db, { userId });
    if (!row) throw invalidField('userId', 'is no account');
    return row;
  },
});

export const listTransfers = operation({
  name: 'tokenTransactions',
  description: 'Lists every movement of one’s tokens, newest first. Admins list anybody’s.',
  allows: 'signed in',
  budget: 'read',
  refusals: ['FORBIDDEN'],
  input: z.strictObject({ ...whose, ...pageShape }),
  run: async ({ db, viewer, include }, input) =>
    transfersNewestFirst(db, { userId: ownerOf(viewer, input) }, pageRequest(input, TRANSFERS_NEWEST_FIRST, include)),
});

export const transferFilter = z.strictObject({
  externalReference: requiredText(TEXT.reference).describe('The external reference to look up.'),
});

export const findTransfers = operation({
  name: 'tokenTransfers',
  description: 'Finds the transfer with an external reference, for admins.',
  allows: ['admin'],
  budget: 'read',
  input: z.strictObject({ ...transferFilter.shape, ...pageShape }),
  run: ({ db, include }, { externalReference, ...page }) =>
    transfersByReference(db, { externalReference }, pageRequest(page, TRANSFERS_NEWEST_FIRST, include)),
});

export const readTransfer = operation({
  name: 'tokenTransfer',
  description: 'Reads one movement of tokens: for those whose tokens they were, and for admins.',
  allows: 'signed in',
  budget: 'read',
  input: z.strictObject({ id: idInPath('transfer').describe('The transfer.') }),
  async run({ db, viewer }, { id }): Promise<TokenTransfer> {
    const [transfer] = await selectTransfer(db, { id });
    if (!transfer) throw refuse('NOT_FOUND', { message: 'There is nothing with this identifier.' });
    const { userId, ...readable } = transfer;
    if (!seesTokensOf(viewer, userId)) throw refuse('FORBIDDEN', { message: 'This transfer is not for you to see.' });
    return readable;
  },
});

export const adjustTokens = operation({
  name: 'adjustTokens',
  description: 'Credits or debits an account’s tokens, with the reason kept.',
  allows: ['admin'],
  budget: 'write',
  refusals: ['INSUFFICIENT_TOKENS'],
  input: z.strictObject({
    userId: idOf('user').describe('Whose tokens.'),
    amount: z
      .int()
      .min(-ADJUSTMENT_MAX)
      .max(ADJUSTMENT_MAX)
      .refine((amount) => amount !== 0, 'must not be 0')
      .describe('How many tokens: above zero credits, below zero debits.'),
    reason: requiredText(TEXT.note).describe('Why; kept with the transfer for ever: write nothing private here.'),
    externalReference: requiredText(TEXT.reference)
      .nullish()
      .describe(
        'What the adjustment is called elsewhere, such as a payment: it is made once, however often it is sent.',
      ),
  }),
  run: ({ db, viewer }, input): Promise<TokenTransfer> =>
    db
      .inTransaction(async (tx) => {
        const { userId, amount, reason, externalReference = null } = input;
        const [account] = await lockBalance(tx, { userId });
        if (!account) throw invalidField('userId', 'is no account');
        const earlier = externalReference === null ? undefined : await earlierTransfer(tx, input, externalReference);
        if (earlier) return earlier;
        const { balance, available } = account;
        if (available + amount < 0) throw refuse('INSUFFICIENT_TOKENS', { details: { required: -amount, available } });
        if (balance + amount > INT32_MAX)
          throw invalidField('amount', 'would make the balance larger than any account may hold');
        const about = { reason: 'adjustment', actorId: viewer.userId, note: reason, externalReference } as const;
        const [transfer] = await tx.commitWith(
          moveTokens(tx, { userId, change: amount, ...about }),
          recordAdminAction(tx, viewer, { action: 'adjustTokens', subjectId: userId, reason, amount }),
        );
        return transfer;
      })
      .catch((error: unknown) => {
        // Two concurrent calls used the reference for two accounts.
        throw violatedConstraint(error) === REFERENCE_TAKEN ? referenceReused() : error;
      }),
});

type Adjustment = Parameters<(typeof adjustTokens)['run']>[1];

/** The transfer made under this reference, for the same adjustment. */
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
    message: 'This external reference was used before for another adjustment.',
    fields: { externalReference: 'was used before for another adjustment' },
  });
}

export const auditTokens = operation({
  name: 'auditTokens',
  description: 'Adds up every transfer and hold and compares the sums with the figures kept next to them.',
  allows: ['admin'],
  budget: 'read',
  input: emptyInput,
  run: ({ db }) =>
    db.inTransaction(async (tx) => {
      // One statement each, mismatches first. An account that is opened in between is then only counted.
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

/**
 * Spends tokens. `rules/policies.ts` refuses what the balance does not cover as the operation has read it. What another
 * transaction spends meanwhile, and a balance that was not read, as with adjustments, only the check constraint on it
 * knows: this file turns its violation into the same refusal.
 */
import { refuse, Refusal } from '../../rules/errors.js';
import type { UserId } from '../../rules/ids.js';
import { violatedConstraint } from '../../store/database-errors.js';
import type { Db } from '../../store/database.js';
import { balanceOf, moveTokens, type Movement } from '../../store/ledger.js';

/** The name of the check constraint on every balance. */
export const COVERS_HOLDS = 'token_balances_cover_what_is_held';

/** Moves tokens; an overdraft rolls the transaction back with INSUFFICIENT_TOKENS. */
export function spend(tx: Db, movement: Movement) {
  return withinBalance(-movement.change, () => moveTokens(tx, movement));
}

/** Runs an operation that spends so many tokens. */
export async function withinBalance<T>(cost: number, draw: () => Promise<T>): Promise<T> {
  try {
    return await draw();
  } catch (error) {
    if (violatedConstraint(error) === COVERS_HOLDS)
      throw refuse('INSUFFICIENT_TOKENS', { details: { required: cost } });
    throw error;
  }
}

/** Adds the available tokens to the refusal of a transaction that spends more; they are read after its rollback. */
export async function explainOverdraft<T>(db: Db, spender: UserId, transaction: () => Promise<T>): Promise<T> {
  try {
    return await transaction();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'INSUFFICIENT_TOKENS' || 'available' in error.details)
      throw error;
    const { available } = await balanceOf(db, spender);
    throw refuse('INSUFFICIENT_TOKENS', { details: { ...error.details, available } });
  }
}

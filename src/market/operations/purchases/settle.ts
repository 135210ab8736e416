/**
 * Decides what a payment provider's report changes. Webhooks, lookups, and the local page all call `settle`. Reports
 * can arrive late, twice, or in any order, so each one is compared with the locked purchase.
 */
import type { Checkout, Dispute, PaymentReport, Refund } from '../../../platform/payments/payments.js';
import { violatedConstraint } from '../../../platform/db/database-errors.js';
import type { Db } from '../../../platform/db/database.js';
import type { PurchaseId } from '../../rules/ids.js';
import { chargebackOf, mayMove, PURCHASE_TRANSITIONS, type Settlement } from '../../rules/purchases.js';
import { logAccountEvents } from '../../store/events/account-events.js';
import { addDebt, lockBalance, moveTokens, selectTransferByReference } from '../../store/ledger/ledger.js';
import { lockPurchase, selectLeft, updatePurchase, type PurchaseRow } from '../../store/ledger/purchases.js';

export async function settle(db: Db, id: PurchaseId, report: PaymentReport): Promise<Settlement> {
  try {
    return await db.inTransaction(async (tx) => {
      const [purchase] = await lockPurchase(tx, { id });
      if (!purchase) return 'unknown';
      if (report.livemode !== purchase.livemode) return 'mismatch';
      if (report.about === 'checkout') return settleCheckout(tx, purchase, report);
      return report.about === 'refund' ? settleRefund(tx, purchase, report) : settleDispute(tx, purchase, report);
    });
  } catch (error) {
    // The same payment or the same checkout already belongs to another purchase.
    if (UNIQUE.includes(violatedConstraint(error) ?? '')) return 'mismatch';
    throw error;
  }
}

const UNIQUE = ['purchases_payment', 'purchases_session', 'token_transfers_one_credit_of_purchase'];

/** If the provider refused to open a checkout or doesn't recognize it, nobody can pay. Asking again wouldn't help. */
export function expireUnknown(db: Db, id: PurchaseId, sessionId: string | null): Promise<void> {
  return db.inTransaction(async (tx) => {
    const [purchase] = await lockPurchase(tx, { id });
    if (purchase?.sessionId !== sessionId) return;
    const status = mayMove('expire', purchase.status) ? 'expired' : purchase.status;
    await updatePurchase(tx, purchase, { status, lookAfterSeconds: null });
  });
}

async function settleCheckout(tx: Db, purchase: PurchaseRow, checkout: Checkout): Promise<Settlement> {
  const { status, id, userId, tokens, amount, currency } = purchase;
  const { sessionId, paymentId, receiptUrl, outcome } = checkout;
  const isSame =
    checkout.orderId === id &&
    (purchase.sessionId ?? sessionId) === sessionId &&
    checkout.amount === amount &&
    checkout.currency?.toUpperCase() === currency;
  if (!isSame) return 'mismatch';
  if (outcome === 'paid' && mayMove('pay', status)) {
    if (paymentId === null) return 'mismatch';
    // If the report doesn't say whether there's a receipt, the next lookup asks.
    const lookAfterSeconds = receiptUrl === undefined ? 0 : null;
    const paid = { status: 'paid', sessionId, paymentId, receiptUrl: receiptUrl ?? null, checkoutUrl: null } as const;
    await updatePurchase(tx, purchase, { ...paid, lookAfterSeconds });
    await moveTokens(tx, { userId, change: tokens, bought: tokens, reason: 'purchase', purchaseId: id });
    await logAccountEvents(tx, [{ type: 'purchase.paid', userId, data: { purchaseId: id, tokens } }]);
    return 'changed';
  }
  if (outcome === 'paid') return settleReceipt(tx, purchase, checkout);
  const end = outcome === 'failed' ? 'fail' : outcome === 'expired' ? 'expire' : undefined;
  if (end !== undefined && mayMove(end, status)) {
    const over = { status: end === 'fail' ? 'failed' : 'expired', checkoutUrl: null } as const;
    await updatePurchase(tx, purchase, { ...over, sessionId, lookAfterSeconds: null });
    return 'changed';
  }
  if (status !== 'pending' || purchase.sessionId !== null) return 'unchanged';
  await updatePurchase(tx, purchase, { sessionId, checkoutUrl: checkout.url });
  return 'changed';
}

/** A purchase that was already credited can still get its receipt. */
async function settleReceipt(tx: Db, purchase: PurchaseRow, checkout: Checkout): Promise<Settlement> {
  if (checkout.paymentId !== purchase.paymentId) return 'mismatch';
  if (checkout.receiptUrl === undefined || purchase.lookAt === null) return 'unchanged';
  const isRefunding = purchase.refundingTokens > 0;
  await updatePurchase(tx, purchase, {
    receiptUrl: checkout.receiptUrl,
    ...(!isRefunding && { lookAfterSeconds: null }),
  });
  return 'changed';
}

async function settleRefund(tx: Db, purchase: PurchaseRow, refund: Refund): Promise<Settlement> {
  const { id, userId, status, refundTransferId, refundingTokens, refundingAmount } = purchase;
  if (refund.paymentId !== purchase.paymentId || refund.key === null) return 'mismatch';
  if (refund.key !== refundTransferId || refundingTokens === 0) {
    // A chargeback keeps the tokens of a refund that failed.
    const isSettled = refund.outcome !== 'refused' || status === 'charged_back';
    return isSettled ? 'unchanged' : unlessUndone(tx, refund.key);
  }
  if (refund.amount !== refundingAmount || refund.currency.toUpperCase() !== purchase.currency) return 'mismatch';
  if (refund.outcome === 'waiting') return 'unchanged';
  // While the refund was in progress, lookups didn't ask for the receipt.
  const lookAfterSeconds = purchase.receiptUrl === null ? 0 : null;
  const over = { refundingTokens: 0, refundingAmount: 0, lookAfterSeconds };
  if (refund.outcome === 'done') {
    const refundedTokens = purchase.refundedTokens + refundingTokens;
    const refundedAmount = purchase.refundedAmount + refundingAmount;
    const { to } = PURCHASE_TRANSITIONS[refundedTokens === purchase.tokens ? 'completeRefund' : 'endRefund'];
    const done = { ...over, refundedTokens, refundedAmount, status: status === 'refunding' ? to : status };
    await updatePurchase(tx, purchase, done);
    const data = { purchaseId: id, tokens: refundingTokens, amount: refundingAmount };
    await logAccountEvents(tx, [{ type: 'purchase.refunded', userId, data }]);
    return 'changed';
  }
  // A lost chargeback keeps the tokens that the refund took.
  if (status !== 'refunding') {
    await updatePurchase(tx, purchase, over);
    return 'changed';
  }
  await updatePurchase(tx, purchase, { ...over, status: PURCHASE_TRANSITIONS.endRefund.to });
  const back = { change: refundingTokens, bought: refundingTokens, externalReference: refund.key };
  await moveTokens(tx, { userId, ...back, reason: 'purchase_refund_undone', purchaseId: id });
  return 'changed';
}

/**
 * A refund that was reported as done can still fail. The provider then has the money again, and an operator must
 * decide.
 */
async function unlessUndone(tx: Db, externalReference: string): Promise<Settlement> {
  const undone = await selectTransferByReference(tx, { externalReference });
  return undone.length > 0 ? 'unchanged' : 'mismatch';
}

async function settleDispute(tx: Db, purchase: PurchaseRow, dispute: Dispute): Promise<Settlement> {
  const { disputeId, outcome } = dispute;
  if (dispute.paymentId !== purchase.paymentId) return 'mismatch';
  if (purchase.closedDisputes.includes(disputeId)) return 'unchanged';
  if (outcome === 'open') {
    if (purchase.disputeId === disputeId) return 'unchanged';
    await updatePurchase(tx, purchase, { disputeId });
    return 'changed';
  }
  const closed = {
    closedDisputes: [...purchase.closedDisputes, disputeId],
    disputeId: purchase.disputeId === disputeId ? null : purchase.disputeId,
  };
  if (outcome === 'lost' && mayMove('chargeBack', purchase.status)) await chargeBack(tx, purchase, closed);
  else await updatePurchase(tx, purchase, closed);
  return 'changed';
}

async function chargeBack(tx: Db, purchase: PurchaseRow, closed: Partial<PurchaseRow>): Promise<void> {
  const { id, userId } = purchase;
  const [account] = await lockBalance(tx, { userId });
  const [own] = await selectLeft(tx, { id });
  const { taken, bought, debt } = chargebackOf(purchase, { available: account?.available ?? 0, left: own?.left ?? 0 });
  await updatePurchase(tx, purchase, { ...closed, status: 'charged_back', debt });
  if (taken > 0) await moveTokens(tx, { userId, change: -taken, bought, reason: 'chargeback', purchaseId: id });
  if (debt > 0) await addDebt(tx, { userId, debt });
  await logAccountEvents(tx, [
    { type: 'purchase.charged_back', userId, data: { purchaseId: id, tokens: taken, debt } },
  ]);
}

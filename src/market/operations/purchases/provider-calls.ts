/**
 * Calls the payment provider, never inside a transaction. The purchase is committed before the call, and the response
 * is settled after it. After a crash at any point, a server can ask about the purchase again.
 */
import type { Db } from '../../../platform/db/database.js';
import {
  PaymentRefused,
  PaymentsUnavailable,
  type OpenedOrder,
  type Payments,
  type PaymentReport,
} from '../../../platform/payments/payments.js';
import { refuse } from '../../rules/errors.js';
import { isId, type PurchaseId } from '../../rules/ids.js';
import type { ReportSource, Settlement } from '../../rules/purchases.js';
import { selectOrder, selectPurchaseOfPayment, type PurchaseRow } from '../../store/ledger/purchases.js';
import type { Services } from '../services.js';
import { expireUnknown, settle } from './settle.js';

export type PaymentServices = Pick<Services, 'payments' | 'log' | 'live'>;

/** Settles a report, counts it, and tells streams and operators. */
export async function settleAndTell(
  { payments, log, live }: PaymentServices,
  db: Db,
  id: PurchaseId,
  report: PaymentReport,
  source: ReportSource,
): Promise<Settlement> {
  const settlement = await settle(db, id, report);
  payments.recordReport(source, settlement);
  if (settlement === 'changed') live.wake();
  if (settlement === 'mismatch')
    log.error({ purchaseId: id, about: report.about, outcome: report.outcome, source }, MISMATCH);
  return settlement;
}

const MISMATCH = 'a payment differs from its purchase, so nothing was changed. Compare the two';

/** Settles an event from the provider. */
export async function settleEvent(services: PaymentServices, db: Db, report: PaymentReport): Promise<void> {
  const id = (await purchaseOf(db, report)) ?? (await purchaseOfLatePayment(services, db, report));
  const settlement = id && (await settleAndTell(services, db, id, report, 'webhook'));
  if (settlement === undefined) services.payments.recordReport('webhook', 'unknown');
  // This can happen if the database was restored to a time before the purchase.
  if (settlement === 'unknown' && report.about === 'checkout' && report.outcome === 'paid')
    services.log.warn({ purchaseId: id }, 'a payment arrived for a purchase that does not exist here');
}

/**
 * The event of a refund or a chargeback can arrive before the payment's event. This asks the provider for the payment
 * and settles it first.
 */
async function purchaseOfLatePayment(services: PaymentServices, db: Db, report: PaymentReport) {
  const { provider } = services.payments;
  if (report.about === 'checkout' || report.paymentId === null || !provider) return undefined;
  const checkout = await provider.findByPayment(report.paymentId).catch((error: unknown) => {
    // The payment belongs to another account.
    if (error instanceof PaymentRefused) return undefined;
    throw error;
  });
  if (!checkout) return undefined;
  await settleEvent(services, db, checkout);
  // Another call may have settled the payment in the meantime.
  return purchaseOf(db, report);
}

async function purchaseOf(db: Db, report: PaymentReport): Promise<PurchaseId | undefined> {
  if (report.about === 'checkout') return isId('purchase', report.orderId) ? report.orderId : undefined;
  if (report.paymentId === null) return undefined;
  const [purchase] = await selectPurchaseOfPayment(db, { paymentId: report.paymentId });
  return purchase?.id;
}

/**
 * The provider that the purchase was made with. Undefined if this server uses another provider or another kind of key.
 */
export function providerOf(
  { payments: { provider } }: Pick<PaymentServices, 'payments'>,
  purchase: Pick<PurchaseRow, 'provider' | 'livemode'>,
): Payments | undefined {
  const isSame = provider?.name === purchase.provider && provider.livemode === purchase.livemode;
  return isSame ? provider : undefined;
}

/**
 * Takes a purchase's next step with the provider: opens its checkout, repeats its refund, or asks whether it was paid.
 * Each step can be repeated.
 */
export async function callProvider(services: PaymentServices, db: Db, id: PurchaseId, source: ReportSource) {
  const [purchase] = await selectOrder(db, { id });
  const provider = purchase && providerOf(services, purchase);
  if (!provider) return;
  if (purchase.refundingTokens > 0) return repeatRefund(services, db, provider, purchase, source);
  const { sessionId } = purchase;
  if (sessionId === null && purchase.status !== 'pending') return;
  try {
    const order = orderOf(purchase);
    const checkout = await (sessionId === null
      ? provider.createCheckout(order)
      : provider.findCheckout({ ...order, sessionId }));
    await settleAndTell(services, db, id, checkout, source);
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error;
    services.log.error({ err: error, purchaseId: id }, 'the payment provider refused or doesn’t recognize a checkout');
    if (sessionId !== null) services.payments.recordReport(source, 'mismatch');
    await expireUnknown(db, id, sessionId);
  }
}

async function repeatRefund(
  services: PaymentServices,
  db: Db,
  provider: Payments,
  purchase: PurchaseRow,
  source: ReportSource,
): Promise<void> {
  const { id, paymentId, refundTransferId: key, refundingAmount: amount, currency, livemode } = purchase;
  if (paymentId === null || key === null) throw new Error('A purchase without a payment is being refunded.');
  const request = { key, orderId: id, paymentId, amount, currency };
  const refund = await provider.refund(request).catch((error: unknown) => {
    if (!(error instanceof PaymentRefused)) throw error;
    services.log.warn({ err: error, purchaseId: id }, 'the payment provider refused a refund');
    return { ...request, about: 'refund', outcome: 'refused', livemode } as const;
  });
  await settleAndTell(services, db, id, refund, source);
}

/** The checkout pages of both providers show the title. */
function orderOf(purchase: PurchaseRow): Omit<OpenedOrder, 'sessionId'> {
  const { id, tokens, amount, currency, returnUrl, expiresAt, paymentId } = purchase;
  return { id, title: `${tokens} tokens`, amount, currency, returnUrl, expiresAt, paymentId };
}

/** Fails with PAYMENTS_UNAVAILABLE if the provider can't be reached. The caller can repeat the call later. */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof PaymentsUnavailable)) throw error;
    const refusal = refuse('PAYMENTS_UNAVAILABLE', { details: { retryAfter: 5 } });
    refusal.cause = error;
    throw refusal;
  }
}
